//! The jobs of one transaction.

use std::collections::HashSet;
use std::path::PathBuf;
use std::slice;
use std::sync::Arc;
use std::time::Instant;

use cuepoint_domain::ids::OperationId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::operation::{Plan, Rejection};
use cuepoint_domain::ports::Applied;
use cuepoint_store_sql::crash_points::{self, CrashPoint};
use cuepoint_store_sql::{Announcements, Folded, GroupLockSet, fold};
use diesel::{Connection, SqliteConnection};

use super::connection::WriterConnection;
use super::job::{ChangeJob, Repetition};
use super::{load, write};
use crate::connect::deployment;
use crate::connect::failure::SqliteFailure;
use crate::connect::snapshots::Snapshots;
use crate::telemetry;

/// The result of each plan of a group; a failure affects that plan alone.
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
    /// The snapshots that a commit outdates.
    pub(crate) snapshots: Arc<Snapshots>,
    /// The readers that wait for commits.
    pub(crate) announcements: Arc<Announcements>,
}

/// The failure of an attempt.
pub(super) enum Failed {
    /// Nothing was committed.
    Before(SqliteFailure),
    /// The commit failed: these operations may be applied.
    OutcomeUnknown(HashSet<OperationId>, SqliteFailure),
}

impl Failed {
    const fn cause(&self) -> &SqliteFailure {
        match self {
            Self::Before(failure) | Self::OutcomeUnknown(_, failure) => failure,
        }
    }
}

/// The number of an attempt to commit a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GroupAttempt {
    First,
    /// The first one may have been committed.
    Again,
}

impl GroupAttempt {
    /// Runs a change, unless it may have been applied and would not recognise its rows.
    fn run(
        self,
        change: &mut Box<dyn ChangeJob>,
        connection: &mut SqliteConnection,
    ) -> Result<(), SqliteFailure> {
        if self == Self::Again && change.repetition() == Repetition::Once {
            change.outcome_unknown("the outcome of a commit is unknown");
            return Ok(());
        }
        change.run(connection)
    }
}

/// Commits groups, one after the other.
pub(super) struct SqliteCommitter {
    setup: WriterSetup,
    pub(super) database: WriterConnection,
}

impl SqliteCommitter {
    /// Opens the connection.
    ///
    /// # Errors
    /// When the database cannot be opened.
    pub(super) fn open(setup: WriterSetup) -> anyhow::Result<Self> {
        let database = WriterConnection::open(&setup.path, Arc::clone(&setup.snapshots))?;
        Ok(Self { setup, database })
    }

    /// Commits plans and changes together. If the commit itself fails, its outcome is determined on a new
    /// connection.
    pub(super) fn commit(
        &mut self,
        plans: &[&Plan],
        changes: &mut [Box<dyn ChangeJob>],
    ) -> Result<Verdicts, SqliteFailure> {
        match self.transaction(plans, changes, GroupAttempt::First, &mut HashSet::new()) {
            Ok(verdicts) => Ok(verdicts),
            Err(Failed::Before(failure)) => Err(failure),
            Err(Failed::OutcomeUnknown(own, failure)) => {
                tracing::error!(error = %failure, "a commit failed; its outcome is being determined");
                self.determine(plans, changes, own)
            }
        }
    }

    /// Runs a group again after its commit failed, on a new connection. Operations are permanent, so that
    /// each plan is then found or applied, and so are changes that recognise their own rows. The others fail.
    pub(super) fn determine(
        &mut self,
        plans: &[&Plan],
        changes: &mut [Box<dyn ChangeJob>],
        mut own: HashSet<OperationId>,
    ) -> Result<Verdicts, SqliteFailure> {
        match self.transaction(plans, changes, GroupAttempt::Again, &mut own) {
            Ok(verdicts) => Ok(verdicts),
            Err(Failed::Before(failure) | Failed::OutcomeUnknown(_, failure)) => {
                Err(SqliteFailure::EndUnknown(Box::new(failure)))
            }
        }
    }

    /// Runs a group once. `own` are the operations that an earlier attempt may have applied.
    pub(super) fn transaction(
        &mut self,
        plans: &[&Plan],
        changes: &mut [Box<dyn ChangeJob>],
        attempt: GroupAttempt,
        own: &mut HashSet<OperationId>,
    ) -> Result<Verdicts, Failed> {
        let known = own.clone();
        let failure = match self.run(plans, changes, attempt, own, apply_together) {
            Err(Failed::Before(failure)) if failure.blames_one() => failure,
            done => return done,
        };
        tracing::error!(error = %failure, plans = plans.len(), "a group of plans failed; they run one by one");
        *own = known;
        self.run(plans, changes, attempt, own, apply_one_by_one)
    }

    fn run(
        &mut self,
        plans: &[&Plan],
        changes: &mut [Box<dyn ChangeJob>],
        attempt: GroupAttempt,
        own: &mut HashSet<OperationId>,
        apply_all: ApplyAll,
    ) -> Result<Verdicts, Failed> {
        crash_points::at(CrashPoint::BeforeLock, plans.iter().copied());
        let start = Instant::now();
        let (connection, identity) = self.database.usable().map_err(Failed::Before)?;
        let mut worked = None;
        let done = connection.immediate_transaction(|connection| {
            crash_points::at(CrashPoint::AfterLock, plans.iter().copied());
            // A copy to another store can begin beside this server if its lock file was deleted.
            deployment::ensure_unmarked(connection)?;
            let verdicts = apply_all(connection, plans, own, &self.setup)?;
            changes.iter_mut().try_for_each(|change| attempt.run(change, connection))?;
            identity.ensure(Instant::now())?;
            crash_points::at(CrashPoint::BeforeCommit, plans.iter().copied());
            worked = Some(verdicts);
            Ok::<(), SqliteFailure>(())
        });
        // After a failure as well: its commit may be there.
        self.setup.snapshots.outdate();
        let failure = match (done, worked) {
            (Ok(()), Some(verdicts)) => {
                crash_points::at(CrashPoint::AfterCommit, plans.iter().copied());
                if has_applied(&verdicts) {
                    self.setup.announcements.announce();
                    telemetry::committed(plans.len(), start.elapsed());
                }
                return Ok(verdicts);
            }
            (Err(failure), Some(verdicts)) => Failed::OutcomeUnknown(applied(plans, &verdicts), failure),
            (Err(failure), None) => Failed::Before(failure),
            (Ok(()), None) => Failed::Before(SqliteFailure::Deadline),
        };
        // After a refused row, the rolled back transaction leaves the connection usable.
        if !matches!(&failure, Failed::Before(cause) if cause.blames_one()) {
            self.database.discard(failure.cause());
        }
        Err(failure)
    }
}

/// Applies plans in a transaction.
type ApplyAll = fn(
    &mut SqliteConnection,
    &[&Plan],
    &mut HashSet<OperationId>,
    &WriterSetup,
) -> Result<Verdicts, SqliteFailure>;

/// Whether a plan of a group was applied now.
pub(super) fn has_applied(verdicts: &Verdicts) -> bool {
    verdicts.iter().any(|verdict| matches!(verdict, Ok(Ok(Applied::Fresh(_)))))
}

/// The operations of the plans that were applied now.
fn applied(plans: &[&Plan], verdicts: &Verdicts) -> HashSet<OperationId> {
    let fresh =
        plans.iter().zip(verdicts).filter(|(_, verdict)| matches!(verdict, Ok(Ok(Applied::Fresh(_)))));
    fresh.map(|(plan, _)| plan.metadata().operation).collect()
}

/// Applies plans together. It fails if the rows of one are refused: a savepoint, which would keep the others,
/// copies each page to its journal before the page is changed.
fn apply_together(
    connection: &mut SqliteConnection,
    plans: &[&Plan],
    own: &mut HashSet<OperationId>,
    setup: &WriterSetup,
) -> Result<Verdicts, SqliteFailure> {
    Ok(apply(connection, plans, own, setup)?.into_iter().map(Ok).collect())
}

/// Applies each plan in a savepoint of its own, so that only those fail whose rows are refused.
fn apply_one_by_one(
    connection: &mut SqliteConnection,
    plans: &[&Plan],
    own: &mut HashSet<OperationId>,
    setup: &WriterSetup,
) -> Result<Verdicts, SqliteFailure> {
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

/// Loads, checks and writes.
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
    let loaded = load::load(connection, &set)?;
    crash_points::at(CrashPoint::AfterRead, plans.iter().copied());
    let mut book = loaded.book(setup.feature_level, &setup.currency)?;
    let Folded { answers, writes } = fold(&mut book, plans, own, &setup.currency)?;
    if !writes.is_empty() {
        write::write(connection, writes)?;
    }
    crash_points::at(CrashPoint::AfterWrite, plans.iter().copied());
    Ok(answers)
}
