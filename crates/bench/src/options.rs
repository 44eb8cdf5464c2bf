//! The options of a run.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::seeding::Scale;

/// The number of connections at which memory usage is measured.
const MANY_CONNECTIONS: usize = 2_000;

/// The extent of a run; `cargo xtask bench` supplies the paths.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Number of measurements; the table shows the medians.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub(crate) runs: u32,
    /// Duration of counting per cell, in seconds.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) seconds: u64,
    /// Amount of data: 1 is 10 000 users with 200 000 requests.
    #[arg(long, default_value = "1")]
    pub(crate) scale: Scale,
    /// Numbers of connections at which each row is measured.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64])]
    pub(crate) connections: Vec<usize>,
    /// Only the rows whose name contains one of these texts.
    #[arg(long, value_delimiter = ',')]
    pub(crate) rows: Vec<String>,
    /// Connections of each server to PostgreSQL, in place of the configured number.
    #[arg(long)]
    pub(crate) pool_size: Option<u32>,
    /// Release folder of another build, with `cuepoint` and `cuepoint-bench`: measure both alternately at the
    /// highest number of connections, and print the ratios of `--runs` pairs.
    #[arg(long, conflicts_with_all = ["write", "smoke"])]
    pub(crate) against: Option<PathBuf>,
    /// Write the results to the document.
    #[arg(long)]
    pub(crate) write: bool,
    /// Smoke test: every row, briefly, on little data.
    #[arg(long, conflicts_with_all = ["runs", "seconds", "scale", "connections", "write"])]
    pub(crate) smoke: bool,
    /// URL of the maintenance database of the cluster.
    #[arg(long, hide = true)]
    pub(crate) postgres: String,
    /// Path of `pgbench`.
    #[arg(long, hide = true)]
    pub(crate) pgbench: PathBuf,
    /// Path of `cuepoint`.
    #[arg(long, hide = true)]
    pub(crate) server: PathBuf,
    /// Folder for logs, scripts and keys.
    #[arg(long, hide = true)]
    pub(crate) folder: PathBuf,
    /// Document that holds the tables.
    #[arg(long, hide = true)]
    pub(crate) document: PathBuf,
}

impl Options {
    /// Returns the options with those of a smoke test filled in.
    pub(crate) fn settled(self) -> Self {
        if !self.smoke {
            return self;
        }
        Self { seconds: 1, scale: Scale::TENTH, connections: vec![1, 16], ..self }
    }

    /// The duration of counting per cell.
    pub(crate) const fn counted(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// The warm-up of a cell, which is not counted.
    pub(crate) fn warm_up(&self) -> Duration {
        if self.smoke { Duration::ZERO } else { self.counted().div_f64(4.0) }
    }

    /// The number of connections of the memory row.
    pub(crate) const fn many_connections(&self) -> usize {
        if self.smoke { 200 } else { MANY_CONNECTIONS }
    }

    /// The highest number of connections of an ordinary row.
    pub(crate) fn most_connections(&self) -> usize {
        self.connections.iter().copied().max().unwrap_or(1)
    }

    /// The lowest number of connections of an ordinary row.
    pub(crate) fn fewest_connections(&self) -> usize {
        self.connections.iter().copied().min().unwrap_or(1)
    }

    /// Whether a row is selected.
    pub(crate) fn wants(&self, row: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|part| row.contains(part.as_str()))
    }
}
