//! What a run is told.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::seeding::Scale;

/// How many connections show what memory they take.
const MANY_CONNECTIONS: usize = 2_000;

/// What is measured, and how long. `cargo xtask bench` says where everything is.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// How often everything is measured; the table shows the medians.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub runs: u32,
    /// How long each cell is counted.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub seconds: u64,
    /// How much there is: 1 is 10 000 people with 200 000 requests.
    #[arg(long, default_value = "1", value_parser = scale)]
    pub scale: Scale,
    /// At how many connections each row is measured.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64])]
    pub connections: Vec<usize>,
    /// Only the rows whose name contains one of these.
    #[arg(long, value_delimiter = ',')]
    pub rows: Vec<String>,
    /// The servers' connections to PostgreSQL, in place of what they are configured to have.
    #[arg(long)]
    pub pool_size: Option<u32>,
    /// A release folder of another build, with `cuepoint` and `cuepoint-bench`: measures both in turn at the most connections, and
    /// prints the ratios of `--runs` pairs.
    #[arg(long, conflicts_with_all = ["write", "smoke"])]
    pub against: Option<PathBuf>,
    /// Put the table into the document.
    #[arg(long)]
    pub write: bool,
    /// All rows for a moment on few data: whether everything works.
    #[arg(long, conflicts_with_all = ["runs", "seconds", "scale", "connections", "write"])]
    pub smoke: bool,
    /// The maintenance database of the cluster.
    #[arg(long, hide = true)]
    pub postgres: String,
    /// The program `pgbench`.
    #[arg(long, hide = true)]
    pub pgbench: PathBuf,
    /// The binary `cuepoint`.
    #[arg(long, hide = true)]
    pub server: PathBuf,
    /// A folder for logs, scripts and keys.
    #[arg(long, hide = true)]
    pub folder: PathBuf,
    /// The document that keeps the table.
    #[arg(long, hide = true)]
    pub document: PathBuf,
}

/// A scale as it is written on the command line.
///
/// # Errors
/// As [`Scale::parse`], in words.
pub(crate) fn scale(text: &str) -> Result<Scale, String> {
    Scale::parse(text).map_err(|error| error.to_string())
}

impl Options {
    /// The same with what a smoke test means put in.
    #[must_use]
    pub fn settled(self) -> Self {
        if !self.smoke {
            return self;
        }
        let scale = Scale::parse("0.1").unwrap_or(Scale::ONE);
        Self { seconds: 1, scale, connections: vec![1, 16], ..self }
    }

    /// How long a cell is counted.
    #[must_use]
    pub const fn counted(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// How long a cell runs first without being counted.
    #[must_use]
    pub fn warm_up(&self) -> Duration {
        if self.smoke { Duration::ZERO } else { self.counted().div_f64(4.0) }
    }

    /// How many connections the row about memory has.
    #[must_use]
    pub const fn many_connections(&self) -> usize {
        if self.smoke { 200 } else { MANY_CONNECTIONS }
    }

    /// The most connections of an ordinary row.
    #[must_use]
    pub fn most_connections(&self) -> usize {
        self.connections.iter().copied().max().unwrap_or(1)
    }

    /// Whether a row is asked for.
    #[must_use]
    pub fn wants(&self, row: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|part| row.contains(part.as_str()))
    }
}
