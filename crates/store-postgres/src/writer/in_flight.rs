//! The groups in flight: one, and a second one while the first waits for the database, where that pays.
//!
//! To PostgreSQL, two groups are those of two servers: both lock rows in the same order, and the lock of positions
//! orders their commits.

use std::mem;
use std::sync::Arc;

use cuepoint_domain::ports::Unavailable;
use cuepoint_store_sql::limits::GROUP;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::group::{Limits, PostgresCommitter, Shared};
use super::second_group::SecondGroup;
use super::{Job, Outcomes, Prover, commit};
use crate::telemetry;

/// The minimum number of waiting plans for a second group.
const SECOND: usize = 16;
/// Whether a second group starts as soon as a plan waits, as in tests.
const AT_ONCE: bool = cfg!(feature = "testing");

/// Commits groups until the queue is closed and empty, and answers provers between groups.
///
/// The queue is examined for a second group when the database has replied to the first one, since the thread is awake
/// then. A plan that arrives meanwhile does not wake it.
pub(super) async fn run(
    mut waiting: mpsc::Receiver<Job>,
    mut proving: mpsc::Receiver<Prover>,
    new: impl Fn(&Arc<Shared>) -> PostgresCommitter,
    outcomes: Outcomes,
) {
    let shared = Arc::<Shared>::default();
    // The last one is used first, so that its connection is the only one while a second group is not needed.
    let mut idle = Vec::new();
    let mut running = JoinSet::new();
    let mut second = SecondGroup::default();
    let mut jobs = Vec::new();
    loop {
        let prover = if running.is_empty() {
            tokio::select! {
                biased;
                received = waiting.recv_many(&mut jobs, GROUP) => {
                    if received == 0 {
                        return;
                    }
                    proving.try_recv().ok()
                }
                Some(prover) = proving.recv() => Some(prover),
            }
        } else {
            tokio::select! {
                biased;
                Some(done) = running.join_next() => {
                    let (committer, plans) = done.unwrap_or_else(|error| {
                        tracing::error!(%error, "a group has failed");
                        (new(&shared), 0)
                    });
                    idle.push(committer);
                    let is_busy = !running.is_empty() || waiting.len() >= SECOND;
                    second.ended(plans, is_busy, Instant::now());
                }
                () = shared.progress.notified() => {}
            }
            if running.len() != 1 || !may_start_second(AT_ONCE, waiting.len(), &second) {
                continue;
            }
            while jobs.len() < GROUP
                && let Ok(job) = waiting.try_recv()
            {
                jobs.push(job);
            }
            proving.try_recv().ok()
        };
        telemetry::gauge(telemetry::QUEUE_DEPTH, waiting.len());
        let committer = idle.pop().unwrap_or_else(|| new(&shared));
        // In a task of its own, so that a panic does not affect other groups.
        running.spawn(commit_and_prove(committer, mem::take(&mut jobs), prover, outcomes.clone()));
    }
}

/// Whether a second group may take the waiting plans.
fn may_start_second(at_once: bool, waiting: usize, second: &SecondGroup) -> bool {
    if at_once { waiting > 0 } else { waiting >= SECOND && second.is_allowed() }
}

/// Commits a group, answers a prover after it, and returns the committer with the number of plans that were answered
/// together. On the heap, since the runtime moves the future of a task several times.
fn commit_and_prove(
    mut committer: PostgresCommitter,
    group: Vec<Job>,
    prover: Option<Prover>,
    outcomes: Outcomes,
) -> impl Future<Output = (PostgresCommitter, usize)> + Send + 'static {
    Box::pin(async move {
        let plans = commit(&mut committer, group, &outcomes).await;
        if let Some(prover) = prover.filter(|prover| !prover.is_closed()) {
            let proof = committer.prove(&Limits::of_proof(Instant::now())).await;
            let _ = prover.send(proof.map_err(Unavailable::from));
        }
        (committer, plans)
    })
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::money::Currency;

    use super::super::Refused;
    use super::*;
    use crate::connect::connection::Connector;

    #[test]
    fn a_second_group_takes_sixteen_plans_or_more_where_it_pays() {
        let no = SecondGroup::default();
        let yes = SecondGroup::with_two();
        for (at_once, waiting, second, may) in [
            (false, 15, &yes, false),
            (false, 16, &yes, true),
            (false, 1_000, &no, false),
            (true, 0, &yes, false),
            (true, 1, &no, true),
        ] {
            assert_eq!(may_start_second(at_once, waiting, second), may, "{at_once} {waiting} {second:?}");
        }
    }

    #[test]
    fn the_future_of_a_group_commit_takes_at_most_64_bytes() {
        let connector = Connector::new("postgres://localhost/never_connected").unwrap();
        let currency = Currency::new("EUR", 2).unwrap();
        let committer = PostgresCommitter::new(connector, currency, Arc::default());
        let outcomes = Outcomes { refused: Refused::default(), commits: Arc::default() };
        let size = size_of_val(&commit_and_prove(committer, Vec::new(), None, outcomes));
        assert!(size <= 64, "{size} bytes");
    }
}
