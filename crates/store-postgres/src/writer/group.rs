//! One group in one transaction, as often as it takes, and how it ended where nobody said so.

use std::collections::HashSet;
use std::time::Duration;

use cuepoint_domain::ledger::{self, Book, KeyScope, Plan, Rejection, Verdict};
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Applied;
use diesel::result::{DatabaseErrorKind, Error as QueryError};
use diesel::sql_types::{Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use futures_util::future::try_join3;
use tokio::time::{Instant, sleep, timeout_at};

use super::changes::Written;
use super::crash::{self, Step};
use super::load::Named;
use super::{COMMIT_BEFORE, HEARD_BEFORE, WORK, later};
use crate::connection::Connector;
use crate::database::Failure;
use crate::telemetry;

/// How often a group is tried: a deadlock or a lost connection often passes.
const ATTEMPTS: u32 = 3;
/// How long a transaction whose end is unknown is left alone before it is asked about again.
const ASK_AGAIN: Duration = Duration::from_millis(50);

/// Until when each part of a group's work must be done.
pub(super) struct Limits {
    /// No commit is asked for afterwards.
    work: Instant,
    /// The answer to it is not waited for longer.
    heard: Instant,
    /// How it ended is not asked any more.
    end: Instant,
}

impl Limits {
    /// The limits of a group that starts now and whose callers wait until `end`.
    pub(super) fn new(start: Instant, end: Instant) -> Self {
        let before = |by| end.checked_sub(by).unwrap_or(start);
        Self { work: later(start, WORK).min(before(COMMIT_BEFORE)), heard: before(HEARD_BEFORE), end }
    }
}

impl Failure {
    /// Whether one plan's rows are the cause, so that the others would go through without it.
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
            Self::Query(QueryError::SerializationError(_)) | Self::Corrupt(_) => true,
            _ => false,
        }
    }

    /// Whether another server has applied the same operation or key meanwhile: the next attempt finds it.
    fn was_overtaken(&self) -> bool {
        match self {
            Self::Query(QueryError::DatabaseError(DatabaseErrorKind::UniqueViolation, info)) => {
                matches!(info.constraint_name(), Some("operations_pkey" | "idempotency_keys_pkey"))
            }
            _ => false,
        }
    }

    /// Whether the same group may go through when it is tried again. Diesel tells a deadlock from no other error,
    /// so every statement that failed for another reason than its rows is tried again.
    fn may_pass(&self) -> bool {
        matches!(self, Self::Query(_) | Self::RolledBack) && !self.blames_one()
    }
}

/// What each plan of a group came to.
type Answers = Vec<Result<Applied, Rejection>>;

/// A group that is ready to be committed.
struct Prepared {
    answers: Answers,
    /// The transaction's id, where it has written anything.
    transaction: Option<String>,
}

/// Commits groups, one after the other, on a connection of its own.
pub(super) struct Committer {
    connector: Connector,
    currency: Currency,
    /// The connection, with nothing under way on it.
    idle: Option<AsyncPgConnection>,
}

impl Committer {
    pub(super) fn new(connector: Connector, currency: Currency) -> Self {
        Self { connector, currency, idle: None }
    }

    /// Commits a group, trying again what may pass.
    pub(super) async fn commit(&mut self, plans: &[&Plan], limits: &Limits) -> Result<Answers, Failure> {
        let mut attempt = 1_u32;
        loop {
            let failure = match self.transaction(plans, limits).await {
                Ok(answers) => return Ok(answers),
                Err(failure) => failure,
            };
            let again = failure.may_pass() && attempt < ATTEMPTS && Instant::now() < limits.work;
            tracing::warn!(error = %failure, plans = plans.len(), attempt, again, "a group of plans failed");
            if !again {
                return Err(failure);
            }
            attempt = attempt.saturating_add(1);
        }
    }

    async fn transaction(&mut self, plans: &[&Plan], limits: &Limits) -> Result<Answers, Failure> {
        let start = Instant::now();
        let mut connection = self.connection(limits.work).await?;
        let working = prepare(&connection, plans, &self.currency);
        let prepared = timeout_at(limits.work, working).await.unwrap_or(Err(Failure::Deadline));
        let Prepared { answers, transaction } = match prepared {
            Ok(prepared) => prepared,
            Err(failure) => {
                if !failure.lost_connection() {
                    self.roll_back(connection, limits.heard).await;
                }
                return Err(failure);
            }
        };
        let Some(transaction) = transaction else {
            self.roll_back(connection, limits.heard).await;
            return Ok(answers);
        };
        crash::at(Step::BeforeCommit, plans.iter().copied());
        match timeout_at(limits.heard, connection.batch_execute("COMMIT")).await {
            Ok(Ok(())) => self.idle = Some(connection),
            lost => {
                tracing::warn!(?lost, transaction, "the answer to COMMIT was lost");
                drop(connection);
                self.find_out(&transaction, limits.end).await?;
            }
        }
        crash::at(Step::AfterCommit, plans.iter().copied());
        telemetry::committed(plans.len(), start.elapsed());
        Ok(answers)
    }

    /// The connection that is left from the group before, or a new one.
    async fn connection(&mut self, until: Instant) -> Result<AsyncPgConnection, Failure> {
        match self.idle.take() {
            Some(connection) => Ok(connection),
            None => {
                Ok(timeout_at(until, self.connector.connect()).await.map_err(|_| Failure::Deadline)??)
            }
        }
    }

    /// Ends a transaction without a trace; the connection is kept if that is heard of.
    async fn roll_back(&mut self, mut connection: AsyncPgConnection, until: Instant) {
        if let Ok(Ok(())) = timeout_at(until, connection.batch_execute("ROLLBACK")).await {
            self.idle = Some(connection);
        }
    }

    /// Finds out how a transaction ended, by asking the server on a new connection.
    async fn find_out(&mut self, transaction: &str, until: Instant) -> Result<(), Failure> {
        let asking = async {
            let mut connection = self.connector.connect().await?;
            loop {
                let status: Option<String> = diesel::dsl::sql::<Nullable<Text>>("SELECT pg_xact_status(")
                    .bind::<Text, _>(transaction)
                    .sql("::xid8)")
                    .get_result(&mut connection)
                    .await?;
                match status.as_deref() {
                    Some("committed") => return Ok(connection),
                    Some("aborted") => return Err(Failure::RolledBack),
                    Some("in progress") => sleep(ASK_AGAIN).await,
                    _ => return Err(Failure::EndUnknown),
                }
            }
        };
        match timeout_at(until, asking).await {
            Ok(Ok(connection)) => {
                self.idle = Some(connection);
                Ok(())
            }
            Ok(Err(Failure::RolledBack)) => Err(Failure::RolledBack),
            Ok(Err(_)) | Err(_) => Err(Failure::EndUnknown),
        }
    }
}

/// Locks, reads, judges and writes: everything but the commit.
///
/// The locks go out behind `BEGIN`, and the reads behind the locks, without waiting for an answer in between: the server
/// executes what comes on one connection one after the other, and each statement sees what was committed when it began.
/// Where one fails, so does whatever comes behind it.
async fn prepare(
    connection: &AsyncPgConnection,
    plans: &[&Plan],
    currency: &Currency,
) -> Result<Prepared, Failure> {
    crash::at(Step::BeforeLock, plans.iter().copied());
    let named = Named::by(plans.iter().copied());
    let begin = async { Ok((&mut &*connection).batch_execute("BEGIN").await?) };
    let lock = async {
        let locked = named.lock(connection).await?;
        crash::at(Step::AfterLock, plans.iter().copied());
        Ok(locked)
    };
    // Each is polled, and so sent, in this order.
    let ((), locked, read) = try_join3(begin, lock, named.read(connection)).await?;
    crash::at(Step::AfterRead, plans.iter().copied());
    let mut book = Book::default();
    locked.enter(&mut book, currency)?;
    read.enter(&mut book, currency)?;
    let mut stored_keys: HashSet<KeyScope> = book.keys.keys().copied().collect();
    let mut written = Written::default();
    let mut answers = Vec::with_capacity(plans.len());
    for plan in plans {
        answers.push(match ledger::apply(&mut book, plan) {
            Ok(Verdict::Fresh(receipt, changes)) => {
                let scope = changes.key.as_ref().map(|record| record.key.scope);
                written.add(&changes, scope.filter(|scope| stored_keys.remove(scope)), currency)?;
                Ok(Applied::Fresh(receipt))
            }
            Ok(Verdict::Replayed(receipt)) => Ok(Applied::Replayed(receipt)),
            Err(rejection) => Err(rejection),
        });
    }
    let transaction = written.write(connection).await?;
    crash::at(Step::AfterWrite, plans.iter().copied());
    Ok(Prepared { answers, transaction })
}
