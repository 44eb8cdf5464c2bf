//! `cuepoint storage copy` between the stores, with its verification.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::service::{command, succeed};

/// The durations of the copies of the seeded data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StorageCopies {
    /// From PostgreSQL to a SQLite file.
    pub(crate) to_sqlite: Duration,
    /// From the SQLite file to PostgreSQL.
    pub(crate) to_postgres: Duration,
}

impl StorageCopies {
    /// Returns the lines below the table of targets.
    pub(crate) fn text(&self) -> String {
        let seconds = |duration: Duration| format!("{:.1} s", duration.as_secs_f64());
        format!(
            "`cuepoint storage copy` of this data, including the verification: to SQLite {}, to PostgreSQL {} \
             (wanted at scale 1: less than 120 s).\n\n",
            seconds(self.to_sqlite),
            seconds(self.to_postgres)
        )
    }
}

/// Copies the storage of these settings to another one, and returns the duration.
pub(crate) fn run(program: &Path, settings: &[(&str, String)], to: &str) -> anyhow::Result<Duration> {
    let mut copy = command(program, settings);
    copy.args(["storage", "copy", "--to", to]);
    let began = Instant::now();
    succeed(&mut copy).context("the storage cannot be copied")?;
    let lasted = began.elapsed();
    eprintln!("copied in {:.1} s", lasted.as_secs_f64());
    Ok(lasted)
}
