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

use std::sync::{Mutex, PoisonError};
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
const HEARD_BEFORE: Duration = Duration::from_millis(750);
/// How long a group works at most before it asks for its commit.
const WORK: Duration = Duration::from_millis(1_750);

/// What a plan came to.
type Answer = Result<Applied, ApplyError>;

/// A plan on its way, with the caller who waits.
struct Job {
    plan: Plan,
    submitted: Instant,
    caller: oneshot::Sender<Answer>,
}

impl Job {
    fn answer(self, answer: Answer) {
        // A caller who went away misses the answer, and nothing else.
        let _ = self.caller.send(answer);
    }

    fn applied(self, answer: Result<Applied, Rejection>) {
        self.answer(answer.map_err(ApplyError::Rejected));
    }
}

/// The way to the writer.
pub(crate) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Job>>>,
    thread: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    /// Starts the writer on a thread of its own.
    pub(crate) fn start(connector: Connector, currency: Currency) -> anyhow::Result<Self> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("the writer's runtime cannot be made")?;
        let thread = thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || runtime.block_on(run(waiting, connector, currency)))
            .context("the writer's thread cannot be started")?;
        Ok(Self { queue: Mutex::new(Some(queue)), thread: tokio::sync::Mutex::new(Some(thread)) })
    }

    /// Applies a plan, within [`ANSWER`].
    pub(crate) async fn apply(&self, plan: Plan) -> Answer {
        let submitted = Instant::now();
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let queue = queue.ok_or_else(|| Unavailable::new("the store is closed"))?;
        let (caller, answer) = oneshot::channel();
        match timeout_at(later(submitted, WAIT), queue.send(Job { plan, submitted, caller })).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(Unavailable::new("the writer has stopped").into()),
            Err(_) => return Err(Unavailable::new("the queue of plans is full").into()),
        }
        drop(queue);
        match timeout_at(later(submitted, ANSWER), answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Unavailable::new("the writer has stopped").into()),
            Err(_) => Err(Unavailable::new(Failure::Deadline).into()),
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
async fn run(mut waiting: mpsc::Receiver<Job>, connector: Connector, currency: Currency) {
    let new = || Committer::new(connector.clone(), currency.clone());
    let mut committer = new();
    let mut jobs = Vec::new();
    while waiting.recv_many(&mut jobs, GROUP).await > 0 {
        telemetry::gauge(telemetry::QUEUE_DEPTH, waiting.len());
        let group = std::mem::take(&mut jobs);
        // A task of its own, so that a group that fails altogether ends no other.
        let done = tokio::spawn(async move {
            commit(&mut committer, group).await;
            committer
        });
        committer = done.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a group has failed");
            new()
        });
    }
}

/// Commits a group; where one of its plans breaks a rule of the database, each by itself, so that only that one fails.
async fn commit(committer: &mut Committer, jobs: Vec<Job>) {
    let start = Instant::now();
    let (jobs, late): (Vec<Job>, Vec<Job>) =
        jobs.into_iter().partition(|job| start.duration_since(job.submitted) < WAIT);
    for job in late {
        job.answer(Err(Unavailable::new("the plan waited too long and was not applied").into()));
    }
    let Some(first) = jobs.iter().map(|job| job.submitted).min() else { return };
    let limits = Limits::new(start, later(first, ANSWER));
    let plans: Vec<&Plan> = jobs.iter().map(|job| &job.plan).collect();
    match committer.commit(&plans, &limits).await {
        Ok(answers) => {
            crash::at(crash::Step::BeforeAnswer, plans);
            jobs.into_iter().zip(answers).for_each(|(job, answer)| job.applied(answer));
        }
        Err(failure) if failure.blames_one() && jobs.len() > 1 => {
            for job in jobs {
                let answer = committer.commit(&[&job.plan], &limits).await;
                match answer.map(|answers| answers.into_iter().next()) {
                    Ok(Some(answer)) => job.applied(answer),
                    Ok(None) => job.answer(Err(Unavailable::new("a plan was left without an answer").into())),
                    Err(failure) => job.answer(Err(unavailable(&failure))),
                }
            }
        }
        Err(failure) => jobs.into_iter().for_each(|job| job.answer(Err(unavailable(&failure)))),
    }
}

/// Each of many callers gets a description of the one failure.
fn unavailable(failure: &Failure) -> ApplyError {
    Unavailable::new(failure.to_string()).into()
}
