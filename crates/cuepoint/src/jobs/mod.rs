//! Background jobs.

mod deliveries;
mod event_tail;
mod job_queue;
mod payouts;
mod topup_orders;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use cuepoint_domain::application::{DeletedGuests, WithoutKeys};
use cuepoint_domain::audit::Summary;
use cuepoint_domain::ports::Clock as _;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::composition::Composed;
use crate::config::KeyPurpose;
use cuepoint_adapters::observability::metrics;
use cuepoint_adapters::security::keys::KeysInForce;
use cuepoint_adapters::security::revocations;
use cuepoint_adapters::service::Service;

const PURGE_INTERVAL: Duration = Duration::from_secs(3_600);
/// The interval at which unresolved provider messages are counted.
const MESSAGES_INTERVAL: Duration = Duration::from_secs(60);
/// The interval at which operations of servers of an earlier version get their positions.
const POSITIONS_INTERVAL: Duration = Duration::from_secs(10);
/// The interval at which the oldest pending webhook delivery is determined.
const DELIVERIES_INTERVAL: Duration = Duration::from_secs(15);
/// The interval at which secrets of webhook endpoints are checked, and encrypted with the current key.
const SECRETS_INTERVAL: Duration = Duration::from_secs(60);
/// The interval at which unfinished erasures are resumed.
const ERASURES_INTERVAL: Duration = Duration::from_secs(60);
/// The interval at which streams of clients that closed their connections are sought.
const ABANDONED_STREAMS_INTERVAL: Duration = Duration::from_secs(2);
/// The interval at which connections are cut on which the end of a stream is not read.
const UNREAD_STREAMS_INTERVAL: Duration = Duration::from_secs(1);
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);
/// The interval at which servers reload the keys; it must be shorter than the delay before a new key signs.
const KEYS_INTERVAL: Duration = Duration::from_secs(5);
/// The time limit of one read of the revocation list and its repetitions; the next read starts only after it.
const REVOCATIONS_WITHIN: Duration = Duration::from_secs(2);
/// The time that a stop waits for running tasks: a call to a webhook endpoint takes at most 15 seconds.
const PATIENCE: Duration = Duration::from_secs(18);

/// The configured intervals of jobs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intervals {
    /// Between two searches for overdue requests, and for gigs that have to end.
    pub(crate) sweep: Duration,
    /// Between two searches for top-ups to order.
    pub(crate) topups: Duration,
    /// Between two searches for payouts to send.
    pub(crate) payouts: Duration,
    /// Between two audits of the ledger; `None` for no audits.
    pub(crate) audit: Option<Duration>,
}

/// The jobs that are being started.
struct Jobs {
    service: Arc<Service>,
    stopped: watch::Receiver<bool>,
    tasks: JoinSet<()>,
}

impl Jobs {
    /// Repeats work once per period; a stop waits for its end.
    fn every<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        period: Duration,
        work: impl Fn(Arc<Service>) -> F + Send + 'static,
    ) {
        let service = self.service.clone();
        self.tasks.spawn(every(period, self.stopped.clone(), move || work(service.clone())));
    }

    /// Repeats work that may take long and can be restarted: a stop does not wait for it.
    fn every_restartable<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        period: Duration,
        work: impl Fn(Arc<Service>) -> F + Send + 'static,
    ) {
        let service = self.service.clone();
        self.restartable(every(period, self.stopped.clone(), move || work(service.clone())));
    }

    /// Runs work that may take long and can be restarted: a stop does not wait for it.
    fn restartable(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(unless_stopped(self.stopped.clone(), work));
    }
}

/// The background jobs.
pub(crate) struct BackgroundJobs {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl BackgroundJobs {
    /// Starts every job.
    #[must_use]
    pub(crate) fn start(composed: &Composed, intervals: Intervals, without_keys: WithoutKeys) -> Self {
        let Composed { service, job_queue, webhook_keys, .. } = composed;
        let (stop, stopped) = watch::channel(false);
        let mut jobs = Jobs { service: service.clone(), stopped, tasks: JoinSet::new() };
        jobs.every(intervals.sweep, sweep);
        jobs.every(intervals.sweep, end_gigs);
        jobs.every(PURGE_INTERVAL, purge_expired);
        jobs.every(revocations::INTERVAL, read_revocations);
        jobs.every(ABANDONED_STREAMS_INTERVAL, |service| async move { service.event_hub.end_abandoned() });
        jobs.every(UNREAD_STREAMS_INTERVAL, |service| async move { service.event_hub.cut_unread_ends() });
        jobs.every(MESSAGES_INTERVAL, count_messages);
        jobs.every(UPKEEP_INTERVAL, |service| async move { service.metrics.upkeep() });
        jobs.every_restartable(POSITIONS_INTERVAL, assign_positions);
        jobs.every_restartable(DELIVERIES_INTERVAL, deliveries::measure);
        jobs.every_restartable(ERASURES_INTERVAL, finish_erasures);
        jobs.every_restartable(PURGE_INTERVAL, delete_unused_guests);
        let without_keys = Arc::new(Mutex::new(without_keys));
        jobs.every_restartable(SECRETS_INTERVAL, move |service| {
            deliveries::check_secrets(service, without_keys.clone())
        });
        let all_keys = [
            (KeyPurpose::Signing, service.authentication.tokens.keys().clone()),
            (KeyPurpose::Webhooks, webhook_keys.clone()),
        ];
        for (purpose, keys) in all_keys.into_iter().filter(|(_, keys)| keys.may_change()) {
            jobs.every_restartable(KEYS_INTERVAL, move |service| read_keys(service, purpose, keys.clone()));
        }
        if service.use_cases.topup_orders.is_ordered() {
            let stopped = jobs.stopped.clone();
            jobs.every(intervals.topups, move |service| topup_orders::order_due(service, stopped.clone()));
        }
        if !service.use_cases.payouts.by_hand() {
            let stopped = jobs.stopped.clone();
            jobs.every(intervals.payouts, move |service| payouts::send_due(service, stopped.clone()));
        }
        if let Some(period) = intervals.audit {
            let (auditing, stopped) = (service.clone(), jobs.stopped.clone());
            jobs.restartable(async move {
                // An audit reports operations that have waited for a position since before this start.
                assign_positions(auditing.clone()).await;
                every(period, stopped, move || audit(auditing.clone())).await;
            });
        }
        // These two watch the stop themselves, and a stop waits for them.
        jobs.tasks.spawn(job_queue::run(job_queue.clone(), service.clone(), jobs.stopped.clone()));
        jobs.tasks.spawn(deliveries::run(service.clone(), jobs.stopped.clone()));
        jobs.restartable(event_tail::run(service.clone()));
        Self { stop, tasks: jobs.tasks }
    }

    /// Starts no further work and waits at most 18 seconds for running tasks.
    pub(crate) async fn stop(mut self) {
        self.stop.send_replace(true);
        let ended = timeout(PATIENCE, async { while self.tasks.join_next().await.is_some() {} });
        if ended.await.is_err() {
            tracing::warn!("a background job did not end in time");
        }
    }
}

/// Runs the work immediately and then once per period, never concurrently, until stopped.
async fn every<F: Future<Output = ()>>(
    period: Duration,
    mut stopped: watch::Receiver<bool>,
    work: impl Fn() -> F,
) {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let stop = tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => true,
            _ = ticks.tick() => false,
        };
        if stop {
            return;
        }
        work().await;
    }
}

/// Runs the work until done or stopped: for work that may take long and can be restarted.
async fn unless_stopped(mut stopped: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        _ = stopped.wait_for(|stopped| *stopped) => {}
        () = work => {}
    }
}

async fn read_revocations(service: Arc<Service>) {
    service.authentication.refresh_within(REVOCATIONS_WITHIN).await;
    service.event_hub.end_unauthorized(|authority| event_tail::is_valid(&service, authority));
}

async fn sweep(service: Arc<Service>) {
    // A wrong clock would misdate the expiry.
    if service.authentication.clock.ensure_agreed().is_err() {
        return;
    }
    match service.use_cases.expire_requests().await {
        Ok(0) => {}
        Ok(settled) => tracing::info!(settled, "overdue requests expired"),
        Err(failure) => tracing::warn!(%failure, "overdue requests did not expire"),
    }
}

async fn end_gigs(service: Arc<Service>) {
    // A wrong clock would end gigs too early.
    if service.authentication.clock.ensure_agreed().is_err() {
        return;
    }
    match service.use_cases.gig_endings.run().await {
        Ok(0) => {}
        Ok(rejected) => tracing::info!(rejected, "open requests of ended gigs were rejected"),
        Err(failure) => tracing::warn!(%failure, "open requests of ended gigs were not rejected"),
    }
}

async fn read_keys(service: Arc<Service>, purpose: KeyPurpose, keys: KeysInForce) {
    // Reading the file may block on an unresponsive disk.
    let read = tokio::task::spawn_blocking(move || keys.reload(service.authentication.clock.now())).await;
    let file = purpose.file_key();
    match read {
        Ok(None) => {}
        Ok(Some(Ok(()))) => tracing::info!("the keys of {file} changed"),
        Ok(Some(Err(error))) => tracing::error!("{file}: the previous keys stay in use: {error:#}"),
        Err(error) => tracing::error!(%error, "the keys of {file} were not read"),
    }
}

async fn audit(service: Arc<Service>) {
    match service.use_cases.ledger_audits.run().await {
        Ok(audit) => {
            match &audit.finding {
                None => {
                    let Summary { wallets, entries, postings, entities } = audit.seen;
                    tracing::info!(wallets, entries, postings, entities, "the ledger is consistent");
                }
                Some(finding) => tracing::error!(%finding, "the ledger is broken"),
            }
            metrics::ledger_consistent(audit.finding.is_none());
        }
        Err(unavailable) => tracing::warn!(%unavailable, "the ledger could not be audited"),
    }
}

async fn count_messages(service: Arc<Service>) {
    match service.use_cases.provider_messages.unresolved().await {
        Ok(unresolved) => metrics::messages_unresolved(unresolved),
        Err(error) => tracing::warn!(%error, "unresolved provider messages were not counted"),
    }
}

async fn purge_expired(service: Arc<Service>) {
    // A wrong clock would shorten or prolong the retention.
    if service.authentication.clock.ensure_agreed().is_err() {
        return;
    }
    if let Err(error) = service.use_cases.retention.purge_expired().await {
        tracing::warn!(%error, "retention purge failed");
    }
}

async fn delete_unused_guests(service: Arc<Service>) {
    // A wrong clock would delete accounts that are in use.
    if service.authentication.clock.ensure_agreed().is_err() {
        return;
    }
    match service.use_cases.retention.delete_unused_guests().await {
        Ok(DeletedGuests { deleted: 0, kept: 0, failed: 0 }) => {}
        Ok(DeletedGuests { deleted, kept, failed }) => {
            tracing::info!(deleted, kept, failed, "unused guest accounts were deleted")
        }
        Err(error) => tracing::warn!(%error, "unused guest accounts were not deleted"),
    }
}

async fn assign_positions(service: Arc<Service>) {
    match service.use_cases.positions.assign().await {
        Ok(0) => {}
        Ok(assigned) => tracing::info!(assigned, "operations of earlier versions got positions"),
        Err(error) => tracing::warn!(%error, "operations of earlier versions got no positions"),
    }
}

async fn finish_erasures(service: Arc<Service>) {
    if let Err(error) = service.use_cases.retention.finish_erasures().await {
        tracing::warn!(%error, "erasures were not finished");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn jobs_repeat_until_they_are_stopped() {
        let (stop, stopped) = watch::channel(false);
        let (done, mut seen) = mpsc::unbounded_channel();
        let task = tokio::spawn(every(Duration::from_millis(1), stopped, move || {
            let done = done.clone();
            async move { done.send(()).unwrap() }
        }));
        for _ in 0..3 {
            seen.recv().await.unwrap();
        }
        stop.send_replace(true);
        task.await.unwrap();
    }

    #[tokio::test]
    async fn stopping_waits_for_running_work() {
        let (stop, stopped) = watch::channel(false);
        let (began, mut begun) = mpsc::unbounded_channel();
        let (finish, finishing) = watch::channel(false);
        let ended = Arc::new(AtomicU32::new(0));
        let counter = ended.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(every(Duration::from_millis(1), stopped, move || {
            let (began, mut finishing, counter) = (began.clone(), finishing.clone(), counter.clone());
            async move {
                began.send(()).unwrap();
                finishing.wait_for(|finish| *finish).await.unwrap();
                counter.fetch_add(1, Ordering::SeqCst);
            }
        }));
        begun.recv().await.unwrap();
        let stopping = tokio::spawn(BackgroundJobs { stop, tasks }.stop());
        finish.send_replace(true);
        stopping.await.unwrap();
        assert_eq!(ended.load(Ordering::SeqCst), 1);
    }
}
