//! The writer: plans wait in a bounded queue, and each transaction takes all that wait.
//!
//! | step | round trips |
//! |---|---|
//! | `BEGIN`; lock the named requests, users, wallets, withdrawals, top-ups, in this order; then read earlier operations, keys, recent withdrawals, open requests | 1 |
//! | fold the plans through [`cuepoint_domain::ledger::apply`] | 0 |
//! | write each table that changed | 1 |
//! | `COMMIT` | 1 |
//!
//! The number of plans changes none of it. Nobody is answered before the commit is known.
//!
//! The writer has a thread of its own that its connection lives on as well: an answer of the database costs no change of
//! thread, a caller who goes away changes nothing, and readers never keep plans waiting.

mod changes;
mod crash;
mod group;
mod load;
mod statements;

use std::slice;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use cuepoint_domain::ledger::{Plan, Rejection};
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Applied, ApplyError, Unavailable};
use tokio::runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use crate::connection::Connector;
use crate::database::Failure;
use crate::telemetry;
use group::{Committer, Limits};
pub(crate) use statements::AddEvents;

/// Plans that one transaction takes at most.
const GROUP: usize = 64;
/// Plans that wait at most; whoever comes then waits outside.
const QUEUE: usize = 1_024;
/// How long a plan waits for its transaction at most; it is then not applied.
const WAIT: Duration = Duration::from_millis(2_000);
/// When a plan is answered at the latest, from when it came.
const ANSWER: Duration = Duration::from_millis(4_500);
/// How long before that the last chance to ask for a commit, and to hear of it, is.
const COMMIT_BEFORE: Duration = Duration::from_millis(1_500);
const ANSWER_BEFORE: Duration = Duration::from_millis(750);
/// How long a group works at most before it asks for its commit.
const WORK: Duration = Duration::from_millis(1_750);
/// How long the writer is unready after the database refused plans, unless one is committed meanwhile. After
/// that the probe tries again, because an unready server gets no plans that could show a recovery.
const UNREADY_FOR: Duration = Duration::from_secs(5);

/// What a plan came to.
type Answer = Result<Applied, ApplyError>;

/// What the writer is asked to do, with the caller who waits.
enum Job {
    /// To apply a plan.
    Apply(Box<Plan>, oneshot::Sender<Answer>),
    /// To show that a plan could be committed now.
    Prove(oneshot::Sender<Result<(), Unavailable>>),
}

/// A job on its way.
struct Submitted {
    job: Job,
    at: Instant,
}

impl Submitted {
    const fn plan(&self) -> Option<&Plan> {
        match &self.job {
            Job::Apply(plan, _) => Some(plan),
            Job::Prove(_) => None,
        }
    }

    /// Answers with what became of the plan, of which a proof has none. A caller who went away misses the answer, and
    /// nothing else.
    fn done(self, applied: Option<Result<Applied, Rejection>>) {
        match (self.job, applied) {
            (Job::Apply(_, caller), Some(applied)) => {
                drop(caller.send(applied.map_err(ApplyError::Rejected)))
            }
            (Job::Apply(_, caller), None) => {
                drop(caller.send(Err(Unavailable::new("a plan was left without an answer").into())));
            }
            (Job::Prove(caller), _) => drop(caller.send(Ok(()))),
        }
    }

    /// Answers that it cannot be done now.
    fn failed(self, why: impl Into<String>) {
        let unavailable = Unavailable::new(why.into());
        match self.job {
            Job::Apply(_, caller) => drop(caller.send(Err(unavailable.into()))),
            Job::Prove(caller) => drop(caller.send(Err(unavailable))),
        }
    }
}

/// The way to the writer.
pub(crate) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Submitted>>>,
    thread: tokio::sync::Mutex<Option<JoinHandle<()>>>,
    refused: Refused,
}

/// When the database refused plans last, and has committed none since.
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

impl Writer {
    /// Starts the writer on a thread of its own.
    pub(crate) fn start(connector: Connector, currency: Currency) -> anyhow::Result<Self> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let refused = Refused::default();
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("the writer's runtime cannot be made")?;
        let thread = thread::Builder::new()
            .name("writer".to_owned())
            .spawn({
                let refused = refused.clone();
                move || runtime.block_on(run(waiting, connector, currency, refused))
            })
            .context("the writer's thread cannot be started")?;
        let (queue, thread) = (Mutex::new(Some(queue)), tokio::sync::Mutex::new(Some(thread)));
        Ok(Self { queue, thread, refused })
    }

    /// Applies a plan, within [`ANSWER`].
    pub(crate) async fn apply(&self, plan: Plan) -> Answer {
        self.ask(|caller| Job::Apply(Box::new(plan), caller)).await?
    }

    /// Shows that plans can be committed now: something is written and committed by the way that plans take, unless one
    /// was committed a moment ago.
    ///
    /// # Errors
    /// [`Unavailable`] when they cannot; within [`ANSWER`].
    pub(crate) async fn prove(&self) -> Result<(), Unavailable> {
        if self.refused.is_recent() {
            return Err(Unavailable::new("the database refused the last plans"));
        }
        self.ask(Job::Prove).await?
    }

    /// Submits a job and waits for its answer.
    async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<T>) -> Job) -> Result<T, Unavailable> {
        let at = Instant::now();
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let queue = queue.ok_or_else(|| Unavailable::new("the store is closed"))?;
        let (caller, answer) = oneshot::channel();
        match timeout_at(later(at, WAIT), queue.send(Submitted { job: job(caller), at })).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(Unavailable::new("the writer has stopped")),
            Err(_) => return Err(Unavailable::new("the queue of plans is full")),
        }
        drop(queue);
        match timeout_at(later(at, ANSWER), answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(Unavailable::new("the writer has stopped")),
            Err(_) => Err(Unavailable::new(Failure::Deadline)),
        }
    }

    /// Takes no more plans, and returns when those that wait are answered.
    pub(crate) async fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().await.take()
            && !matches!(spawn_blocking(|| thread.join()).await, Ok(Ok(())))
        {
            tracing::error!("the writer has failed");
        }
    }
}

/// The moment that much later.
fn later(from: Instant, by: Duration) -> Instant {
    from.checked_add(by).unwrap_or(from)
}

/// Commits groups until the queue is closed and empty.
async fn run(
    mut waiting: mpsc::Receiver<Submitted>,
    connector: Connector,
    currency: Currency,
    refused: Refused,
) {
    let new = || Committer::new(connector.clone(), currency.clone());
    let mut committer = new();
    let mut jobs = Vec::new();
    while waiting.recv_many(&mut jobs, GROUP).await > 0 {
        telemetry::gauge(telemetry::QUEUE_DEPTH, waiting.len());
        let (group, refused) = (std::mem::take(&mut jobs), refused.clone());
        // A task of its own, so that a group that fails altogether ends no other.
        let done = tokio::spawn(async move {
            commit(&mut committer, group, &refused).await;
            committer
        });
        committer = done.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a group has failed");
            new()
        });
    }
}

/// Commits a group; where one of its plans breaks a rule of the database, each by itself, so that only that one fails.
async fn commit(committer: &mut Committer, jobs: Vec<Submitted>, refused: &Refused) {
    let start = Instant::now();
    let (jobs, late): (Vec<_>, Vec<_>) =
        jobs.into_iter().partition(|job| start.duration_since(job.at) < WAIT);
    for job in late {
        job.failed("the plan waited too long and was not applied");
    }
    let Some(first) = jobs.iter().map(|job| job.at).min() else { return };
    let limits = Limits::new(start, later(first, ANSWER));
    match commit_jobs(committer, &jobs, &limits).await {
        Ok(answers) => {
            if !answers.is_empty() {
                refused.note(None);
            }
            answer_all(jobs, answers);
        }
        Err(failure) if failure.blames_one() && jobs.len() > 1 => {
            for job in jobs {
                match commit_jobs(committer, slice::from_ref(&job), &limits).await {
                    Ok(answers) => answer_all([job], answers),
                    Err(failure) => job.failed(failure.to_string()),
                }
            }
        }
        // Each of many callers gets a description of the one failure.
        Err(failure) => {
            if failure.refuses_plans() {
                refused.note(Some(Instant::now()));
            }
            jobs.into_iter().for_each(|job| job.failed(failure.to_string()));
        }
    }
}

/// Commits the plans of these jobs together.
async fn commit_jobs(
    committer: &mut Committer,
    jobs: &[Submitted],
    limits: &Limits,
) -> Result<Vec<Result<Applied, Rejection>>, Failure> {
    let plans: Vec<&Plan> = jobs.iter().filter_map(Submitted::plan).collect();
    let answers = committer.commit(&plans, plans.len() < jobs.len(), limits).await?;
    crash::at(crash::Step::BeforeAnswer, plans);
    Ok(answers)
}

/// Answers each job, the plans among them in their order.
fn answer_all(jobs: impl IntoIterator<Item = Submitted>, answers: Vec<Result<Applied, Rejection>>) {
    let mut answers = answers.into_iter();
    for job in jobs {
        let applied = job.plan().is_some().then(|| answers.next()).flatten();
        job.done(applied);
    }
}
