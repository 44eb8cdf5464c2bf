//! The SQLite backend.

use std::fs;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

use anyhow::anyhow;
use async_trait::async_trait;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::{
    Backend, BackendError, Diagnosis, Maintenance, Opening, PreparedData, RestoreSource, Restored, Store,
    Thoroughness,
};
use cuepoint_domain::timestamp::Timestamp;

use crate::maintenance::{backup, diagnosis, restore};
use crate::{SqliteStore, migrate};

/// A configured data directory and its currency.
#[derive(Clone, Debug)]
pub struct SqliteBackend {
    directory: PathBuf,
    currency: Currency,
}

impl SqliteBackend {
    /// Creates a backend for the database in a data directory, without opening it.
    #[must_use]
    pub const fn new(directory: PathBuf, currency: Currency) -> Self {
        Self { directory, currency }
    }
}

#[async_trait]
impl Backend for SqliteBackend {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn data_directory(&self) -> Option<PathBuf> {
        // A directory that does not exist yet has no canonical path.
        let found = fs::canonicalize(&self.directory).or_else(|_| path::absolute(&self.directory));
        Some(found.unwrap_or_else(|_| self.directory.clone()))
    }

    async fn open(&self, opening: Opening) -> Result<Arc<dyn Store>, BackendError> {
        let open = match opening {
            Opening::AsConfigured => SqliteStore::open,
            Opening::WithoutMigrations => SqliteStore::open_to_read,
        };
        Ok(Arc::new(open(&self.directory, self.currency.clone())?))
    }

    async fn migrate(&self) -> Result<Option<Vec<String>>, BackendError> {
        Ok(Some(migrate(&self.directory)?))
    }

    async fn diagnose(&self, thoroughness: Thoroughness, now: Timestamp) -> Vec<Diagnosis> {
        diagnosis::diagnose(&self.directory, &self.currency, thoroughness, now).await
    }

    fn maintenance(&self) -> Option<&dyn Maintenance> {
        Some(self)
    }
}

#[async_trait]
impl Maintenance for SqliteBackend {
    async fn backup(&self, file: &Path) -> Result<Box<dyn PreparedData>, BackendError> {
        Ok(backup::backup(&self.directory, file, &self.currency).await?)
    }

    async fn restore(&self, source: RestoreSource<'_>, epoch: i64) -> Result<Restored, BackendError> {
        let RestoreSource::File(file) = source else {
            return Err(
                anyhow!("a data directory is restored from a file: run `cuepoint restore FILE`").into()
            );
        };
        Ok(restore::restore(&self.directory, file, &self.currency, epoch)?)
    }

    /// Refuses: the only server of a data directory writes at the newest level from its start.
    async fn finalize_upgrade(&self, _: &str) -> Result<FeatureLevel, BackendError> {
        Err(anyhow!("the only server of a data directory needs no finalized upgrade").into())
    }
}
