//! CPU time per second while calls are counted.

use std::time::{Duration, Instant};

use anyhow::Context;

use crate::context::Bench;
use crate::load::Moment;
use crate::operations::Store;
use crate::processes::Process;

/// The CPU time used up to both bounds of counting.
pub(super) struct Usage<'b> {
    bench: &'b Bench,
    store: Store,
    server: Process,
    begins: Option<Used>,
    ends: Option<Used>,
}

/// The CPU time used up to a point in time.
struct Used {
    at: Instant,
    server: Duration,
    database: Option<Duration>,
    load: Duration,
}

/// CPU seconds per second.
pub(super) struct PerSecond {
    pub(super) server: f64,
    /// Of PostgreSQL.
    pub(super) database: Option<f64>,
    /// Of the clients.
    pub(super) load: f64,
}

impl<'b> Usage<'b> {
    /// The usage of a server on a store.
    pub(super) const fn of(bench: &'b Bench, store: Store, server: Process) -> Self {
        Self { bench, store, server, begins: None, ends: None }
    }

    /// Records a bound of counting.
    ///
    /// # Errors
    /// If the server has exited.
    pub(super) fn record(&mut self, moment: Moment) -> anyhow::Result<()> {
        // The clients wait meanwhile, so only what is shown is read.
        let database = (self.store == Store::Postgres).then(|| self.bench.cluster.cpu()).transpose()?;
        let (server, load) = (self.server.cpu()?, Process::this().cpu()?);
        let used = Some(Used { at: Instant::now(), server, database, load });
        match moment {
            Moment::Begins => self.begins = used,
            Moment::Ends => self.ends = used,
        }
        Ok(())
    }

    /// The CPU time per second between the bounds.
    ///
    /// # Errors
    /// If nothing was counted.
    pub(super) fn per_second(&self) -> anyhow::Result<PerSecond> {
        let (before, after) = self.begins.as_ref().zip(self.ends.as_ref()).context("nothing was counted")?;
        let seconds = after.at.saturating_duration_since(before.at).as_secs_f64();
        let share = |before, after: Duration| after.saturating_sub(before).as_secs_f64() / seconds;
        Ok(PerSecond {
            server: share(before.server, after.server),
            database: before.database.zip(after.database).map(|(before, after)| share(before, after)),
            load: share(before.load, after.load),
        })
    }
}
