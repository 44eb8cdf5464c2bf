//! The writer: plans wait in a bounded queue, and each transaction takes all that wait. Two transactions run at most.
//!
//! | step | round trips |
//! |---|---|
//! | `BEGIN`; lock the named rows in the order of [`cuepoint_store_sql::LockedTable`]; read the rest of the lock set | 1 |
//! | [`cuepoint_store_sql::fold`] | 0 |
//! | write each table that changed, `COMMIT` | 1, or 2 until the statements are prepared |
//!
//! The number of plans does not change the number of round trips. No plan is answered before its commit is
//! known.
//!
//! The writer and its connections have a dedicated thread: a reply of the database costs no thread switch, a
//! cancelled caller has no effect, and readers never delay plans.

mod conditions;
mod decide;
mod group;
mod in_flight;
mod load;
mod operations;
mod proof;
mod second_group;
mod statements;
#[cfg(feature = "testing")]
mod testing;
mod write;

use std::slice;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::Plan;
use cuepoint_domain::ports::{Applied, ApplyError, Unavailable};
use cuepoint_store_sql::answers::{Caller, PlanAnswer, answer_all, failed};
use cuepoint_store_sql::crash_points::{self, CrashPoint};
use cuepoint_store_sql::limits::{ANSWER, QUEUE, UNREADY_FOR, WAIT};
use tokio::runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, timeout_at};

use crate::connect::connection::Connector;
use crate::connect::failure::DatabaseFailure;
use crate::connect::notifications::Commits;
use group::{Limits, PostgresCommitter};
pub(crate) use statements::Insert;
#[cfg(feature = "seed")]
pub(crate) use statements::Update;
#[cfg(feature = "testing")]
pub(crate) use testing::tables_locked_by;
#[cfg(feature = "seed")]
pub(crate) use write::{PreparedWrites, Writes};

/// Latest points before the reply deadline at which COMMIT may be sent and its reply awaited.
const COMMIT_BEFORE: Duration = Duration::from_millis(1_500);
const ANSWER_BEFORE: Duration = Duration::from_millis(750);
/// The maximum duration of a group's work before its commit.
const WORK: Duration = Duration::from_millis(1_750);

/// A plan and the channel of its result.
struct Job {
    plan: Plan,
    submitted: Instant,
    caller: Caller,
}

/// The channel of a caller that waits for the proof that plans can be committed.
type Prover = oneshot::Sender<Result<(), Unavailable>>;

/// A handle to the writer.
pub(crate) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Job>>>,
    provers: mpsc::Sender<Prover>,
    thread: tokio::sync::Mutex<Option<JoinHandle<Result<(), JoinError>>>>,
    refused: Refused,
}

/// The time of the last refusal of plans by the database, if it has committed none since.
#[derive(Clone, Default)]
struct Refused(Arc<Mutex<Option<Instant>>>);

impl Refused {
    fn note(&self, at: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    fn is_recent(&self) -> bool {
        let at = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        at.is_some_and(|at| at.elapsed() < UNREADY_FOR)
    }
}

/// Where the outcomes of groups are recorded.
#[derive(Clone)]
struct Outcomes {
    refused: Refused,
    commits: Arc<Commits>,
}

impl Writer {
    /// Starts the writer on its own thread.
    pub(crate) fn start(
        connector: Connector,
        currency: Currency,
        commits: Arc<Commits>,
    ) -> anyhow::Result<Self> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let (provers, proving) = mpsc::channel(1);
        let refused = Refused::default();
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot create the writer's runtime")?;
        let thread = thread::Builder::new()
            .name("writer".to_owned())
            .spawn({
                let outcomes = Outcomes { refused: refused.clone(), commits };
                let new = move |shared: &Arc<_>| {
                    PostgresCommitter::new(connector.clone(), currency.clone(), Arc::clone(shared))
                };
                let groups = in_flight::run(waiting, proving, new, outcomes);
                // As a task, since each wake-up of the root future is a system call.
                move || runtime.block_on(runtime.spawn(groups))
            })
            .context("the writer's thread cannot be started")?;
        let (queue, thread) = (Mutex::new(Some(queue)), tokio::sync::Mutex::new(Some(thread)));
        Ok(Self { queue, provers, thread, refused })
    }

    /// Applies a plan, within [`ANSWER`].
    pub(crate) async fn apply(&self, plan: Plan) -> PlanAnswer {
        let submitted = Instant::now();
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let queue = queue.ok_or_else(|| Unavailable::new("the store is closed"))?;
        let (caller, answer) = Caller::new();
        match timeout_at(later(submitted, WAIT), queue.send(Job { plan, submitted, caller })).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(Unavailable::new("the writer has stopped").into()),
            Err(_) => return Err(Unavailable::new("the queue of plans is full").into()),
        }
        drop(queue);
        match timeout_at(later(submitted, ANSWER), answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Unavailable::new("the writer has stopped").into()),
            Err(_) => Err(Unavailable::new(DatabaseFailure::Deadline).into()),
        }
    }

    /// Proves that plans can be committed now by a write and commit like those of plans, unless one was
    /// committed recently. It waits for a running group.
    ///
    /// # Errors
    /// [`Unavailable`] when they cannot.
    pub(crate) async fn prove(&self) -> Result<(), Unavailable> {
        if self.refused.is_recent() {
            return Err(Unavailable::new("the database refused the last plans"));
        }
        let stopped = || Unavailable::new("the writer has stopped");
        let (prover, proof) = oneshot::channel();
        self.provers.send(prover).await.map_err(|_| stopped())?;
        proof.await.map_err(|_| stopped())?
    }

    /// Accepts no more plans, and returns when the waiting ones are answered.
    pub(crate) async fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().await.take()
            && !matches!(spawn_blocking(|| thread.join()).await, Ok(Ok(Ok(()))))
        {
            tracing::error!("the writer has failed");
        }
    }
}

/// Adds a duration to an instant.
fn later(from: Instant, by: Duration) -> Instant {
    from.checked_add(by).unwrap_or(from)
}

/// Commits a group; if one of its plans violates a constraint, each plan is committed by itself, so that only
/// that one fails. Returns the number of plans that were answered together.
async fn commit(committer: &mut PostgresCommitter, jobs: Vec<Job>, outcomes: &Outcomes) -> usize {
    let start = Instant::now();
    let (jobs, late): (Vec<Job>, Vec<Job>) =
        jobs.into_iter().partition(|job| start.duration_since(job.submitted) < WAIT);
    for job in late {
        job.caller.answer(failed("the plan waited too long and was not applied"));
    }
    let Some(first) = jobs.iter().map(|job| job.submitted).min() else { return 0 };
    let limits = Limits::new(start, later(first, ANSWER));
    match commit_jobs(committer, &jobs, &limits, outcomes).await {
        Ok(answers) => {
            let together = answers.len();
            answer_all(jobs.into_iter().map(|job| job.caller).zip(answers));
            return together;
        }
        Err(failure) if failure.blames_one() && jobs.len() > 1 => {
            for job in jobs {
                match commit_jobs(committer, slice::from_ref(&job), &limits, outcomes)
                    .await
                    .map(|answers| answers.into_iter().next())
                {
                    Ok(Some(answer)) => job.caller.answer(answer),
                    Ok(None) => job.caller.answer(failed("a plan was left without an answer")),
                    Err(failure) => job.caller.answer(failed(failure.to_string())),
                }
            }
        }
        // Each caller gets a copy of the failure's description.
        Err(failure) => answer_all(jobs.into_iter().map(|job| (job.caller, failed(failure.to_string())))),
    }
    0
}

/// Commits the plans of these jobs together, and records whether the database accepts plans.
async fn commit_jobs(
    committer: &mut PostgresCommitter,
    jobs: &[Job],
    limits: &Limits,
    outcomes: &Outcomes,
) -> Result<Vec<PlanAnswer>, DatabaseFailure> {
    let plans: Vec<&Plan> = jobs.iter().map(|job| &job.plan).collect();
    let committed = committer.commit(&plans, limits).await;
    match &committed {
        Ok(answers) if answers.iter().any(|answer| matches!(answer, Ok(Applied::Fresh(_)))) => {
            outcomes.refused.note(None);
            outcomes.commits.made();
        }
        Err(failure) if failure.refuses_plans() => outcomes.refused.note(Some(Instant::now())),
        Ok(_) | Err(_) => {}
    }
    let answers = committed?;
    crash_points::at(CrashPoint::BeforeAnswer, plans);
    Ok(answers.into_iter().map(|answer| answer.map_err(ApplyError::Rejected)).collect())
}
