//! A storage backend as it is configured: where stores are opened, migrated and maintained.

use std::error::Error;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use crate::ledger::feature_level::FeatureLevel;
use crate::ports::Store;
use crate::timestamp::Timestamp;
use crate::topup::Topup;
use crate::withdrawal::Withdrawal;

/// Why a backend did not do what an operator asked: a text that says what is wrong. No error repeats a
/// password.
pub type BackendError = Box<dyn Error + Send + Sync>;

/// What opening a store may do to its schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// Missing migrations are applied where the configuration says so; otherwise a store that lacks some is
    /// refused.
    AsConfigured,
    /// A store that lacks migrations is refused.
    WithoutMigrations,
}

/// A storage backend with its configuration.
#[async_trait]
pub trait Backend: Debug + Send + Sync {
    /// The value of `storage.backend` that selects it; its keys begin with `storage.` and this name.
    fn name(&self) -> &'static str;

    /// Whether the data outlive the process.
    fn is_durable(&self) -> bool;

    /// Opens the store, on a multi-threaded runtime that outlives it. It is to be closed by [`Store::close`].
    ///
    /// # Errors
    /// [`BackendError`] when it cannot be reached, lacks migrations, or has another currency than the
    /// configuration.
    async fn open(&self, opening: Opening) -> Result<Arc<dyn Store>, BackendError>;

    /// Applies the migrations that the store lacks, and returns their names; `None` where it has no schema.
    ///
    /// # Errors
    /// [`BackendError`] when it cannot be reached or a migration fails; those before it stay applied.
    async fn migrate(&self) -> Result<Option<Vec<String>>, BackendError>;

    /// What operators do to the database itself; `None` where there is none.
    fn maintenance(&self) -> Option<&dyn Maintenance> {
        None
    }
}

/// Work of operators on a database that no server uses meanwhile.
#[async_trait]
pub trait Maintenance: Send + Sync {
    /// Prepares the database with this name for servers after a restore; `epoch` is one that it never had.
    ///
    /// # Errors
    /// [`BackendError`] when the database has another name, a server is connected to it, or it cannot be
    /// migrated.
    async fn restore(&self, database_name: &str, epoch: i64) -> Result<Restored, BackendError>;

    /// Reads the withdrawals and top-ups that may have gone on without the database.
    ///
    /// # Errors
    /// [`BackendError`] when the database cannot be reached or a row cannot be read.
    async fn open_transfers(&self) -> Result<OpenTransfers, BackendError>;

    /// Raises the feature level of the database with this name to the newest one, and returns the one before.
    ///
    /// # Errors
    /// [`BackendError`] when the database has another name, lacks migrations, or a server of an earlier
    /// version uses it.
    async fn finalize_upgrade(&self, database_name: &str) -> Result<FeatureLevel, BackendError>;
}

/// What a restore found and did.
#[derive(Debug)]
pub struct Restored {
    /// The epoch of the data from now on.
    pub epoch: i64,
    /// How many sessions were ended.
    pub sessions_ended: usize,
}

/// What a backup left open.
#[derive(Debug)]
pub struct OpenTransfers {
    /// When the newest operation was decided that the backup has; `None` where it has none.
    pub newest_operation: Option<Timestamp>,
    /// Withdrawals that are, or are about to be, at the payout provider, by id.
    pub withdrawals: Vec<Withdrawal>,
    /// Top-ups whose money may be on its way, by id.
    pub topups: Vec<Topup>,
}
