//! The context of every measurement.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::options::Options;
use crate::pgbench::Pgbench;
use crate::postgres::Cluster;
use crate::seeding::Population;
use crate::tokens::Tokens;

/// The context of every measurement.
pub(crate) struct Bench {
    pub(crate) options: Options,
    pub(crate) cluster: Cluster,
    pub(crate) pgbench: Pgbench,
    pub(crate) population: Population,
    pub(crate) tokens: Tokens,
    pub(crate) programs: Programs,
}

/// The programs of one build.
pub(crate) struct Programs {
    /// `cuepoint`.
    pub(crate) server: PathBuf,
    /// `cuepoint-bench`, which serves a seeded in-memory store.
    pub(crate) bench: PathBuf,
}

impl Programs {
    /// Returns the programs of a release folder.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { server: folder.join("cuepoint"), bench: folder.join("cuepoint-bench") }
    }
}

impl Bench {
    /// Creates the context for a population, without a database yet.
    pub(crate) fn new(options: Options, population: Population) -> anyhow::Result<Self> {
        Ok(Self {
            pgbench: Pgbench::new(&options.pgbench, &options.folder),
            tokens: Tokens::new(&options.folder, population.djs())?,
            programs: Programs {
                server: options.server.clone(),
                bench: std::env::current_exe().context("the path of this program is unknown")?,
            },
            cluster: Cluster::connect(&options.postgres)?,
            population,
            options,
        })
    }
}
