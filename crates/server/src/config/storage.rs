//! Settings of the storage backend.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::Deserialize;

use super::values::{Choice, Flag, Secret, Text, Whole};
use super::{ConfigError, DeploymentEnvironment};

/// The storage backend.
#[derive(Clone, Debug)]
pub enum Storage {
    /// In memory, for the lifetime of the process.
    Memory,
    /// A SQLite database in a data directory.
    Sqlite {
        /// The data directory.
        directory: PathBuf,
    },
    /// A PostgreSQL database.
    Postgres(Postgres),
}

/// The settings of a PostgreSQL database.
#[derive(Clone, Debug)]
pub struct Postgres {
    /// The connection URL, including credentials.
    pub url: SecretString,
    /// The maximum number of connections for reads.
    pub pool_size: u32,
    /// Whether to apply missing migrations at start.
    pub migrate_on_start: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StorageSection {
    backend: Choice<StorageChoice>,
    dir: Option<Text<String>>,
    postgres: PostgresSection,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum StorageChoice {
    Sqlite,
    Postgres,
    Memory,
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
        let Self { backend: Choice(backend), dir, postgres } = self;
        match backend {
            StorageChoice::Memory if environment == DeploymentEnvironment::Production => {
                Err(ConfigError::new(
                    "storage.backend",
                    "memory is refused in production, because its data ends with the process",
                ))
            }
            StorageChoice::Memory => Ok(Storage::Memory),
            StorageChoice::Sqlite => {
                let Text(dir) = dir.ok_or_else(|| ConfigError::missing("storage.dir"))?;
                Ok(Storage::Sqlite { directory: PathBuf::from(dir) })
            }
            StorageChoice::Postgres => {
                let Secret(Text(url)) =
                    postgres.url.ok_or_else(|| ConfigError::missing("storage.postgres.url"))?;
                let (pool_size, migrate_on_start) = (postgres.pool_size.0, postgres.migrate_on_start.0);
                Ok(Storage::Postgres(Postgres { url, pool_size, migrate_on_start }))
            }
        }
    }
}
