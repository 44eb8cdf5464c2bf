//! One group in one transaction, retried until its outcome is known.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuepoint_domain::ids::OperationId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::Plan;
use cuepoint_domain::ports::Applied;
use cuepoint_store_sql::crash_points::{self, CrashPoint};
use cuepoint_store_sql::limits::{PROOF_WITHIN, PROVEN_FOR};
use cuepoint_store_sql::{LockedTable, WriteSet};
use diesel::result::{DatabaseErrorKind, Error as QueryError};
use diesel::sql_types::{Array, Integer};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout_at};

use super::decide::{Answers, DecidedGroup, GroupContext, decide};
use super::write::{PreparedWrites, Writes, WritesFailure};
use super::{ANSWER_BEFORE, COMMIT_BEFORE, WORK, later};
use crate::connect::cluster::AdmittedConnection;
use crate::connect::connection::Connector;
use crate::connect::failure::DatabaseFailure;
use crate::telemetry;

/// The maximum number of attempts for a group: a deadlock or a lost connection often passes. A group with an
/// unknown outcome is retried until its deadline.
const ATTEMPTS: u32 = 3;
/// Delay before the retry of a group with an unknown outcome.
const ASK_AGAIN: Duration = Duration::from_millis(150);
/// Time limit of the part of a proof before its commit.
const PROOF_WORK: Duration = Duration::from_millis(850);
/// The maximum number of commits waiting for a synchronous standby; further plans are refused. Two groups at once can
/// exceed it by one.
const MAX_UNANSWERED: usize = 3;

/// The deadlines of the phases of a group.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The latest time to send COMMIT.
    work: Instant,
    /// The latest time to wait for its reply.
    answer: Instant,
    /// The latest time to determine whether it succeeded.
    end: Instant,
}

impl Limits {
    /// The deadlines of a group that starts now for callers that wait until `end`.
    pub(super) fn new(start: Instant, end: Instant) -> Self {
        let before = |by| end.checked_sub(by).unwrap_or(start);
        Self { work: later(start, WORK).min(before(COMMIT_BEFORE)), answer: before(ANSWER_BEFORE), end }
    }

    /// The deadlines of a proof that begins now: readiness probes wait for less than two seconds.
    pub(super) fn of_proof(now: Instant) -> Self {
        let end = later(now, PROOF_WITHIN);
        Self { work: later(now, PROOF_WORK), answer: end, end }
    }

    /// The deadlines for determining the group's outcome: all the remaining time.
    const fn to_find_out(self) -> Self {
        Self { work: self.end, answer: self.end, end: self.end }
    }
}

impl DatabaseFailure {
    /// Whether one plan's rows are the cause, so that the others would succeed without it.
    pub(super) fn blames_one(&self) -> bool {
        use DatabaseErrorKind::{
            CheckViolation, ExclusionViolation, ForeignKeyViolation, NotNullViolation, RestrictViolation,
            UniqueViolation,
        };
        match self {
            Self::Query(QueryError::DatabaseError(kind, _)) => {
                !self.was_overtaken()
                    && matches!(
                        kind,
                        UniqueViolation
                            | CheckViolation
                            | ForeignKeyViolation
                            | NotNullViolation
                            | RestrictViolation
                            | ExclusionViolation
                    )
            }
            Self::Query(QueryError::SerializationError(_) | QueryError::DeserializationError(_))
            | Self::Corrupt(_) => true,
            _ => false,
        }
    }

    /// Whether another server has applied the same operation or key meanwhile: the next attempt finds it.
    fn was_overtaken(&self) -> bool {
        self.violated().is_some_and(|key| ["operations_pkey", "idempotency_keys_pkey"].contains(&key))
    }

    /// Whether an entity that a plan opens exists: another server may have applied the same operation
    /// meanwhile, since entities are added before their operations. If the next attempt does not find the
    /// operation, the plan is at fault.
    fn may_be_overtaken(&self) -> bool {
        self.violated().is_some_and(|key| {
            LockedTable::in_lock_order()
                .filter_map(|table| key.strip_prefix(table.name))
                .any(|key| ["_pkey", "_reference_key"].contains(&key))
        })
    }

    /// The unique constraint that a row violates.
    fn violated(&self) -> Option<&str> {
        match self {
            Self::Query(QueryError::DatabaseError(DatabaseErrorKind::UniqueViolation, info)) => {
                info.constraint_name()
            }
            _ => None,
        }
    }

    /// Whether the database refused what every plan does, so that it would refuse further plans as well.
    pub(super) fn refuses_plans(&self) -> bool {
        match self {
            Self::Query(_) => !self.lost_connection() && !self.blames_one(),
            Self::EndUnknown(cause) => cause.refuses_plans(),
            _ => false,
        }
    }

    /// Whether a retry of the same group may succeed. Diesel does not distinguish deadlocks from other
    /// errors, so every statement that failed for a reason other than its rows is retried.
    fn may_pass(&self) -> bool {
        matches!(self, Self::Query(_)) && !self.blames_one()
    }
}

/// The failure of an attempt.
enum Failed {
    /// Nothing was committed.
    Before(DatabaseFailure),
    /// COMMIT may have been sent, and its reply is lost: these operations may be applied.
    OutcomeUnknown(HashSet<OperationId>, DatabaseFailure),
}

impl<F: Into<DatabaseFailure>> From<F> for Failed {
    fn from(failure: F) -> Self {
        Self::Before(failure.into())
    }
}

/// What the committers of a writer share.
#[derive(Default)]
pub(super) struct Shared {
    /// Notified when the database has replied to a part of a group's work before its commit.
    pub(super) progress: Notify,
    /// The backends with an unanswered COMMIT, which PostgreSQL keeps until a synchronous standby answers,
    /// even if their client is gone.
    unanswered: Mutex<Vec<i32>>,
}

impl Shared {
    fn unanswered(&self) -> MutexGuard<'_, Vec<i32>> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Commits groups, one after the other, on a connection of its own.
pub(super) struct PostgresCommitter {
    connector: Connector,
    currency: Currency,
    shared: Arc<Shared>,
    /// The connection while it is idle.
    idle: Option<AdmittedConnection>,
    committed_at: Option<Instant>,
    /// The timeline that a commit on the connection has noted.
    noted: Option<u32>,
    /// The statements that are prepared on the connection.
    prepared: PreparedWrites,
}

impl PostgresCommitter {
    pub(super) fn new(connector: Connector, currency: Currency, shared: Arc<Shared>) -> Self {
        Self {
            connector,
            currency,
            shared,
            idle: None,
            committed_at: None,
            noted: None,
            prepared: PreparedWrites::default(),
        }
    }

    /// Proves that a commit can be made now, unless one was made recently.
    pub(super) async fn prove(&mut self, limits: &Limits) -> Result<(), DatabaseFailure> {
        if self.committed_at.is_some_and(|at| at.elapsed() < PROVEN_FOR) {
            return Ok(());
        }
        let mut attempt = 1_u32;
        loop {
            let failure = match self.transaction(&[], true, &mut HashSet::new(), limits).await {
                Ok(_) => return Ok(()),
                // No retry, since PostgreSQL keeps each commit that waits for a standby.
                Err(Failed::OutcomeUnknown(_, failure)) => return Err(failure),
                Err(Failed::Before(failure)) => failure,
            };
            if !failure.may_pass() || attempt >= ATTEMPTS {
                return Err(failure);
            }
            attempt = attempt.saturating_add(1);
        }
    }

    /// Commits a group, and retries failures that may be temporary.
    ///
    /// If the reply to a commit is lost, the group runs again on a new connection. Operations are permanent,
    /// so each plan is then either found or applied, and the locks of the lost transaction make the second
    /// run wait for its end.
    pub(super) async fn commit(
        &mut self,
        plans: &[&Plan],
        limits: &Limits,
    ) -> Result<Answers, DatabaseFailure> {
        let mut attempt = 1_u32;
        let mut limits = *limits;
        let mut unknown: Option<HashSet<OperationId>> = None;
        loop {
            let mut own = unknown.clone().unwrap_or_default();
            // After a lost commit, rows may exist on this node alone: another write waits until all earlier
            // ones are replicated.
            let prove = unknown.is_some();
            let failure = match self.transaction(plans, prove, &mut own, &limits).await {
                Ok(answers) => return Ok(answers),
                Err(Failed::Before(failure)) => failure,
                Err(Failed::OutcomeUnknown(operations, failure)) => {
                    limits = limits.to_find_out();
                    unknown.get_or_insert_default().extend(operations);
                    failure
                }
            };
            let again = match &unknown {
                Some(_) => !failure.blames_one(),
                None if failure.may_be_overtaken() => attempt == 1,
                None => failure.may_pass() && attempt < ATTEMPTS,
            };
            let again = again && Instant::now() < limits.work;
            tracing::warn!(error = %failure, plans = plans.len(), attempt, again, "a group of plans failed");
            if !again {
                return Err(match unknown {
                    Some(_) => DatabaseFailure::EndUnknown(Box::new(failure)),
                    None => failure,
                });
            }
            if unknown.is_some() {
                sleep(ASK_AGAIN).await;
            }
            attempt = attempt.saturating_add(1);
        }
    }

    /// Runs a group once. `own` are the operations that an earlier attempt may have applied.
    async fn transaction(
        &mut self,
        plans: &[&Plan],
        prove: bool,
        own: &mut HashSet<OperationId>,
        limits: &Limits,
    ) -> Result<Answers, Failed> {
        let start = Instant::now();
        let connection = self.connection(limits.work).await?;
        let finds_out = prove && !plans.is_empty();
        if !finds_out {
            self.ensure_commits_are_answered(&connection, plans, limits).await?;
        }
        let feature_level = self.connector.cluster().feature_level();
        // Servers of an earlier version take a gap for lost operations.
        let may_leave_gap = feature_level.leaves_position_gaps();
        let timeline = connection.timeline().filter(|now| may_leave_gap && self.noted != Some(*now));
        let context = GroupContext {
            discards_plans: connection.plans_are_due(),
            currency: &self.currency,
            feature_level,
            progress: &self.shared.progress,
        };
        let decided = timeout_at(limits.work, decide(&connection, plans, prove, own, context)).await;
        let DecidedGroup { answers, writes } = match decided.unwrap_or(Err(DatabaseFailure::Deadline)) {
            Ok(decided) => decided,
            Err(failure) => return Err(self.abandon(connection, failure, limits).await),
        };
        if writes.is_empty() && !prove {
            self.roll_back(connection, limits.answer).await;
            return Ok(answers);
        }
        let notes_timeline = timeline.is_some() && !writes.is_empty();
        match self.write_and_commit(&connection, plans, writes, timeline, limits).await {
            Ok(()) => self.idle = Some(connection),
            Err(WritesFailure::Write(failure)) => {
                return Err(self.abandon(connection, failure, limits).await);
            }
            Err(WritesFailure::Commit(failure)) => {
                self.shared.unanswered().push(connection.backend());
                let fresh =
                    plans.iter().zip(&answers).filter(|(_, answer)| matches!(answer, Ok(Applied::Fresh(_))));
                return Err(Failed::OutcomeUnknown(
                    fresh.map(|(plan, _)| plan.metadata().operation).collect(),
                    failure,
                ));
            }
        }
        crash_points::at(CrashPoint::AfterCommit, plans.iter().copied());
        self.committed_at = Some(Instant::now());
        if notes_timeline {
            self.noted = timeline;
        }
        if !plans.is_empty() {
            telemetry::committed(plans.len(), start.elapsed());
        }
        Ok(answers)
    }

    /// Writes the rows and commits: in one flight if every statement is prepared, otherwise one after the other.
    async fn write_and_commit(
        &mut self,
        mut connection: &AsyncPgConnection,
        plans: &[&Plan],
        writes: WriteSet,
        timeline: Option<u32>,
        limits: &Limits,
    ) -> Result<(), WritesFailure> {
        if !writes.is_empty() {
            let writes = Writes::of(writes, timeline, connection);
            if timeline.is_none() && writes.are_prepared(&self.prepared) && Instant::now() < limits.work {
                crash_points::at(CrashPoint::BeforeCommit, plans.iter().copied());
                let done = timeout_at(limits.answer, writes.execute_and_commit(connection)).await;
                return done.unwrap_or(Err(WritesFailure::Commit(DatabaseFailure::Deadline)));
            }
            let executed = timeout_at(limits.work, writes.execute(&mut self.prepared)).await;
            executed.unwrap_or(Err(DatabaseFailure::Deadline)).map_err(WritesFailure::Write)?;
        }
        self.shared.progress.notify_one();
        crash_points::at(CrashPoint::AfterWrite, plans.iter().copied());
        crash_points::at(CrashPoint::BeforeCommit, plans.iter().copied());
        let committed = timeout_at(limits.answer, connection.batch_execute("COMMIT")).await;
        let committed = committed.map_err(|_| DatabaseFailure::Deadline).and_then(|done| Ok(done?));
        committed.map_err(WritesFailure::Commit)
    }

    /// Ends a transaction that was not committed.
    async fn abandon(
        &mut self,
        connection: AdmittedConnection,
        failure: DatabaseFailure,
        limits: &Limits,
    ) -> Failed {
        if failure.is_read_only() {
            self.connector.cluster().renew_connections();
        }
        if failure.keeps_connection() {
            self.roll_back(connection, limits.answer).await;
        }
        Failed::Before(failure)
    }

    /// Refuses to send COMMIT while too many wait for a standby: each occupies a backend of the server, until
    /// no connection is left.
    async fn ensure_commits_are_answered(
        &self,
        connection: &AsyncPgConnection,
        plans: &[&Plan],
        limits: &Limits,
    ) -> Result<(), DatabaseFailure> {
        let most = if plans.is_empty() { 1 } else { MAX_UNANSWERED };
        let asked = self.shared.unanswered().clone();
        if asked.len() < most {
            return Ok(());
        }
        let waiting = still_committing(connection, &asked);
        let waiting = timeout_at(limits.work, waiting).await.unwrap_or(Err(DatabaseFailure::Deadline))?;
        let mut unanswered = self.shared.unanswered();
        unanswered.retain(|backend| waiting.contains(backend) || !asked.contains(backend));
        if unanswered.len() < most { Ok(()) } else { Err(DatabaseFailure::StandbySilent) }
    }

    /// Returns the connection of the previous group if it is still usable, or a new one.
    async fn connection(&mut self, until: Instant) -> Result<AdmittedConnection, DatabaseFailure> {
        match self.idle.take().filter(|idle| idle.is_current(self.connector.cluster())) {
            Some(connection) => Ok(connection),
            None => {
                // Another connection can lead to a node that lacks the commit with the note.
                self.noted = None;
                self.prepared = PreparedWrites::default();
                let opened = timeout_at(until, self.connector.open()).await;
                Ok(opened.map_err(|_| DatabaseFailure::Deadline)??)
            }
        }
    }

    /// Rolls a transaction back; the connection is kept if the server confirms it.
    async fn roll_back(&mut self, mut connection: AdmittedConnection, until: Instant) {
        if let Ok(Ok(())) = timeout_at(until, connection.batch_execute("ROLLBACK")).await {
            self.idle = Some(connection);
        }
    }
}

/// Returns those of the backends that wait for a synchronous standby.
async fn still_committing(
    mut connection: &AsyncPgConnection,
    backends: &[i32],
) -> Result<Vec<i32>, DatabaseFailure> {
    let waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid = ANY(";
    Ok(diesel::dsl::sql::<Integer>(waiting)
        .bind::<Array<Integer>, _>(backends)
        .sql(")")
        .load(&mut connection)
        .await?)
}
