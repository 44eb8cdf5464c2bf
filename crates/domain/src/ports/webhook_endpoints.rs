//! Webhook endpoints, and the progress of deliveries to them.

use async_trait::async_trait;

use crate::event::Feed;
use crate::ids::{UserId, WebhookEndpointId};
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::timestamp::Timestamp;
use crate::user::User;
use crate::webhook::{Attempt, EndpointChange, FailedDelivery, Lease, NewEndpoint, Turn, WebhookEndpoint};

/// The outcome of adding an endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EndpointAddition {
    Added(Box<WebhookEndpoint>),
    /// An endpoint was created before with the same key and body; nothing changed.
    Known(Box<WebhookEndpoint>),
    /// The key was used with another body.
    KeyReused,
    /// The owner has [`WebhookEndpoint::MAX_PER_OWNER`] for the feed, does not exist, or was erased.
    NoRoom,
    SessionEnded,
}

/// The outcome of changing an endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EndpointUpdate {
    /// The change was applied; nothing is written if both are equal.
    Done {
        before: Box<WebhookEndpoint>,
        /// The endpoint afterwards.
        after: Box<WebhookEndpoint>,
    },
    /// There is no such endpoint.
    Missing,
    /// The session of the author has ended; nothing changed.
    SessionEnded,
}

/// Stores webhook endpoints.
///
/// The server that holds an endpoint's [`Lease`] delivers to it: [`lease_endpoint`](Self::lease_endpoint) leases the
/// endpoint to one server, [`end_turn`](Self::end_turn) records the results and ends the lease.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait WebhookEndpoints: Send + Sync {
    /// Adds an endpoint under an id of [`Ids::next_webhook_endpoint`](crate::ports::Ids::next_webhook_endpoint); its
    /// cursor begins at the newest position. It is not added if its owner has too many, its session has ended, or its
    /// key is known, as [`WebhookEndpoint::known_creation`] decides at the time of the new endpoint. A key that has
    /// expired is removed from its endpoint. This is one atomic step: no endpoint outlives the end
    /// of its session by [`Sessions::end_sessions`](super::Sessions::end_sessions).
    async fn add_endpoint(
        &self,
        id: WebhookEndpointId,
        new: &NewEndpoint,
    ) -> Result<EndpointAddition, Unavailable>;

    /// An endpoint.
    async fn endpoint(&self, id: WebhookEndpointId) -> Result<Option<WebhookEndpoint>, Unavailable>;

    /// A page of the endpoints for a feed, of one owner or of all, by id, descending.
    async fn endpoints(
        &self,
        feed: Feed,
        owner: Option<UserId>,
        page: PageRequest,
    ) -> Result<Rows<WebhookEndpoint>, Unavailable>;

    /// At most `limit` endpoints with ids above this one, by id, ascending.
    async fn endpoints_after(
        &self,
        after: Option<WebhookEndpointId>,
        limit: u32,
    ) -> Result<Vec<WebhookEndpoint>, Unavailable>;

    /// Locks an endpoint and applies [`WebhookEndpoint::changed`], if the session of the author of settings is
    /// live. Its cursor and lease stay as they are.
    async fn change_endpoint(
        &self,
        id: WebhookEndpointId,
        change: &EndpointChange,
    ) -> Result<EndpointUpdate, Unavailable>;

    /// Removes an endpoint with its deliveries and attempts; returns whether there was one.
    async fn remove_endpoint(&self, id: WebhookEndpointId) -> Result<bool, Unavailable>;

    /// A page of the attempts of an endpoint, the newest first.
    async fn attempts(&self, id: WebhookEndpointId, page: PageRequest) -> Result<Rows<Attempt>, Unavailable>;

    /// Adds an attempt outside of a turn. The newest [`WebhookEndpoint::ATTEMPTS_KEPT`] are kept. Nothing happens
    /// if the endpoint was removed.
    async fn add_attempt(&self, id: WebhookEndpointId, attempt: &Attempt) -> Result<(), Unavailable>;

    /// Makes all given-up deliveries of an endpoint due now, without attempts, and returns their number.
    async fn repeat_given_up(&self, id: WebhookEndpointId, now: Timestamp) -> Result<u64, Unavailable>;

    /// At most `limit` endpoints with work, without a lease, that may receive events by
    /// [`WebhookEndpoint::may_deliver`], least recently served first. An endpoint has work if it has
    ///
    /// - an event of its feed after the cursor,
    /// - a replay, or
    /// - a failed delivery that is due.
    ///
    /// A store may add endpoints with cursors far behind the newest position: a turn without a delivery advances the
    /// cursor.
    async fn endpoints_with_work(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<WebhookEndpointId>, Unavailable>;

    /// Leases an endpoint until a time, under a new number; `None` if it is leased, or there is none. A lease that
    /// ends [`WebhookEndpoint::LEASED_FOR_LESS_THAN`] or more after `now` does not count.
    async fn lease_endpoint(
        &self,
        id: WebhookEndpointId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<Lease>, Unavailable>;

    /// A leased endpoint with its owner; `None` if a newer lease replaced this one, or the endpoint was removed.
    async fn leased_endpoint(&self, lease: Lease) -> Result<Option<(WebhookEndpoint, User)>, Unavailable>;

    /// At most `limit` failed deliveries of an endpoint that are due at `now`, the longest due first.
    async fn due_deliveries(
        &self,
        id: WebhookEndpointId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<FailedDelivery>, Unavailable>;

    /// Records the results of a turn in one commit and ends its lease at `leased_until`; `false`, and nothing
    /// changes, if the lease was replaced by a newer one or the endpoint was removed. A turn that disables an
    /// endpoint that its owner paused meanwhile leaves it paused. The newest
    /// [`WebhookEndpoint::ATTEMPTS_KEPT`] attempts are kept, and the [`WebhookEndpoint::GIVEN_UP_KEPT`] given-up
    /// deliveries with the greatest positions.
    async fn end_turn(&self, lease: Lease, leased_until: Timestamp, turn: &Turn)
    -> Result<bool, Unavailable>;

    /// The time of the first attempt of the oldest failed delivery, over all active endpoints.
    async fn oldest_failed_delivery(&self) -> Result<Option<Timestamp>, Unavailable>;
}
