//! The seeded data on each store, its copies, and the settings of a server on it.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::context::{Bench, Programs};
use crate::data_directory::DataDirectory;
use crate::limits::{self, Limit};
use crate::operations::Store;
use crate::options::Options;
use crate::seeding::Population;
use crate::storage_copy::{self, StorageCopies};

/// The template of the other datasets.
pub(crate) const SEEDED: &str = "seeded";
/// The copy for reads.
pub(crate) const READ: &str = "read";
/// The copy for writes, created anew for each row.
pub(crate) const WRITTEN: &str = "written";
/// The seeded data in the schema of pgbench's scripts.
const FROZEN: &str = "frozen";
/// A rate limit per minute that is never reached, so that the counting itself is part of the cost.
pub(crate) const MAX_CALLS: &str = "1000000";
/// A limit of open requests of one guest with one DJ that is never reached.
const MAX_OPEN_PER_DJ: &str = "1000";

/// The data of a service.
pub(crate) enum Dataset {
    Memory,
    /// In the database of this name.
    Database(&'static str),
    Directory(DataDirectory),
}

impl Bench {
    /// Creates the context with the seeded data of the options' scale.
    pub(crate) fn seeded(options: Options) -> anyhow::Result<Self> {
        let population = Population::at_scale(options.scale);
        Self::seeded_with(options, population)
    }

    /// Creates the context with the seeded data of a population.
    pub(crate) fn seeded_with(options: Options, population: Population) -> anyhow::Result<Self> {
        let bench = Self::new(options, population)?;
        bench.prepare()?;
        Ok(bench)
    }

    /// Creates the context with the seeded data for the rows `STORE: name`, and returns the stores whose row the options
    /// select.
    pub(crate) fn with_stores(options: Options, name: &str) -> anyhow::Result<(Self, Vec<Store>)> {
        let bench = Self::seeded(options)?;
        let stores = bench.stores(name);
        ensure!(!stores.is_empty(), "no row is selected: their names begin with `STORE: {name}`");
        if stores.contains(&Store::Sqlite) {
            bench.fill_file(&bench.programs)?;
        }
        Ok((bench, stores))
    }

    /// The stores whose row `STORE: name` the options select.
    pub(crate) fn stores(&self, name: &str) -> Vec<Store> {
        let wanted = |store: &Store| self.options.wants(&format!("{}: {name}", store.name()));
        Store::ALL.into_iter().filter(wanted).collect()
    }

    /// Copies the seeded database into a SQLite file with `cuepoint storage copy`, and the file back, and
    /// returns the durations.
    pub(crate) fn prepare_file(&self, programs: &Programs) -> anyhow::Result<StorageCopies> {
        let to_sqlite = self.fill_file(programs)?;
        let file = self.directory(SEEDED);
        let moved = file.copy_to(self.directory(WRITTEN).path().to_owned())?;
        self.cluster.create(WRITTEN)?;
        let to = self.cluster.url_of(WRITTEN);
        let source = self.settings(&Dataset::Directory(moved.clone()));
        let to_postgres = storage_copy::run(&programs.server, &source, &to)?;
        self.cluster.remove(WRITTEN)?;
        moved.remove()?;
        Ok(StorageCopies { to_sqlite, to_postgres })
    }

    /// Copies the seeded database into a SQLite file with `cuepoint storage copy`, and returns the duration.
    pub(crate) fn fill_file(&self, programs: &Programs) -> anyhow::Result<Duration> {
        self.cluster.copy(SEEDED, WRITTEN)?;
        self.copy_to_file(programs)
    }

    /// Seeds a SQLite file with the programs of another build, because an older build cannot read data of a newer one.
    pub(crate) fn seed_file(&self, programs: &Programs) -> anyhow::Result<()> {
        self.cluster.create(WRITTEN)?;
        let (url, scale) = (self.cluster.url_of(WRITTEN), self.options.scale.to_string());
        let mut seed = Command::new(&programs.bench);
        let seeded = seed
            .args(["seed", "--url", &url, "--scale", &scale])
            .status()
            .context("the seed program of the other build did not start")?;
        ensure!(seeded.success(), "the seed program of the other build failed");
        // An older build seeds users without a verified address, who cannot withdraw in production.
        self.cluster.prepare(WRITTEN, "UPDATE users SET email_verified = true")?;
        self.copy_to_file(programs).map(drop)
    }

    /// Copies the written database into the SQLite file, and removes it.
    fn copy_to_file(&self, programs: &Programs) -> anyhow::Result<Duration> {
        let file = self.directory(SEEDED);
        file.remove()?;
        let source = self.settings(&Dataset::Database(WRITTEN));
        let to = format!("sqlite:{}", file.path().display());
        let lasted = storage_copy::run(&programs.server, &source, &to)?;
        self.cluster.remove(WRITTEN)?;
        Ok(lasted)
    }

    /// Copies the seeded database into the schema of pgbench's scripts.
    pub(crate) fn prepare_limits(&self) -> anyhow::Result<()> {
        self.cluster.copy(SEEDED, FROZEN)?;
        self.cluster.prepare(FROZEN, limits::FREEZE)
    }

    /// Runs work on the data of a limit: a fresh copy if it is written.
    pub(crate) fn with_data<T>(
        &self,
        limit: &Limit,
        work: impl FnOnce(&str) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let Some(writes) = &limit.writes else { return work(FROZEN) };
        self.cluster.copy(FROZEN, WRITTEN)?;
        if let Some(statement) = writes.prepared_by {
            self.cluster.prepare(WRITTEN, statement)?;
        }
        let done = work(WRITTEN)?;
        self.cluster.remove(WRITTEN)?;
        Ok(done)
    }

    /// The data directory for the same purpose as the database of this name.
    pub(crate) fn directory(&self, database: &str) -> DataDirectory {
        DataDirectory::at(self.options.folder.join(format!("{database}.data")))
    }

    /// The data of a store. A database is a fresh copy if it is written. A SQLite file is always a copy, because a newer
    /// build migrates it.
    pub(crate) fn dataset(&self, store: Store, name: &'static str) -> anyhow::Result<Dataset> {
        Ok(match store {
            Store::Memory => Dataset::Memory,
            Store::Postgres => {
                if name == WRITTEN {
                    self.cluster.copy(SEEDED, WRITTEN)?;
                }
                Dataset::Database(name)
            }
            Store::Sqlite => {
                Dataset::Directory(self.directory(SEEDED).copy_to(self.directory(name).path().to_owned())?)
            }
        })
    }

    pub(crate) fn number(&self, data: &Dataset, query: &str) -> anyhow::Result<i64> {
        match data {
            Dataset::Memory => Ok(0),
            Dataset::Database(name) => self.cluster.number(name, query),
            Dataset::Directory(directory) => directory.number(query),
        }
    }

    pub(crate) fn remove(&self, data: &Dataset) -> anyhow::Result<()> {
        match data {
            Dataset::Memory => Ok(()),
            Dataset::Database(name) => self.cluster.remove(name),
            Dataset::Directory(directory) => directory.remove(),
        }
    }

    /// The settings of production, and those that measuring needs.
    pub(crate) fn settings(&self, data: &Dataset) -> Vec<(&'static str, String)> {
        let key_file = self.tokens.key_file().to_string_lossy().into_owned();
        let mut settings = vec![
            ("CUEPOINT_ENV", "production".to_owned()),
            ("CUEPOINT__SERVER__PORT", "0".to_owned()),
            ("CUEPOINT__SERVER__PUBLIC_URL", "https://bench.example.com".to_owned()),
            ("CUEPOINT__AUTH__SIGNING_KEY_FILE", key_file.clone()),
            // Nothing is measured with webhook endpoints: the signing keys serve as well.
            ("CUEPOINT__WEBHOOKS__KEY_FILE", key_file),
            // No measured operation sends e-mail.
            ("CUEPOINT__NOTIFIER__EMAIL", "smtp".to_owned()),
            ("CUEPOINT__NOTIFIER__SMTP_URL", "smtp://127.0.0.1:1".to_owned()),
            ("CUEPOINT__NOTIFIER__FROM", "Cuepoint <no-reply@example.com>".to_owned()),
            ("CUEPOINT__RATE_LIMITS__LOGIN_PER_MINUTE", MAX_CALLS.to_owned()),
            ("CUEPOINT__RATE_LIMITS__REQUESTS_PER_MINUTE", MAX_CALLS.to_owned()),
            ("CUEPOINT__RATE_LIMITS__WITHDRAWALS_PER_MINUTE", MAX_CALLS.to_owned()),
            ("CUEPOINT__RATE_LIMITS__DEFAULT_PER_MINUTE", MAX_CALLS.to_owned()),
            ("CUEPOINT__REQUESTS__MAX_OPEN_PER_DJ", MAX_OPEN_PER_DJ.to_owned()),
            // Otherwise each server reads the whole ledger when it starts, which would be measured too.
            ("CUEPOINT__LEDGER__AUDIT_INTERVAL_SECONDS", "0".to_owned()),
        ];
        match data {
            Dataset::Directory(directory) => {
                settings.push(("CUEPOINT__STORAGE__BACKEND", "sqlite".to_owned()));
                settings.push(("CUEPOINT__STORAGE__DIR", directory.path().to_string_lossy().into_owned()));
            }
            // The settings of production require a URL, even for a store that is given.
            Dataset::Database(_) | Dataset::Memory => {
                let name = if let Dataset::Database(name) = data { name } else { READ };
                settings.push(("CUEPOINT__STORAGE__POSTGRES__URL", self.cluster.url_of(name)));
            }
        }
        if let Some(size) = self.options.pool_size {
            settings.push(("CUEPOINT__STORAGE__POSTGRES__POOL_SIZE", size.to_string()));
        }
        settings
    }
}
