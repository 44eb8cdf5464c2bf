//! Webhook endpoints, and the progress of deliveries to them.

use std::collections::BTreeMap;
use std::ops::Bound;

use async_trait::async_trait;
use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::{SessionId, UserId, WebhookEndpointId};
use cuepoint_domain::operation::Position;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{EndpointAddition, EndpointUpdate, Unavailable, WebhookEndpoints};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::webhook::{
    Attempt, DisabledReason, EndpointChange, EndpointState, FailedDelivery, KnownCreation, Lease,
    NewEndpoint, Turn, WebhookEndpoint,
};

use crate::lists::{first, length, page_of, sorted};
use crate::{MemoryStore, State};

/// Webhook endpoints by id.
#[derive(Debug, Default)]
pub(crate) struct WebhookTable {
    endpoints: BTreeMap<WebhookEndpointId, EndpointRecord>,
}

/// An endpoint with its lease, its failed deliveries and its newest attempts.
#[derive(Debug)]
struct EndpointRecord {
    endpoint: WebhookEndpoint,
    lease: i64,
    leased_until: Option<Timestamp>,
    failed: BTreeMap<Position, FailedDelivery>,
    /// The newest attempt comes last.
    attempts: Vec<Attempt>,
}

impl EndpointRecord {
    fn is_free(&self, now: Timestamp) -> bool {
        let ahead = now.plus(WebhookEndpoint::LEASED_FOR_LESS_THAN);
        self.leased_until.is_none_or(|until| until <= now || until >= ahead)
    }

    /// Whether it may have something to deliver, apart from who its owner is.
    fn has_work(&self, state: &State, now: Timestamp) -> bool {
        let WebhookEndpoint { feed, owner, cursor, replay, .. } = &self.endpoint;
        replay.is_some()
            || state.newest_of(feed.concerning(*owner)) > *cursor
            || self.failed.values().any(|failed| failed.next_at.is_some_and(|at| at <= now))
    }

    /// Drops the oldest of too many deliveries that were given up.
    fn drop_given_up(&mut self) {
        let kept = length(WebhookEndpoint::GIVEN_UP_KEPT);
        let given_up = self.failed.values().rev().filter(|delivery| delivery.next_at.is_none());
        if let Some(newest) = given_up.map(|delivery| delivery.position).nth(kept) {
            self.failed.retain(|position, delivery| *position > newest || delivery.next_at.is_some());
        }
    }

    fn add_attempts<'a>(&mut self, attempts: impl IntoIterator<Item = &'a Attempt>) {
        let recorded = attempts
            .into_iter()
            .map(|attempt| Attempt { outcome: attempt.outcome.recorded(), ..attempt.clone() });
        self.attempts.extend(recorded);
        let kept = length(WebhookEndpoint::ATTEMPTS_KEPT);
        self.attempts.drain(..self.attempts.len().saturating_sub(kept));
    }
}

impl WebhookTable {
    /// Deletes the endpoints of a user.
    pub(crate) fn forget(&mut self, user: UserId) {
        self.endpoints.retain(|_, record| record.endpoint.owner != user);
    }

    /// Disables the active endpoints of a user for their own events: all, or those where a session set the URL.
    pub(crate) fn disable_own(&mut self, user: UserId, session: Option<SessionId>, at: Timestamp) {
        let change = EndpointChange::Disable { reason: DisabledReason::Security, at };
        let is_own = |endpoint: &WebhookEndpoint| {
            let is_set_in = session.is_none_or(|session| endpoint.set_in == Some(session));
            endpoint.owner == user && endpoint.feed == Feed::Own && is_set_in
        };
        for record in self.endpoints.values_mut().filter(|record| is_own(&record.endpoint)) {
            record.endpoint = record.endpoint.clone().changed(&change, FeatureLevel::NEWEST);
        }
    }

    /// The endpoints of a user.
    pub(crate) fn of(&self, user: UserId) -> impl Iterator<Item = &WebhookEndpoint> {
        self.newest_first().filter(move |endpoint| endpoint.owner == user)
    }

    fn newest_first(&self) -> impl Iterator<Item = &WebhookEndpoint> {
        self.endpoints.values().rev().map(|record| &record.endpoint)
    }

    /// An endpoint, while this is its newest lease.
    fn leased(&mut self, lease: Lease) -> Option<&mut EndpointRecord> {
        self.endpoints.get_mut(&lease.endpoint).filter(|record| record.lease == lease.number)
    }
}

impl State {
    /// Whether the session that is named, if one is, has not ended.
    fn is_live(&self, session: Option<SessionId>) -> bool {
        session.is_none_or(|session| self.sessions.is_live(session))
    }

    fn add_endpoint(&mut self, id: WebhookEndpointId, new: &NewEndpoint) -> EndpointAddition {
        if !self.is_somebody(new.owner) {
            return EndpointAddition::NoRoom;
        }
        if !self.is_live(new.session) {
            return EndpointAddition::SessionEnded;
        }
        if let Some(key) = &new.key {
            let has_key = |record: &&mut EndpointRecord| {
                record.endpoint.creation.is_some_and(|creation| creation.scope == key.scope)
            };
            if let Some(record) = self.webhooks.endpoints.values_mut().find(has_key) {
                match record.endpoint.known_creation(key, new.at) {
                    KnownCreation::Repeated => {
                        return EndpointAddition::Known(Box::new(record.endpoint.clone()));
                    }
                    KnownCreation::OtherBody => return EndpointAddition::KeyReused,
                    KnownCreation::Expired => record.endpoint.creation = None,
                }
            }
        }
        let alike = self.webhooks.of(new.owner).filter(|endpoint| endpoint.feed == new.feed).count();
        if alike >= length(WebhookEndpoint::MAX_PER_OWNER) {
            return EndpointAddition::NoRoom;
        }
        let endpoint = WebhookEndpoint::new(id, self.newest_position(), new.clone());
        let record = EndpointRecord {
            endpoint: endpoint.clone(),
            lease: 0,
            leased_until: None,
            failed: BTreeMap::new(),
            attempts: Vec::new(),
        };
        self.webhooks.endpoints.insert(id, record);
        EndpointAddition::Added(Box::new(endpoint))
    }
}

#[async_trait]
impl WebhookEndpoints for MemoryStore {
    async fn add_endpoint(
        &self,
        id: WebhookEndpointId,
        new: &NewEndpoint,
    ) -> Result<EndpointAddition, Unavailable> {
        Ok(self.lock()?.add_endpoint(id, new))
    }

    async fn endpoint(&self, id: WebhookEndpointId) -> Result<Option<WebhookEndpoint>, Unavailable> {
        Ok(self.lock()?.webhooks.endpoints.get(&id).map(|record| record.endpoint.clone()))
    }

    async fn endpoints(
        &self,
        feed: Feed,
        owner: Option<UserId>,
        page: PageRequest,
    ) -> Result<Rows<WebhookEndpoint>, Unavailable> {
        let state = self.lock()?;
        let shown = state
            .webhooks
            .newest_first()
            .filter(|endpoint| endpoint.feed == feed && owner.is_none_or(|owner| endpoint.owner == owner));
        Ok(page_of(shown.collect::<Vec<_>>(), page))
    }

    async fn endpoints_after(
        &self,
        after: Option<WebhookEndpointId>,
        limit: u32,
    ) -> Result<Vec<WebhookEndpoint>, Unavailable> {
        let state = self.lock()?;
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let later = state.webhooks.endpoints.range((from, Bound::Unbounded));
        Ok(first(later.map(|(_, record)| &record.endpoint), limit))
    }

    async fn change_endpoint(
        &self,
        id: WebhookEndpointId,
        change: &EndpointChange,
    ) -> Result<EndpointUpdate, Unavailable> {
        let state = &mut *self.lock()?;
        if let EndpointChange::Settings { by, .. } = change
            && !state.is_live(by.session)
        {
            return Ok(EndpointUpdate::SessionEnded);
        }
        Ok(state.webhooks.endpoints.get_mut(&id).map_or(EndpointUpdate::Missing, |record| {
            let before = Box::new(record.endpoint.clone());
            record.endpoint = record.endpoint.clone().changed(change, FeatureLevel::NEWEST);
            EndpointUpdate::Done { before, after: Box::new(record.endpoint.clone()) }
        }))
    }

    async fn remove_endpoint(&self, id: WebhookEndpointId) -> Result<bool, Unavailable> {
        Ok(self.lock()?.webhooks.endpoints.remove(&id).is_some())
    }

    async fn attempts(&self, id: WebhookEndpointId, page: PageRequest) -> Result<Rows<Attempt>, Unavailable> {
        let state = self.lock()?;
        let kept = state.webhooks.endpoints.get(&id).map_or(&[][..], |record| &record.attempts);
        Ok(page_of(kept.iter().rev(), page))
    }

    async fn add_attempt(&self, id: WebhookEndpointId, attempt: &Attempt) -> Result<(), Unavailable> {
        if let Some(record) = self.lock()?.webhooks.endpoints.get_mut(&id) {
            record.add_attempts([attempt]);
        }
        Ok(())
    }

    async fn repeat_given_up(&self, id: WebhookEndpointId, now: Timestamp) -> Result<u64, Unavailable> {
        let mut state = self.lock()?;
        let record = state.webhooks.endpoints.get_mut(&id);
        let failed = record.into_iter().flat_map(|record| record.failed.values_mut());
        let mut repeated = 0_u64;
        for delivery in failed.filter(|delivery| delivery.next_at.is_none()) {
            (delivery.attempts, delivery.next_at) = (0, Some(now));
            repeated = repeated.saturating_add(1);
        }
        Ok(repeated)
    }

    async fn endpoints_with_work(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<WebhookEndpointId>, Unavailable> {
        let state = &*self.lock()?;
        let working = state.webhooks.endpoints.values().filter(|record| {
            let owner = state.book.get(record.endpoint.owner);
            owner.is_some_and(|owner| record.endpoint.may_deliver(owner))
                && record.is_free(now)
                && record.has_work(state, now)
        });
        let working = sorted(working, |record| (record.leased_until, record.endpoint.id));
        Ok(first(working.into_iter().map(|record| &record.endpoint.id), limit))
    }

    async fn lease_endpoint(
        &self,
        id: WebhookEndpointId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<Lease>, Unavailable> {
        let mut state = self.lock()?;
        let free = state.webhooks.endpoints.get_mut(&id).filter(|record| record.is_free(now));
        Ok(free.map(|record| {
            record.lease = record.lease.saturating_add(1);
            record.leased_until = Some(until);
            Lease { endpoint: id, number: record.lease }
        }))
    }

    async fn leased_endpoint(&self, lease: Lease) -> Result<Option<(WebhookEndpoint, User)>, Unavailable> {
        let State { webhooks, book, .. } = &mut *self.lock()?;
        Ok(webhooks.leased(lease).and_then(|record| {
            let owner = book.get(record.endpoint.owner)?;
            Some((record.endpoint.clone(), owner.clone()))
        }))
    }

    async fn due_deliveries(
        &self,
        id: WebhookEndpointId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<FailedDelivery>, Unavailable> {
        let state = self.lock()?;
        let failed = state.webhooks.endpoints.get(&id).into_iter().flat_map(|record| record.failed.values());
        let due = failed.filter(|delivery| delivery.next_at.is_some_and(|at| at <= now));
        Ok(first(sorted(due, |delivery| (delivery.next_at, delivery.position)), limit))
    }

    async fn end_turn(
        &self,
        lease: Lease,
        leased_until: Timestamp,
        turn: &Turn,
    ) -> Result<bool, Unavailable> {
        let mut state = self.lock()?;
        let Some(record) = state.webhooks.leased(lease) else { return Ok(false) };
        record.endpoint = record.endpoint.clone().after_turn(turn);
        record.leased_until = Some(leased_until);
        record.failed.extend(turn.failed.iter().map(|failed| (failed.position, *failed)));
        record.failed.retain(|position, _| !turn.settled.contains(position));
        record.add_attempts(&turn.attempts);
        record.drop_given_up();
        Ok(true)
    }

    async fn oldest_failed_delivery(&self) -> Result<Option<Timestamp>, Unavailable> {
        let state = self.lock()?;
        let active = state.webhooks.endpoints.values();
        let active = active.filter(|record| record.endpoint.state == EndpointState::Active);
        let failed = active.flat_map(|record| record.failed.values());
        let repeated = failed.filter(|delivery| delivery.next_at.is_some());
        Ok(repeated.map(|delivery| delivery.failed_at).min())
    }
}
