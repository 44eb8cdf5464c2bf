//! The PostgreSQL backend.

use std::path::Path;
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

use crate::maintenance::{backup, diagnosis, finalize, restore};
use crate::{PostgresOptions, PostgresStore, migrate};

/// A configured PostgreSQL database and its currency.
#[derive(Clone, Debug)]
pub struct PostgresBackend {
    options: PostgresOptions,
    currency: Currency,
}

impl PostgresBackend {
    /// Creates a backend for the database at the options' URL, without connecting.
    #[must_use]
    pub const fn new(options: PostgresOptions, currency: Currency) -> Self {
        Self { options, currency }
    }
}

#[async_trait]
impl Backend for PostgresBackend {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn is_durable(&self) -> bool {
        true
    }

    async fn open(&self, opening: Opening) -> Result<Arc<dyn Store>, BackendError> {
        let mut options = self.options.clone();
        options.migrate_on_start &= opening == Opening::AsConfigured;
        Ok(Arc::new(PostgresStore::open(options, self.currency.clone()).await?))
    }

    async fn migrate(&self) -> Result<Option<Vec<String>>, BackendError> {
        Ok(Some(migrate(&self.options.url).await?))
    }

    async fn diagnose(&self, _: Thoroughness, now: Timestamp) -> Vec<Diagnosis> {
        diagnosis::diagnose(&self.options.url, &self.currency, now).await
    }

    fn maintenance(&self) -> Option<&dyn Maintenance> {
        Some(self)
    }
}

#[async_trait]
impl Maintenance for PostgresBackend {
    async fn backup(&self, file: &Path) -> Result<Box<dyn PreparedData>, BackendError> {
        Err(anyhow!(backup::instructions(&self.options.url, file)?).into())
    }

    async fn restore(&self, source: RestoreSource<'_>, epoch: i64) -> Result<Restored, BackendError> {
        let RestoreSource::Database(name) = source else {
            return Err(anyhow!(
                "a PostgreSQL database is restored with pg_restore: then run `cuepoint restore --database-name NAME`"
            )
            .into());
        };
        Ok(restore::restore(&self.options, &self.currency, name, epoch).await?)
    }

    async fn finalize_upgrade(&self, database_name: &str) -> Result<FeatureLevel, BackendError> {
        Ok(finalize::finalize_upgrade(&self.options.url, database_name).await?)
    }
}
