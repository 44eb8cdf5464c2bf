//! The writer: plans and other changes wait in a bounded queue, and each transaction takes all that wait, up to
//! a limit.
//!
//! A dedicated thread owns the only connection that writes, so that no statement of this process waits for a
//! lock. It applies the plans of a group with [`cuepoint_store_sql::fold`], runs each other change in a savepoint
//! of its own, and commits once for all: with one sync of the disk. No job is answered before its commit.

mod group;
mod job;
mod load;
mod write;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Context;
use cuepoint_domain::ledger::Plan;
use cuepoint_domain::ports::{ApplyError, Unavailable};
use cuepoint_store_sql::crash_points::{self, CrashPoint};
use diesel::connection::SimpleConnection;
use diesel::{RunQueryDsl, SqliteConnection};
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::connect::failure::SqliteFailure;
use group::GroupCommitter;
pub(crate) use group::WriterSetup;
pub(crate) use job::Repetition;
use job::{Answer, Change, ChangeJob, Job, PlanJob};

/// The maximum number of jobs per transaction.
const GROUP: usize = 64;
/// The maximum number of waiting jobs; further callers wait for a place in the queue.
const QUEUE: usize = 1_024;
/// The maximum wait of a plan for its transaction; then it is not applied.
const WAIT: Duration = Duration::from_millis(2_000);
/// Deadline of the reply to a job, from its submission.
const ANSWER: Duration = Duration::from_millis(4_500);
/// Time for which a commit proves that the next one can be made.
const PROVEN_FOR: Duration = Duration::from_secs(1);
/// Time limit of the proof that plans can be committed.
const PROOF_WITHIN: Duration = Duration::from_millis(1_700);

/// The time of the last commit.
type Committed = Arc<Mutex<Option<Instant>>>;

/// A handle to the writer.
pub(crate) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Job>>>,
    thread: tokio::sync::Mutex<Option<JoinHandle<()>>>,
    committed: Committed,
}

impl Writer {
    /// Starts the writer on its own thread, over a new connection.
    ///
    /// # Errors
    /// When the database cannot be opened, or the thread cannot be started.
    pub(crate) fn start(setup: WriterSetup) -> anyhow::Result<Self> {
        let committer = GroupCommitter::open(setup)?;
        let (queue, waiting) = mpsc::channel(QUEUE);
        let committed = Committed::default();
        let thread = thread::Builder::new().name("writer".to_owned()).spawn({
            let committed = Arc::clone(&committed);
            move || run(waiting, committer, &committed)
        });
        let thread = thread.context("the writer's thread cannot be started")?;
        Ok(Self { queue: Mutex::new(Some(queue)), thread: tokio::sync::Mutex::new(Some(thread)), committed })
    }

    /// Applies a plan, within [`ANSWER`].
    pub(crate) async fn apply(&self, plan: Plan) -> Answer {
        let (caller, answer) = oneshot::channel();
        let job = Job::Plan(Box::new(PlanJob { plan, submitted: Instant::now(), caller }));
        let waiting = timeout(ANSWER, async {
            self.submit(job).await?;
            answer.await.map_err(|_| SqliteFailure::Closed)
        });
        let answer: Result<Answer, SqliteFailure> = waiting.await.unwrap_or(Err(SqliteFailure::Deadline));
        answer.map_err(Unavailable::from)?
    }

    /// Runs a change in the next transaction. Its work only uses the connection, takes milliseconds, and may run
    /// a second time if a commit fails and it is [`Repetition::Repeatable`]. It runs to its end even if the
    /// caller drops the future after it was submitted.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        repetition: Repetition,
        work: impl FnMut(&mut SqliteConnection) -> Result<T, SqliteFailure> + Send + 'static,
    ) -> Result<T, SqliteFailure> {
        let (caller, result) = oneshot::channel();
        let change = Job::Change(Box::new(Change { work, repetition, result: None, caller }));
        let waiting = timeout(ANSWER, async {
            self.submit(change).await?;
            result.await.map_err(|_| SqliteFailure::Closed)?
        });
        waiting.await.unwrap_or(Err(SqliteFailure::Deadline))
    }

    async fn submit(&self, job: Job) -> Result<(), SqliteFailure> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let sent = queue.ok_or(SqliteFailure::Closed)?.send(job).await;
        sent.map_err(|_| SqliteFailure::Closed)
    }

    /// Proves that plans can be committed now by a write and a commit, unless one was committed recently.
    ///
    /// # Errors
    /// [`SqliteFailure`] when they cannot.
    pub(crate) async fn prove(&self) -> Result<(), SqliteFailure> {
        let committed = *self.committed.lock().unwrap_or_else(PoisonError::into_inner);
        if committed.is_some_and(|at| at.elapsed() < PROVEN_FOR) {
            return Ok(());
        }
        let write = |connection: &mut SqliteConnection| {
            diesel::sql_query("UPDATE deployment SET created_at = created_at").execute(connection)?;
            Ok(())
        };
        let proof = self.change(Repetition::Repeatable, write);
        timeout(PROOF_WITHIN, proof).await.unwrap_or(Err(SqliteFailure::Deadline))
    }

    /// Accepts no more jobs, and returns when the waiting ones are answered.
    pub(crate) async fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().await.take()
            && !matches!(spawn_blocking(|| thread.join()).await, Ok(Ok(())))
        {
            tracing::error!("the writer has failed");
        }
        *self.committed.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Commits groups until the queue is closed and empty.
fn run(mut waiting: mpsc::Receiver<Job>, mut committer: GroupCommitter, committed: &Committed) {
    let mut jobs = Vec::new();
    while waiting.blocking_recv_many(&mut jobs, GROUP) > 0 {
        let group = std::mem::take(&mut jobs);
        // A panic drops the jobs of its group, which answers them, and the connection.
        let done = catch_unwind(AssertUnwindSafe(|| commit(&mut committer, group, committed)));
        if done.is_err() {
            tracing::error!("a group has failed");
            committer.disconnect();
        }
        committer.checkpoint();
    }
    if let Ok(connection) = committer.connect() {
        let _ = connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)");
    }
}

/// Commits a group and answers its jobs.
fn commit(committer: &mut GroupCommitter, group: Vec<Job>, committed: &Committed) {
    let (mut jobs, mut changes): (Vec<PlanJob>, Vec<Box<dyn ChangeJob>>) = (Vec::new(), Vec::new());
    for job in group {
        match job {
            Job::Plan(job) if job.submitted.elapsed() < WAIT => jobs.push(*job),
            Job::Plan(job) => job.failed("the plan waited too long and was not applied"),
            Job::Change(change) if !change.is_abandoned() => changes.push(change),
            Job::Change(_) => {}
        }
    }
    if jobs.is_empty() && changes.is_empty() {
        return;
    }
    let plans: Vec<&Plan> = jobs.iter().map(|job| &job.plan).collect();
    let done = committer.commit(&plans, &mut changes);
    crash_points::at(CrashPoint::BeforeAnswer, plans);
    match done {
        Ok(verdicts) => {
            *committed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            for (job, verdict) in jobs.into_iter().zip(verdicts) {
                match verdict {
                    Ok(answer) => job.answer(answer.map_err(ApplyError::Rejected)),
                    Err(failure) => job.failed(failure.to_string()),
                }
            }
            changes.into_iter().for_each(|change| change.answer(None));
        }
        Err(failure) => {
            tracing::error!(error = %failure, plans = jobs.len(), changes = changes.len(), "a group failed");
            let failure = failure.to_string();
            jobs.into_iter().for_each(|job| job.failed(failure.as_str()));
            changes.into_iter().for_each(|change| change.answer(Some(&failure)));
        }
    }
}
