//! The writer: plans and other changes wait in a bounded queue, and each transaction takes all that wait, up
//! to a limit.
//!
//! A dedicated thread owns the only connection that writes, so that no statement of this process waits for a
//! lock. It applies the plans of a group with [`cuepoint_store_sql::fold`], runs each other change in a
//! savepoint of its own, and commits once for all: with one sync of the disk. No job is answered before its
//! commit.

mod checkpoint;
mod checkpoint_schedule;
mod connection;
mod copier;
mod group;
mod job;
mod load;
mod readiness;
#[cfg(test)]
mod tests;
mod thread;
mod write;

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use anyhow::Context;
use cuepoint_domain::operation::Plan;
use cuepoint_domain::ports::Unavailable;
use cuepoint_store_sql::answers::{Caller, PlanAnswer};
use cuepoint_store_sql::limits::{ANSWER, PROOF_WITHIN, QUEUE, WAIT};
use diesel::SqliteConnection;
use tokio::runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::connect::application;
use crate::connect::failure::SqliteFailure;
use group::SqliteCommitter;
pub(crate) use group::WriterSetup;
pub(crate) use job::Repetition;
use job::{Change, PlanJob, WriterJob};
use readiness::WriterReadiness;

/// A handle to the writer.
pub(crate) struct SqliteWriter {
    /// `None` once closed.
    queue: Mutex<Option<mpsc::Sender<WriterJob>>>,
    thread: tokio::sync::Mutex<Option<JoinHandle<()>>>,
    readiness: WriterReadiness,
}

impl SqliteWriter {
    /// Starts the writer on its own thread, over a new connection.
    ///
    /// # Errors
    /// When the database cannot be opened, or the thread cannot be started.
    pub(crate) fn start(setup: WriterSetup) -> anyhow::Result<Self> {
        let committer = SqliteCommitter::open(setup)?;
        let (queue, waiting) = mpsc::channel(QUEUE);
        let readiness = WriterReadiness::default();
        let runtime = runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.context("the writer's runtime cannot be created")?;
        let thread = Builder::new().name("writer".to_owned()).spawn({
            let readiness = readiness.clone();
            move || thread::run(waiting, committer, &readiness, &runtime)
        });
        let thread = thread.context("the writer's thread cannot be started")?;
        Ok(Self { queue: Mutex::new(Some(queue)), thread: tokio::sync::Mutex::new(Some(thread)), readiness })
    }

    /// The writer of a store that is only read: every change fails.
    pub(crate) fn absent() -> Self {
        Self {
            queue: Mutex::new(None),
            thread: tokio::sync::Mutex::new(None),
            readiness: WriterReadiness::default(),
        }
    }

    /// Applies a plan, within [`ANSWER`].
    pub(crate) async fn apply(&self, plan: Plan) -> PlanAnswer {
        let (caller, answer) = Caller::new();
        let job = WriterJob::Plan(Box::new(PlanJob { plan, submitted: Instant::now(), caller }));
        let waiting = timeout(ANSWER, async {
            self.submit(job).await?;
            answer.await.map_err(|_| SqliteFailure::Closed)
        });
        let answer: Result<PlanAnswer, SqliteFailure> = waiting.await.unwrap_or(Err(SqliteFailure::Deadline));
        answer.map_err(Unavailable::from)?
    }

    /// Runs a change in the next transaction, within [`ANSWER`]. Its work only uses the connection, takes
    /// milliseconds, and may run a second time if a commit fails and it is [`Repetition::Repeatable`]. It is
    /// not applied if the caller drops the future while it waits in the queue.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        repetition: Repetition,
        work: impl FnMut(&mut SqliteConnection) -> Result<T, SqliteFailure> + Send + 'static,
    ) -> Result<T, SqliteFailure> {
        let (caller, result) = oneshot::channel();
        let change = Box::new(Change { work, repetition, result: None, caller });
        let waiting = timeout(ANSWER, async {
            self.submit(WriterJob::Change(Instant::now(), change)).await?;
            result.await.map_err(|_| SqliteFailure::Closed)?
        });
        waiting.await.unwrap_or(Err(SqliteFailure::Deadline))
    }

    async fn submit(&self, job: WriterJob) -> Result<(), SqliteFailure> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let queue = queue.ok_or(SqliteFailure::Closed)?;
        match timeout(WAIT, queue.send(job)).await {
            Ok(sent) => sent.map_err(|_| SqliteFailure::Closed),
            Err(_) => Err(SqliteFailure::QueueFull),
        }
    }

    /// Proves that plans can be committed now by a write and a commit, unless one was committed recently.
    ///
    /// # Errors
    /// [`SqliteFailure`] when they cannot.
    pub(crate) async fn prove(&self) -> Result<(), SqliteFailure> {
        if self.readiness.is_refused() {
            return Err(SqliteFailure::Group("the database refused the last plans".to_owned()));
        }
        if self.readiness.is_proven() {
            return Ok(());
        }
        let write = |connection: &mut SqliteConnection| Ok(application::mark(connection)?);
        let proof = self.change(Repetition::Repeatable, write);
        timeout(PROOF_WITHIN, proof).await.unwrap_or(Err(SqliteFailure::Deadline))?;
        self.readiness.proven();
        Ok(())
    }

    /// Accepts no more jobs, and returns when the waiting ones are answered.
    pub(crate) async fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().await.take()
            && !matches!(spawn_blocking(|| thread.join()).await, Ok(Ok(())))
        {
            tracing::error!("the writer has failed");
        }
        self.readiness.forget();
    }
}
