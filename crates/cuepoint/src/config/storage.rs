//! Settings of the storage backend.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::values::{Choice, Flag, Secret, TextValue, Whole};
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

/// The storage keys that are set by a file, a variable or the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StorageKeys {
    /// `storage.dir`.
    pub directory: bool,
    pub postgres_url: bool,
}

/// The key of the data directory.
pub(super) const DIRECTORY: &str = "storage.dir";
/// The key of the backend.
pub(super) const BACKEND: &str = "storage.backend";
/// The variable in which systemd passes the directories of a service's state, separated by colons.
pub(super) const STATE_DIRECTORY: &str = "STATE_DIRECTORY";
/// The reason why SQLite needs the key in production.
const NO_DIRECTORY: &str =
    "is required in production, unless --data or $STATE_DIRECTORY names the data directory";
/// The key of the address of a PostgreSQL database.
pub(super) const POSTGRES_URL: &str = "storage.postgres.url";
/// The reason why PostgreSQL needs the key.
const NO_POSTGRES_URL: &str = "is required, because storage.backend is postgres; for SQLite, set storage.backend to \
     sqlite, or name the data directory with --data";
/// The data directory in the working directory.
const LOCAL_DIRECTORY: &str = "./cuepoint-data";

/// Returns the default of `storage.dir`: the first state directory of systemd, or one in the working directory. In
/// production there is none in the working directory, because a server that is started elsewhere would begin an
/// empty ledger.
///
/// # Errors
/// [`ConfigError`] when the state directory is not UTF-8.
pub(super) fn default_directory(
    state_directory: Option<&OsStr>,
    environment: DeploymentEnvironment,
) -> Result<Option<&str>, ConfigError> {
    let listed = state_directory.unwrap_or_default();
    let listed = listed.to_str().ok_or_else(|| ConfigError::new(STATE_DIRECTORY, "is not UTF-8"))?;
    let first = listed.split(':').find(|directory| !directory.is_empty());
    let local = (environment != DeploymentEnvironment::Production).then_some(LOCAL_DIRECTORY);
    Ok(first.or(local))
}

impl Storage {
    /// The name of the backend, as configured.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Sqlite { .. } => "sqlite",
            Self::Postgres(_) => "postgres",
        }
    }

    /// The data directory as configured; `None` for other backends than SQLite.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        match self {
            Self::Sqlite { directory } => Some(directory),
            Self::Memory | Self::Postgres(_) => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StorageSection {
    backend: Choice<StorageChoice>,
    dir: Option<TextValue<String>>,
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
    url: Option<Secret<TextValue<SecretString>>>,
    pool_size: Whole<u32, 1, 1_000>,
    migrate_on_start: Flag,
}

impl StorageSection {
    /// Whether `storage.postgres.url` is set, even if the backend ignores it.
    pub(super) const fn has_postgres_url(&self) -> bool {
        self.postgres.url.is_some()
    }

    pub(super) fn check(self, environment: DeploymentEnvironment) -> Result<Storage, ConfigError> {
        let Self { backend: Choice(backend), dir, postgres } = self;
        match backend {
            StorageChoice::Memory if environment == DeploymentEnvironment::Production => {
                Err(ConfigError::new(
                    BACKEND,
                    "memory is refused in production, because its data ends with the process",
                ))
            }
            StorageChoice::Memory => Ok(Storage::Memory),
            StorageChoice::Sqlite => {
                let TextValue(dir) = dir.ok_or_else(|| ConfigError::new(DIRECTORY, NO_DIRECTORY))?;
                Ok(Storage::Sqlite { directory: PathBuf::from(dir) })
            }
            StorageChoice::Postgres => {
                let Secret(TextValue(url)) =
                    postgres.url.ok_or_else(|| ConfigError::new(POSTGRES_URL, NO_POSTGRES_URL))?;
                if !["postgres://", "postgresql://"]
                    .iter()
                    .any(|scheme| url.expose_secret().starts_with(scheme))
                {
                    return Err(ConfigError::new(POSTGRES_URL, "must begin with postgres://"));
                }
                let (pool_size, migrate_on_start) = (postgres.pool_size.0, postgres.migrate_on_start.0);
                Ok(Storage::Postgres(Postgres { url, pool_size, migrate_on_start }))
            }
        }
    }
}
