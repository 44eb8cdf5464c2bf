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
//! Where [`LANES`] allows it, the next group locks and writes on another connection while one waits for its commit, which is
//! the disk's time: only plans that touch nothing which a group under way touches, so that no group of this server waits for
//! another's rows. Whoever has to wait is overtaken by nobody who touches the same.
//!
//! The writer has a thread of its own that its connections live on as well: an answer of the database costs no change of
//! thread, a caller who goes away changes nothing, and readers never keep plans waiting.

mod changes;
mod crash;
mod group;
mod load;
mod queue;
mod statements;

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use cuepoint_domain::ledger::Plan;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Applied, ApplyError, Unavailable};
use tokio::runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinSet, spawn_blocking};
use tokio::time::{Instant, timeout_at};

use crate::connection::Connector;
use crate::database::Failure;
use group::{Committer, Limits};
use queue::{Group, Job, Queue};
pub(crate) use statements::AddEvents;

/// Groups that are under way at once at most, each on a connection of its own. More than one is for disks whose flush takes
/// longer than the statements of a group: where it is quick, `docs/PERFORMANCE.md` has what a second one costs.
const LANES: usize = 1;
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

/// The one turn to lock and write, given up when the commit is asked for.
type Turn = Option<OwnedSemaphorePermit>;

/// The way to the writer.
pub(crate) struct Writer {
    queue: Arc<Queue>,
    thread: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    /// Starts the writer on a thread of its own.
    pub(crate) fn start(connector: Connector, currency: Currency) -> anyhow::Result<Self> {
        let queue = Arc::new(Queue::new());
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("the writer's runtime cannot be made")?;
        let waiting = Arc::clone(&queue);
        let thread = thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || runtime.block_on(run(waiting, connector, currency)))
            .context("the writer's thread cannot be started")?;
        Ok(Self { queue, thread: tokio::sync::Mutex::new(Some(thread)) })
    }

    /// Applies a plan, within [`ANSWER`].
    pub(crate) async fn apply(&self, plan: Plan) -> Answer {
        let submitted = Instant::now();
        let answer = self.queue.put(plan, submitted).await?;
        match timeout_at(later(submitted, ANSWER), answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Unavailable::new("the writer has stopped").into()),
            Err(_) => Err(Unavailable::new(Failure::Deadline).into()),
        }
    }

    /// Takes no more plans, and returns when those that wait are answered.
    pub(crate) async fn close(&self) {
        self.queue.close();
        if let Some(thread) = self.thread.lock().await.take()
            && !matches!(spawn_blocking(|| thread.join()).await, Ok(Ok(())))
        {
            tracing::error!("the writer has failed");
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// The moment that much later.
fn later(from: Instant, by: Duration) -> Instant {
    from.checked_add(by).unwrap_or(from)
}

/// Commits groups until the queue is closed and empty.
async fn run(queue: Arc<Queue>, connector: Connector, currency: Currency) {
    let committer = || Committer::new(connector.clone(), currency.clone());
    let turns = Arc::new(Semaphore::new(1));
    let mut idle: Vec<Committer> = (0..LANES).map(|_| committer()).collect();
    let mut groups = JoinSet::new();
    loop {
        while idle.is_empty() {
            match groups.join_next().await {
                Some(Ok(done)) => idle.push(done),
                Some(Err(error)) => {
                    failed(&error);
                    idle.push(committer());
                }
                None => idle.push(committer()),
            }
        }
        let Ok(turn) = Arc::clone(&turns).acquire_owned().await else { break };
        let Some(group) = queue.next().await else { break };
        // The lane that was busy last, whose statements and pages are warm, comes first.
        while let Some(done) = groups.try_join_next() {
            idle.extend(done.inspect_err(failed));
        }
        let mut lane = idle.pop().unwrap_or_else(committer);
        groups.spawn(async move {
            commit(&mut lane, group, Some(turn)).await;
            lane
        });
    }
    while groups.join_next().await.is_some() {}
}

fn failed(error: &JoinError) {
    tracing::error!(%error, "a group has failed");
}

/// Commits a group; where one of its plans breaks a rule of the database, each by itself, so that only that one fails.
async fn commit(committer: &mut Committer, group: Group, mut turn: Turn) {
    let start = Instant::now();
    // Given up last: whoever is answered may be back in time for the next group.
    let Group { jobs, hold: _hold } = group;
    let (jobs, late): (Vec<Job>, Vec<Job>) =
        jobs.into_iter().partition(|job| start.duration_since(job.submitted) < WAIT);
    for job in late {
        job.answer(Err(Unavailable::new("the plan waited too long and was not applied").into()));
    }
    let Some(first) = jobs.iter().map(|job| job.submitted).min() else { return };
    let limits = Limits::new(start, later(first, ANSWER));
    let plans: Vec<&Plan> = jobs.iter().map(|job| &job.plan).collect();
    match committer.commit(&plans, &limits, &mut turn).await {
        Ok(answers) => {
            crash::at(crash::Step::BeforeAnswer, plans);
            jobs.into_iter().zip(answers).for_each(|(job, answer)| job.applied(answer));
        }
        Err(failure) if failure.blames_one() && jobs.len() > 1 => {
            for job in jobs {
                let answer = committer.commit(&[&job.plan], &limits, &mut turn).await;
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
