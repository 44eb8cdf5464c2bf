//! The jobs of one transaction.

use std::collections::HashSet;
use std::path::PathBuf;
use std::slice;
use std::time::Instant;

use cuepoint_domain::ids::OperationId;
use cuepoint_domain::ledger::feature_level::FeatureLevel;
use cuepoint_domain::ledger::{Plan, Rejection};
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Applied;
use cuepoint_store_sql::crash_points::{self, CrashPoint};
use cuepoint_store_sql::{Folded, GroupLockSet, fold};
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};

use super::job::{ChangeJob, Repetition};
use super::{load, write};
use crate::connect::connection::{Access, open};
use crate::connect::failure::SqliteFailure;
use crate::connect::file_identity::FileIdentity;

/// The size of the write-ahead log above which it is copied into the database, in bytes.
const CHECKPOINT_ABOVE: u64 = 4 * 1024 * 1024;

/// The result of each plan of a group; a failure concerns that plan alone.
pub(super) type Verdicts = Vec<Result<Result<Applied, Rejection>, SqliteFailure>>;

/// The database file as the writer uses it.
#[derive(Clone, Debug)]
pub(crate) struct WriterSetup {
    /// The path of the database file.
    pub(crate) path: PathBuf,
    /// The currency of all sums.
    pub(crate) currency: Currency,
    /// The values that may be written.
    pub(crate) feature_level: FeatureLevel,
}

/// The failure of an attempt.
enum Failed {
    /// Nothing was committed.
    Before(SqliteFailure),
    /// The commit failed: these operations may be applied.
    OutcomeUnknown(HashSet<OperationId>, SqliteFailure),
}

/// Commits groups, one after the other, on the only connection that writes.
pub(super) struct GroupCommitter {
    setup: WriterSetup,
    /// The identity of the file since the start.
    identity: FileIdentity,
    /// `None` after a failure.
    connection: Option<SqliteConnection>,
}

impl GroupCommitter {
    /// Opens the connection.
    ///
    /// # Errors
    /// When the database cannot be opened.
    pub(super) fn open(setup: WriterSetup) -> anyhow::Result<Self> {
        let connection = open(&setup.path, Access::Writer)?;
        let identity = FileIdentity::of(&setup.path, Instant::now())?;
        Ok(Self { setup, identity, connection: Some(connection) })
    }

    /// Closes the connection, so that the next group opens another one.
    pub(super) fn disconnect(&mut self) {
        self.connection = None;
    }

    /// Returns the connection; a new one only if it leads to the same file.
    pub(super) fn connect(&mut self) -> Result<&mut SqliteConnection, SqliteFailure> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                self.identity.ensure_now(Instant::now())?;
                let connection = open(&self.setup.path, Access::Writer)?;
                self.identity.ensure_now(Instant::now())?;
                connection
            }
        };
        Ok(self.connection.insert(connection))
    }

    /// Commits plans and changes together. If the commit itself fails, they run once more on a new connection,
    /// which determines its outcome: operations are permanent, so that each plan is then found or applied.
    pub(super) fn commit(
        &mut self,
        plans: &[&Plan],
        changes: &mut [Box<dyn ChangeJob>],
    ) -> Result<Verdicts, SqliteFailure> {
        match self.transaction(plans, changes, &mut HashSet::new()) {
            Ok(verdicts) => Ok(verdicts),
            Err(Failed::Before(failure)) => Err(failure),
            Err(Failed::OutcomeUnknown(mut own, failure)) => {
                tracing::error!(error = %failure, "a commit failed; its outcome is being determined");
                let unknown = |failure| Err(SqliteFailure::EndUnknown(Box::new(failure)));
                if changes.iter().any(|change| change.repetition() == Repetition::Once) {
                    return unknown(failure);
                }
                match self.transaction(plans, changes, &mut own) {
                    Ok(verdicts) => Ok(verdicts),
                    Err(Failed::Before(failure) | Failed::OutcomeUnknown(_, failure)) => unknown(failure),
                }
            }
        }
    }

    /// Runs a group once. `own` are the operations that an earlier attempt may have applied.
    fn transaction(
        &mut self,
        plans: &[&Plan],
        changes: &mut [Box<dyn ChangeJob>],
        own: &mut HashSet<OperationId>,
    ) -> Result<Verdicts, Failed> {
        crash_points::at(CrashPoint::BeforeLock, plans.iter().copied());
        let setup = self.setup.clone();
        self.connect().map_err(Failed::Before)?;
        let (Some(connection), identity) = (&mut self.connection, &mut self.identity) else {
            return Err(Failed::Before(SqliteFailure::Closed));
        };
        let mut worked = None;
        let done = connection.immediate_transaction(|connection| {
            crash_points::at(CrashPoint::AfterLock, plans.iter().copied());
            let verdicts = apply_all(connection, plans, own, &setup)?;
            for change in changes.iter_mut() {
                change.run(connection)?;
            }
            identity.ensure(Instant::now())?;
            crash_points::at(CrashPoint::BeforeCommit, plans.iter().copied());
            worked = Some(verdicts);
            Ok::<(), SqliteFailure>(())
        });
        match (done, worked) {
            (Ok(()), Some(verdicts)) => {
                crash_points::at(CrashPoint::AfterCommit, plans.iter().copied());
                Ok(verdicts)
            }
            (done, worked) => {
                self.connection = None;
                let failure = done.err().unwrap_or(SqliteFailure::Deadline);
                Err(match worked {
                    None => Failed::Before(failure),
                    Some(verdicts) => Failed::OutcomeUnknown(applied(plans, &verdicts), failure),
                })
            }
        }
    }

    /// Copies the write-ahead log into the database if it has grown; readers are not disturbed.
    pub(super) fn checkpoint(&mut self) {
        let mut log = self.setup.path.clone().into_os_string();
        log.push("-wal");
        let is_large = std::fs::metadata(log).is_ok_and(|log| log.len() > CHECKPOINT_ABOVE);
        if let Some(connection) = self.connection.as_mut().filter(|_| is_large)
            && let Err(error) = connection.batch_execute("PRAGMA wal_checkpoint(PASSIVE)")
        {
            tracing::warn!(%error, "a checkpoint failed");
        }
    }
}

/// The operations of the plans that were applied now.
fn applied(plans: &[&Plan], verdicts: &Verdicts) -> HashSet<OperationId> {
    let fresh =
        plans.iter().zip(verdicts).filter(|(_, verdict)| matches!(verdict, Ok(Ok(Applied::Fresh(_)))));
    fresh.map(|(plan, _)| plan.metadata().operation).collect()
}

/// Applies plans together in a savepoint; if the rows of one are refused, each in a savepoint of its own, so that
/// only that one fails.
fn apply_all(
    connection: &mut SqliteConnection,
    plans: &[&Plan],
    own: &mut HashSet<OperationId>,
    setup: &WriterSetup,
) -> Result<Verdicts, SqliteFailure> {
    let known = own.clone();
    match connection.transaction(|connection| apply(connection, plans, own, setup)) {
        Ok(answers) => return Ok(answers.into_iter().map(Ok).collect()),
        Err(failure) if !failure.blames_one() => return Err(failure),
        Err(failure) => {
            tracing::error!(error = %failure, plans = plans.len(), "a group of plans failed; they run one by one");
            *own = known;
        }
    }
    let mut verdicts = Verdicts::new();
    for plan in plans {
        let applied =
            connection.transaction(|connection| apply(connection, slice::from_ref(plan), own, setup));
        verdicts.push(match applied {
            Ok(answers) => answers.into_iter().next().ok_or(SqliteFailure::Deadline),
            Err(failure) if failure.blames_one() => Err(failure),
            Err(failure) => return Err(failure),
        });
    }
    Ok(verdicts)
}

/// Loads, judges and writes.
fn apply(
    connection: &mut SqliteConnection,
    plans: &[&Plan],
    own: &mut HashSet<OperationId>,
    setup: &WriterSetup,
) -> Result<Vec<Result<Applied, Rejection>>, SqliteFailure> {
    if plans.is_empty() {
        return Ok(Vec::new());
    }
    let set = GroupLockSet::of(plans.iter().copied());
    let loaded = load::load(connection, &set, &setup.currency)?;
    crash_points::at(CrashPoint::AfterRead, plans.iter().copied());
    let mut book = loaded.book(setup.feature_level, &setup.currency)?;
    let Folded { answers, writes } = fold(&mut book, plans, own, &setup.currency)?;
    if !writes.is_empty() {
        write::write(connection, writes, &setup.currency)?;
    }
    crash_points::at(CrashPoint::AfterWrite, plans.iter().copied());
    Ok(answers)
}
