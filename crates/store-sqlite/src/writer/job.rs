//! The jobs of the writer.

use std::time::Instant;

use cuepoint_domain::operation::Plan;
use cuepoint_store_sql::answers::Caller;
use diesel::SqliteConnection;
use tokio::sync::oneshot;

use crate::connect::failure::SqliteFailure;

/// A plan and the channel of its result.
pub(super) struct PlanJob {
    pub(super) plan: Plan,
    pub(super) submitted: Instant,
    pub(super) caller: Caller,
}

/// What a change does if the outcome of its commit is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repetition {
    /// It runs once more: it recognises its own rows.
    Repeatable,
    /// It fails.
    Once,
}

/// A change other than a plan, as the writer sees it.
pub(super) trait ChangeJob: Send {
    /// Whether its caller no longer waits.
    fn is_abandoned(&self) -> bool;
    /// Whether it may run again after a commit with an unknown outcome.
    fn repetition(&self) -> Repetition;
    /// Runs it in a savepoint of its own, and stores its result until the commit.
    ///
    /// # Errors
    /// Only when the whole transaction has failed.
    fn run(&mut self, connection: &mut SqliteConnection) -> Result<(), SqliteFailure>;
    /// Replaces the stored result: the commit may have applied it.
    fn outcome_unknown(&mut self, failure: &str);
    /// Sends the stored result, or the failure of the transaction.
    fn answer(self: Box<Self>, failure: Option<&str>);
}

/// A change with the channel of its result.
pub(super) struct Change<Work, T> {
    pub(super) work: Work,
    pub(super) repetition: Repetition,
    pub(super) result: Option<Result<T, SqliteFailure>>,
    pub(super) caller: oneshot::Sender<Result<T, SqliteFailure>>,
}

impl<Work, T> ChangeJob for Change<Work, T>
where
    Work: FnMut(&mut SqliteConnection) -> Result<T, SqliteFailure> + Send,
    T: Send,
{
    fn is_abandoned(&self) -> bool {
        self.caller.is_closed()
    }

    fn repetition(&self) -> Repetition {
        self.repetition
    }

    fn run(&mut self, connection: &mut SqliteConnection) -> Result<(), SqliteFailure> {
        use diesel::Connection;

        let result = connection.transaction(|connection| (self.work)(connection));
        match result {
            Err(failure) if !failure.blames_one() => Err(failure),
            result => {
                self.result = Some(result);
                Ok(())
            }
        }
    }

    fn outcome_unknown(&mut self, failure: &str) {
        self.result = Some(Err(SqliteFailure::Group(failure.to_owned())));
    }

    fn answer(self: Box<Self>, failure: Option<&str>) {
        let result = match (failure, self.result) {
            (Some(failure), _) => Err(SqliteFailure::Group(failure.to_owned())),
            (None, Some(result)) => result,
            (None, None) => Err(SqliteFailure::Deadline),
        };
        let _ = self.caller.send(result);
    }
}

/// A job in the queue of the writer.
pub(super) enum WriterJob {
    Plan(Box<PlanJob>),
    /// A change, with the time of its submission.
    Change(Instant, Box<dyn ChangeJob>),
}
