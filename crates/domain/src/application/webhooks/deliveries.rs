//! Deliveries of events to webhook endpoints.

use std::sync::Arc;

use time::Duration;

use crate::application::environment::Environment;
use crate::application::webhooks::delivery_turn::{
    EventBatch, LEASE, RunningTurn, TurnSummary, attempt_record,
};
use crate::application::webhooks::endpoint_notices::notify_verified;
use crate::application::webhooks::undecryptable::Undecryptable;
use crate::ids::{UserId, WebhookEndpointId};
use crate::ports::{Notice, Unavailable, WebhookMessage};
use crate::user::User;
use crate::webhook::{EndpointState, WebhookEndpoint};

/// The maximum number of endpoints with pending events that a measurement reads.
const BATCH: u32 = 100;

/// Delivers events to webhook endpoints.
#[derive(Clone)]
pub struct Deliveries {
    pub(in crate::application) env: Arc<Environment>,
    pub(super) undecryptable: Undecryptable,
}

impl Deliveries {
    /// Deliveries in this environment.
    pub(in crate::application) fn new(env: Arc<Environment>) -> Self {
        Self { env, undecryptable: Undecryptable::default() }
    }

    /// At most `limit` endpoints without a lease that may have events to deliver, and that this server can sign for.
    pub async fn endpoints_with_work(&self, limit: u32) -> Result<Vec<WebhookEndpointId>, Unavailable> {
        // Endpoints without turns come first, and must not take the places of others.
        let skipped = u32::try_from(self.undecryptable.count()).unwrap_or(u32::MAX);
        let read = limit.saturating_add(skipped);
        let mut found = self.env.endpoints.endpoints_with_work(self.env.now(), read).await?;
        found.retain(|id| !self.undecryptable.contains(*id));
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }

    /// The present owner of an endpoint; `None` if it was removed.
    pub async fn owner(&self, id: WebhookEndpointId) -> Result<Option<UserId>, Unavailable> {
        Ok(self.env.endpoints.endpoint(id).await?.map(|endpoint| endpoint.owner))
    }

    /// Waits for a commit that was not announced to this reader before; see
    /// [`OperationLog::announced_after`](crate::ports::OperationLog::announced_after).
    pub async fn announced_after(&self, seen: u64) -> u64 {
        self.env.operations.announced_after(seen).await
    }

    /// Takes a turn for an endpoint, unless another server has leased it or this one cannot sign: repeats failed
    /// deliveries that are due, replays, and attempts the events after the cursor, in their order.
    ///
    /// # Errors
    /// [`Unavailable`]. Earlier attempts of the turn are recorded if possible, and otherwise repeated.
    pub async fn take_turn(
        &self,
        id: WebhookEndpointId,
        is_stopping: impl Fn() -> bool,
    ) -> Result<TurnSummary, Unavailable> {
        if self.undecryptable.contains(id) {
            return Ok(TurnSummary::default());
        }
        match RunningTurn::begin(&self.env, id, is_stopping).await? {
            Some(running) => running.complete().await,
            None => Ok(TurnSummary::default()),
        }
    }

    /// Sends a test to an endpoint, even if it is paused or disabled, if its owner may receive the events of
    /// its feed.
    pub async fn test(&self, id: WebhookEndpointId) -> Result<(), Unavailable> {
        let env = &*self.env;
        let Some((endpoint, owner)) = self.with_owner(id).await? else { return Ok(()) };
        let endpoint = WebhookEndpoint { state: EndpointState::Active, ..endpoint };
        if !endpoint.may_deliver(&owner) {
            return Ok(());
        }
        let at = env.now();
        let test = WebhookMessage::Test { id: env.ids.operation(), at };
        let sent = env.ports.webhooks.send(&endpoint, &test, at).await?;
        env.endpoints.add_attempt(id, &attempt_record(endpoint.feed, None, 1, sent, at)).await
    }

    /// Notifies the owner of an endpoint that it was disabled.
    pub async fn notify_disabled(&self, id: WebhookEndpointId) -> Result<(), Unavailable> {
        let Some((endpoint, owner)) = self.with_owner(id).await? else { return Ok(()) };
        let EndpointState::Disabled { reason, .. } = endpoint.state else { return Ok(()) };
        notify_verified(&self.env, &owner, &Notice::WebhookDisabled { endpoint: id, reason }).await
    }

    /// The longest wait of an event: since its first failed attempt, for any active endpoint; or since its
    /// operation if there was no attempt, for endpoints that may receive it. Events without an attempt are
    /// considered for the hundred least recently served endpoints.
    pub async fn oldest_pending(&self) -> Result<Option<Duration>, Unavailable> {
        let (env, now) = (&*self.env, self.env.now());
        let mut oldest = env.endpoints.oldest_failed_delivery().await?;
        // Every current lease has expired by then.
        for id in env.endpoints.endpoints_with_work(now.plus(LEASE), BATCH).await? {
            if let Some((endpoint, owner)) = self.with_owner(id).await?
                && endpoint.may_deliver(&owner)
            {
                let EventBatch { events, .. } = EventBatch::read(env, &endpoint, endpoint.cursor).await?;
                let mut wanted = events.iter().filter(|event| event.is_one_of(endpoint.types.as_ref()));
                oldest = oldest.into_iter().chain(wanted.next().map(|event| event.created_at)).min();
            }
        }
        Ok(oldest.map(|at| now.since(at)))
    }

    async fn with_owner(
        &self,
        id: WebhookEndpointId,
    ) -> Result<Option<(WebhookEndpoint, User)>, Unavailable> {
        let Some(endpoint) = self.env.endpoints.endpoint(id).await? else { return Ok(None) };
        let owner = self.env.people.profile(endpoint.owner).await?;
        Ok(owner.map(|profile| (endpoint, profile.user)))
    }
}
