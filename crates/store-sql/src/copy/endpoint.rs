//! The endpoints of a copy, which each store implements.

use std::sync::Arc;

use anyhow::{bail, ensure};
use async_trait::async_trait;
use cuepoint_domain::audit::Auditor;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::timestamp::Timestamp;
use uuid::Uuid;

use super::value::{CopiedRow, Value};
use crate::table::Table;

/// The use of an opened endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyRole {
    /// Rows are read from it, and it is marked.
    Source,
    /// Rows are written to it. It is created and migrated if necessary.
    Target,
}

/// The progress of a copy to another store, as marked in its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkState {
    /// The target may have the copy.
    Moving,
    /// The target has the copy.
    Moved,
}

impl MarkState {
    /// The name in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Moving => "moving",
            Self::Moved => "moved",
        }
    }
}

/// The mark of a database that was copied to another store. Servers refuse a marked database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// Whether the copy is known to be complete.
    pub state: MarkState,
    /// The id of the copy.
    pub copy: Uuid,
    /// The identity of the target, as [`CopySession::identity`] returns it.
    pub target: String,
}

impl Mark {
    /// The mark that a database stores; `None` if it stores none.
    ///
    /// # Errors
    /// When it is incomplete or its state is unknown.
    pub fn stored(
        state: Option<&str>,
        copy: Option<Uuid>,
        target: Option<String>,
    ) -> anyhow::Result<Option<Self>> {
        let (state, copy, target) = match (state, copy, target) {
            (None, None, None) => return Ok(None),
            (Some("moving"), Some(copy), Some(target)) => (MarkState::Moving, copy, target),
            (Some("moved"), Some(copy), Some(target)) => (MarkState::Moved, copy, target),
            _ => bail!("the mark of a copy to another store cannot be read"),
        };
        Ok(Some(Self { state, copy, target }))
    }

    /// The reason why servers refuse the database, and the remedy.
    #[must_use]
    pub fn refusal(&self) -> String {
        let Self { target, .. } = self;
        match self.state {
            MarkState::Moving => format!(
                "a copy of this database to {target} was interrupted: run `cuepoint storage copy --finish --to URL` if \
                 that store has the copy, else `cuepoint storage copy --abort --to URL`"
            ),
            MarkState::Moved => format!("this database was copied to {target}, which is in use instead"),
        }
    }
}

/// Refuses a database into which a copy was begun and never committed: it would be served as an empty ledger, with the
/// epoch of the source, and so with its access tokens.
///
/// # Errors
/// When it is one, with the sentence that names the remedy.
pub fn ensure_completed(begun: Option<Uuid>, origin: Option<Uuid>) -> anyhow::Result<()> {
    ensure!(
        begun.is_none() || origin.is_some(),
        "a copy into this database was begun and not completed: run `cuepoint storage copy` again, or use another \
         database"
    );
    Ok(())
}

/// The deployment row of a database, without the identity of the database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deployment {
    /// The code of the currency.
    pub currency: String,
    /// The decimals of the currency.
    pub scale: i16,
    /// The time of the first start.
    pub created_at: Timestamp,
    /// The epoch of the data.
    pub epoch: i64,
    pub feature_level: i16,
    /// The mark of a copy to another store.
    pub mark: Option<Mark>,
    /// The id of the copy that wrote the database; `None` if none did.
    pub origin: Option<Uuid>,
}

impl Deployment {
    /// Refuses a deployment that has another currency or was copied elsewhere.
    pub(super) fn ensure_usable(&self, currency: &Currency) -> anyhow::Result<()> {
        ensure!(
            self.currency == currency.code() && self.scale == i16::from(currency.scale()),
            "the database uses {} with {} decimals: wallet.currency and wallet.scale cannot be changed to {} and {}",
            self.currency,
            self.scale,
            currency.code(),
            currency.scale()
        );
        match &self.mark {
            None => Ok(()),
            Some(mark) => bail!("{}", mark.refusal()),
        }
    }

    /// Refuses a feature level other than this program's.
    pub(super) fn ensure_newest_level(&self) -> anyhow::Result<()> {
        let newest = FeatureLevel::NEWEST.number();
        ensure!(
            self.feature_level >= newest,
            "the upgrade is not finalized: run `cuepoint finalize-upgrade` first"
        );
        ensure!(
            self.feature_level == newest,
            "the database is in use by a later version: copy it with that one"
        );
        Ok(())
    }
}

/// A configured store that is one end of a copy, not opened yet.
#[async_trait]
pub trait CopyEndpoint: Send + Sync {
    /// The name of its kind of store.
    fn backend(&self) -> &'static str;

    /// Opens the store for this process alone, and begins a transaction: a snapshot of a source, or a
    /// transaction that writes to a target.
    ///
    /// # Errors
    /// When it cannot be reached, or a server uses it. A source is also refused if it lacks migrations.
    async fn open(&self, role: CopyRole) -> anyhow::Result<Box<dyn CopySession>>;

    /// Looks up the copy that wrote the database, without changing anything. `alone` also ensures that no
    /// other process uses the database, so that no earlier transaction can still be committed.
    ///
    /// # Errors
    /// When it cannot be reached; with `alone`, also when it is in use.
    async fn look_up(&self, alone: bool) -> anyhow::Result<CopyOrigin>;
}

/// The copy that wrote a database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopyOrigin {
    /// The identity of the endpoint.
    pub identity: String,
    /// The id of the copy; `None` if no copy wrote it.
    pub copy: Option<Uuid>,
    /// The id of the copy that was begun last into it, whether or not it was committed.
    pub begun: Option<Uuid>,
}

/// An opened endpoint, which this process uses alone, in a transaction.
#[async_trait]
pub trait CopySession: Send {
    /// A unique name of the endpoint, for operators.
    fn identity(&self) -> &str;

    /// Whether it is a backup, which lacks the changes and ids of the time after it.
    fn is_backup(&self) -> bool {
        false
    }

    /// The deployment; `None` if no server was ever started on the database.
    async fn deployment(&mut self) -> anyhow::Result<Option<Deployment>>;

    /// Records durably that a copy of this deployment begins in the database, and begins another transaction.
    async fn begin(&mut self, copy: Uuid, deployment: &Deployment) -> anyhow::Result<()>;

    /// The number of rows of a table.
    async fn count(&mut self, table: &'static Table) -> anyhow::Result<u64>;

    /// The rows of a table after a key, ordered by key, at most this many.
    async fn read(
        &mut self,
        table: &'static Table,
        after: Option<&[Value]>,
        limit: i64,
    ) -> anyhow::Result<Vec<CopiedRow>>;

    /// The next id of each counter, in the order of [`crate::schema::COUNTERS`].
    async fn next_ids(&mut self) -> anyhow::Result<Vec<i64>>;

    /// Shows the ledger to an audit.
    async fn audit(&mut self, auditor: &mut Auditor) -> anyhow::Result<()>;

    /// Adds rows to a table.
    async fn insert(&mut self, table: &'static Table, rows: Vec<CopiedRow>) -> anyhow::Result<()>;

    /// Completes the writes: sets the next id of each counter, and records the deployment with the copy's id
    /// as its origin.
    async fn complete(&mut self, next_ids: &[i64], deployment: &Deployment) -> anyhow::Result<()>;

    /// Commits the transaction durably.
    async fn commit(&mut self) -> anyhow::Result<()>;

    /// Ends the transaction without effect, and sets or removes the mark durably.
    async fn mark(&mut self, mark: Option<&Mark>) -> anyhow::Result<()>;

    /// Ends the transaction without effect, and closes the store.
    async fn close(self: Box<Self>) -> anyhow::Result<()>;
}

/// A stage of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The audit of the source, in entries.
    AuditSource,
    /// The copy, in rows.
    Copy,
    /// The comparison of the target, in rows.
    Compare,
    /// The audit of the target, in entries.
    AuditTarget,
}

/// Receives the progress of a stage: the number of its steps so far, and their total.
pub type Report = Arc<dyn Fn(Stage, u64, u64) + Send + Sync>;
