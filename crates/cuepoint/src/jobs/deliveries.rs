//! The job that delivers events to webhook endpoints.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use cuepoint_domain::application::{CheckedSecrets, WithoutKeys};
use cuepoint_domain::ids::{UserId, WebhookEndpointId};
use cuepoint_domain::ports::Unavailable;
use hashlink::LruCache;
use tokio::sync::{Mutex, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use cuepoint_adapters::observability::metrics;
use cuepoint_adapters::service::Service;

/// The maximum number of concurrent turns on this server. It is high, because a turn mostly waits.
const CONCURRENCY: usize = 256;
/// The maximum number of concurrent turns for endpoints of one owner.
const PER_OWNER: usize = 2;
/// The capacity of the cache of owners, in endpoints.
const OWNERS: usize = 10_000;
/// Minimum interval between searches for work.
const SPACING: Duration = Duration::from_millis(50);
/// The minimum interval between two searches as a multiple of the duration of the first, so that many endpoints do not
/// keep the database busy.
const SPACING_PER_SEARCH: u32 = 10;
/// Maximum interval between searches, without an announced commit.
const POLLED_EVERY: Duration = Duration::from_secs(1);

/// Finds endpoints with work and takes concurrent turns for them, until stopped. Running calls are then completed and
/// recorded.
pub(super) async fn run(service: Arc<Service>, mut stopped: watch::Receiver<bool>) {
    let mut turns = Turns::new();
    let mut announced = 0;
    let mut is_failing = false;
    while !*stopped.borrow() {
        turns.reap();
        let began = Instant::now();
        match turns.search(&service, &stopped).await {
            Ok(()) => is_failing = false,
            Err(unavailable) if !is_failing => {
                is_failing = true;
                tracing::warn!(%unavailable, "webhook endpoints with pending work cannot be read");
            }
            Err(_) => {}
        }
        let pause = SPACING.max(began.elapsed().saturating_mul(SPACING_PER_SEARCH)).min(POLLED_EVERY);
        tokio::select! {
            () = sleep(pause) => {}
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
        let next_commit = timeout(POLLED_EVERY, service.use_cases.deliveries.announced_after(announced));
        tokio::select! {
            newer = next_commit => announced = newer.unwrap_or(announced),
            () = turns.ended() => {}
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
    }
    while !turns.running.is_empty() {
        turns.ended().await;
    }
}

/// The running turns.
struct Turns {
    running: HashMap<WebhookEndpointId, UserId>,
    tasks: JoinSet<WebhookEndpointId>,
    /// The owners of endpoints with running turns; an endpoint for all events can change its owner.
    owners: LruCache<WebhookEndpointId, UserId>,
    /// The number of endpoints of the last search that wait for other turns of their owners.
    deferred: usize,
}

impl Turns {
    fn new() -> Self {
        Self { running: HashMap::new(), tasks: JoinSet::new(), owners: LruCache::new(OWNERS), deferred: 0 }
    }

    /// Begins turns for endpoints with work.
    async fn search(
        &mut self,
        service: &Arc<Service>,
        stopped: &watch::Receiver<bool>,
    ) -> Result<(), Unavailable> {
        // At least one, because the search also finds endpoints with running turns. Deferred endpoints must not hide
        // others.
        let free = CONCURRENCY.saturating_sub(self.running.len()).max(1).saturating_add(self.deferred);
        let limit = u32::try_from(free).unwrap_or(u32::MAX);
        self.deferred = 0;
        for endpoint in service.use_cases.deliveries.endpoints_with_work(limit).await? {
            if self.running.len() >= CONCURRENCY {
                break;
            }
            let Some(owner) = self.owner(service, endpoint).await? else { continue };
            if self.running.contains_key(&endpoint) {
                continue;
            }
            if self.running.values().filter(|other| **other == owner).count() >= PER_OWNER {
                self.deferred = self.deferred.saturating_add(1);
            } else {
                self.begin(service, endpoint, owner, stopped);
            }
        }
        Ok(())
    }

    async fn owner(
        &mut self,
        service: &Service,
        endpoint: WebhookEndpointId,
    ) -> Result<Option<UserId>, Unavailable> {
        if let Some(owner) = self.owners.get(&endpoint) {
            return Ok(Some(*owner));
        }
        let owner = service.use_cases.deliveries.owner(endpoint).await?;
        if let Some(owner) = owner {
            self.owners.insert(endpoint, owner);
        }
        Ok(owner)
    }

    fn begin(
        &mut self,
        service: &Arc<Service>,
        endpoint: WebhookEndpointId,
        owner: UserId,
        stopped: &watch::Receiver<bool>,
    ) {
        self.running.insert(endpoint, owner);
        let (service, stopped) = (service.clone(), stopped.clone());
        self.tasks.spawn(async move {
            take_turn(&service, endpoint, &stopped).await;
            endpoint
        });
    }

    /// Waits until a turn has ended; forever without a running turn.
    async fn ended(&mut self) {
        match self.tasks.join_next().await {
            Some(ended) => self.note_end(ended),
            None => std::future::pending().await,
        }
    }

    /// Notes the turns that have ended.
    fn reap(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            self.note_end(ended);
        }
    }

    fn note_end(&mut self, ended: Result<WebhookEndpointId, JoinError>) {
        match ended {
            Ok(endpoint) => {
                self.running.remove(&endpoint);
                self.owners.remove(&endpoint);
            }
            Err(error) => {
                tracing::error!(%error, "a batch of webhook deliveries panicked");
                // The endpoint of the turn is unknown. Its lease prevents a second turn.
                self.running.clear();
            }
        }
    }
}

async fn take_turn(service: &Service, endpoint: WebhookEndpointId, stopped: &watch::Receiver<bool>) {
    match service.use_cases.deliveries.take_turn(endpoint, || *stopped.borrow()).await {
        Ok(turn) => {
            metrics::webhook_attempts(&turn);
            if let Some(reason) = turn.disabled {
                tracing::warn!(
                    endpoint = endpoint.get(),
                    reason = reason.name(),
                    "webhook endpoint disabled"
                );
            }
        }
        Err(unavailable) => {
            tracing::warn!(endpoint = endpoint.get(), %unavailable, "a batch of webhook deliveries failed");
        }
    }
}

/// Measures the age of the oldest pending delivery.
pub(super) async fn measure(service: Arc<Service>) {
    match service.use_cases.deliveries.oldest_pending().await {
        Ok(age) => metrics::oldest_webhook_delivery(age.map_or(0.0, |age| age.as_seconds_f64().max(0.0))),
        Err(unavailable) => {
            tracing::warn!(%unavailable, "the age of the oldest pending webhook event cannot be determined")
        }
    }
}

/// The number of endpoints that a log line names.
const NAMED: usize = 10;

/// Encrypts the secrets of endpoints with the current key, and disables endpoints whose secrets are lost. Without keys
/// that an operator has declared lost, the first complete check disables the endpoints that need them.
pub(super) async fn check_secrets(service: Arc<Service>, without_keys: Arc<Mutex<WithoutKeys>>) {
    let mut without_keys = without_keys.lock().await;
    match service.use_cases.deliveries.check_secrets(*without_keys).await {
        Ok(CheckedSecrets { resealed, found, lost }) => {
            *without_keys = WithoutKeys::Wait;
            if resealed > 0 {
                tracing::info!(resealed, "secrets of webhook endpoints were encrypted with the current key");
            }
            if !found.is_empty() {
                tracing::error!(
                    endpoints = found.len(),
                    first = named(&found),
                    "secrets of webhook endpoints cannot be decrypted by this server"
                );
            }
            metrics::webhook_endpoints_disabled(lost.len());
            if !lost.is_empty() {
                tracing::error!(
                    endpoints = lost.len(),
                    first = named(&lost),
                    "webhook endpoints were disabled: no key decrypts their secrets"
                );
            }
        }
        Err(unavailable) => {
            tracing::warn!(%unavailable, "the secrets of webhook endpoints cannot be checked")
        }
    }
}

fn named(endpoints: &[WebhookEndpointId]) -> String {
    let named: Vec<String> = endpoints.iter().take(NAMED).map(ToString::to_string).collect();
    named.join(", ")
}
