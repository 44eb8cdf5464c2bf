//! CPU time while answers are counted.

use std::time::{Duration, Instant};

use anyhow::Context;

use crate::context::Bench;
use crate::load::Moment;
use crate::processes::Process;

/// The CPU time used up to both bounds of counting.
pub(crate) struct Usage<'b> {
    bench: &'b Bench,
    servers: Vec<Process>,
    is_on_database: bool,
    begins: Option<(Instant, Used)>,
    ends: Option<(Instant, Used)>,
}

/// CPU time.
#[derive(Clone, Copy)]
pub(crate) struct Used {
    pub(crate) servers: Duration,
    /// Of PostgreSQL, if it is used.
    pub(crate) database: Option<Duration>,
    /// Of this process.
    pub(crate) load: Duration,
}

impl<'b> Usage<'b> {
    /// The usage of these servers, and of PostgreSQL if they are on it.
    pub(crate) const fn of(bench: &'b Bench, servers: Vec<Process>, is_on_database: bool) -> Self {
        Self { bench, servers, is_on_database, begins: None, ends: None }
    }

    /// Records a bound of counting.
    ///
    /// # Errors
    /// If a server has exited.
    pub(crate) fn record(&mut self, moment: Moment) -> anyhow::Result<()> {
        // The clients wait meanwhile, so only what is shown is read.
        let used = Used {
            servers: self.servers.iter().map(|server| server.cpu()).sum::<anyhow::Result<Duration>>()?,
            database: self.is_on_database.then(|| self.bench.cluster.cpu()).transpose()?,
            load: Process::this().cpu()?,
        };
        match moment {
            Moment::Begins => self.begins = Some((Instant::now(), used)),
            Moment::Ends => self.ends = Some((Instant::now(), used)),
        }
        Ok(())
    }

    /// The time between the bounds, and the CPU time in it.
    pub(crate) fn between(&self) -> anyhow::Result<(Duration, Used)> {
        let ((begun, before), (ended, after)) = self.begins.zip(self.ends).context("nothing was counted")?;
        let database = before.database.zip(after.database);
        let used = Used {
            servers: after.servers.saturating_sub(before.servers),
            database: database.map(|(before, after)| after.saturating_sub(before)),
            load: after.load.saturating_sub(before.load),
        };
        Ok((ended.saturating_duration_since(begun), used))
    }
}
