//! A configured storage backend, which opens, migrates and maintains stores.

use std::error::Error;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use crate::ids::WebhookEndpointId;
use crate::operation::feature_level::FeatureLevel;
use crate::ports::{Audit, Diagnosis, Store, Thoroughness};
use crate::timestamp::Timestamp;
use crate::topup::{Topup, TopupStatus};
use crate::webhook::SealedSecret;
use crate::withdrawal::{Withdrawal, WithdrawalStatus};

/// The reason for a failed operation of a backend, as a text for operators. It contains no password.
pub type BackendError = Box<dyn Error + Send + Sync>;

/// The treatment of missing migrations when a store is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// Applies missing migrations if the configuration says so; otherwise refuses a store that lacks some.
    AsConfigured,
    /// Refuses a store that lacks migrations. It is only read, and an embedded store is opened beside the
    /// server that uses it.
    WithoutMigrations,
}

/// A storage backend with its configuration.
#[async_trait]
pub trait Backend: Debug + Send + Sync {
    /// The value of `storage.backend` that selects it; its keys begin with `storage.` and this name.
    fn name(&self) -> &'static str;

    /// Whether the data outlive the process.
    fn is_durable(&self) -> bool;

    /// The absolute path of the directory with the data; `None` if the data are elsewhere.
    fn data_directory(&self) -> Option<PathBuf> {
        None
    }

    /// Opens the store, on a multi-threaded runtime that outlives it. [`Store::close`] has to close it.
    ///
    /// # Errors
    /// [`BackendError`] when it cannot be reached, lacks migrations, or has another currency than the
    /// configuration.
    async fn open(&self, opening: Opening) -> Result<Arc<dyn Store>, BackendError>;

    /// Applies missing migrations and returns their names; `None` for a store without a schema.
    ///
    /// # Errors
    /// [`BackendError`] when it cannot be reached or a migration fails; those before it stay applied.
    async fn migrate(&self) -> Result<Option<Vec<String>>, BackendError>;

    /// Checks the storage, the safety of its data, its clock against the time `now`, and its backups, while servers may
    /// use it. Nothing is created or changed.
    async fn diagnose(&self, thoroughness: Thoroughness, now: Timestamp) -> Vec<Diagnosis>;

    /// Maintenance of the database; `None` for a backend without one.
    fn maintenance(&self) -> Option<&dyn Maintenance> {
        None
    }
}

/// Maintenance of a database.
#[async_trait]
pub trait Maintenance: Send + Sync {
    /// Copies the data as of one moment to a temporary file beside `file`, while servers may use them. The
    /// copy gets the name `file` once it is accepted.
    ///
    /// # Errors
    /// [`BackendError`] when `file` exists, the data cannot be copied, or the database makes its backups with
    /// its own tools, which the error names.
    async fn backup(&self, file: &Path) -> Result<Box<dyn PreparedData>, BackendError>;

    /// Prepares the data of a backup for servers; `epoch` must never have been used before.
    ///
    /// # Errors
    /// [`BackendError`] when the database is not restored from such a source, the source is unusable, a
    /// server uses the database, or it cannot be migrated.
    async fn restore(&self, source: RestoreSource<'_>, epoch: i64) -> Result<Restored, BackendError>;

    /// Raises the feature level of the database with this name to the newest one, and returns the previous
    /// level.
    ///
    /// # Errors
    /// [`BackendError`] when the database has another name, lacks migrations, or a server of an earlier
    /// version uses it.
    async fn finalize_upgrade(&self, database_name: &str) -> Result<FeatureLevel, BackendError>;
}

/// The backup from which data are restored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RestoreSource<'a> {
    /// A file that [`Maintenance::backup`] made.
    File(&'a Path),
    /// The configured database itself, which the tools of its server restored. The name confirms that the
    /// configuration points to the intended one.
    Database(&'a str),
}

/// The outcome of a restore.
pub struct Restored {
    /// The new epoch of the data.
    pub epoch: i64,
    /// The number of sessions that were ended.
    pub sessions_ended: usize,
    /// The number of live cookies of guest accounts that were kept.
    pub cookies_kept: usize,
    /// The restored data. No server may use them before they are accepted, unless they were in the database
    /// before.
    pub data: Box<dyn PreparedData>,
}

/// Data of a backup or of a restore, to be audited and then accepted or rejected. Data that are dropped
/// before are removed, unless they were in the database before.
#[async_trait]
pub trait PreparedData: Audit {
    /// Reads the withdrawals and top-ups whose transfers may have continued after the backup.
    ///
    /// # Errors
    /// [`BackendError`] when the data cannot be read.
    async fn open_transfers(&self) -> Result<OpenTransfers, BackendError>;

    /// Reads the current secrets of all webhook endpoints, except those that were disabled for a lost secret.
    ///
    /// # Errors
    /// [`BackendError`] when the data cannot be read.
    async fn endpoint_secrets(&self) -> Result<Vec<(WebhookEndpointId, SealedSecret)>, BackendError>;

    /// Gives the data their final name, durably.
    ///
    /// # Errors
    /// [`BackendError`] when they cannot be written or the name is taken.
    async fn accept(self: Box<Self>) -> Result<(), BackendError>;

    /// Keeps the data for an investigation under a name that no server uses, and returns it; `None` for data
    /// that were in the database before.
    ///
    /// # Errors
    /// [`BackendError`] when they cannot be renamed.
    async fn reject(self: Box<Self>) -> Result<Option<PathBuf>, BackendError>;
}

/// The open transfers of a backup.
#[derive(Debug)]
pub struct OpenTransfers {
    /// The time of the newest operation in the backup; `None` if it has no operation.
    pub newest_operation: Option<Timestamp>,
    /// Withdrawals that are, or are about to be, at the payout provider, ordered by id.
    pub withdrawals: Vec<Withdrawal>,
    /// Top-ups whose money may be on its way, ordered by id.
    pub topups: Vec<Topup>,
}

impl OpenTransfers {
    /// The statuses of the withdrawals: with an order at the payout provider, or about to be.
    pub const WITHDRAWALS: [WithdrawalStatus; 2] = [WithdrawalStatus::Approved, WithdrawalStatus::Processing];
    /// The status of the top-ups.
    pub const TOPUPS: TopupStatus = TopupStatus::Pending;
}
