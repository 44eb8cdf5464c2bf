//! Storage.

use secrecy::SecretString;
use serde::Deserialize;

use super::values::{Choice, Flag, Secret, Text, Whole};
use super::{ConfigError, DeploymentEnvironment};

/// Where the data is kept.
#[derive(Clone, Debug)]
pub enum Storage {
    /// In this process.
    Memory,
    /// In a PostgreSQL database.
    Postgres(Postgres),
}

/// A PostgreSQL database.
#[derive(Clone, Debug)]
pub struct Postgres {
    /// Its address with what is needed to log in.
    pub url: SecretString,
    /// The most connections that read at once.
    pub pool_size: u32,
    /// Whether a start brings its schema up to date.
    pub migrate_on_start: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StorageSection {
    backend: Choice<StorageChoice>,
    postgres: PostgresSection,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum StorageChoice {
    Memory,
    Postgres,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PostgresSection {
    url: Option<Secret<Text<SecretString>>>,
    pool_size: Whole<u32, 1, 1_000>,
    migrate_on_start: Flag,
}

impl StorageSection {
    pub(super) fn check(self, environment: DeploymentEnvironment) -> Result<Storage, ConfigError> {
        let Self { backend: Choice(backend), postgres } = self;
        match backend {
            StorageChoice::Memory if environment == DeploymentEnvironment::Production => {
                Err(ConfigError::new(
                    "storage.backend",
                    "memory is refused in production, because its data ends with the process",
                ))
            }
            StorageChoice::Memory => Ok(Storage::Memory),
            StorageChoice::Postgres => {
                let Secret(Text(url)) =
                    postgres.url.ok_or_else(|| ConfigError::missing("storage.postgres.url"))?;
                let (pool_size, migrate_on_start) = (postgres.pool_size.0, postgres.migrate_on_start.0);
                Ok(Storage::Postgres(Postgres { url, pool_size, migrate_on_start }))
            }
        }
    }
}
