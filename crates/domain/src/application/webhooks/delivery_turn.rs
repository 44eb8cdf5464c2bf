//! A turn: one server delivers to an endpoint, in calls that begin within ten seconds, and at least one new event.

use std::sync::Arc;

use time::Duration;

use crate::application::environment::Environment;
use crate::application::executor::Effects;
use crate::event::{Event, EventType, Feed};
use crate::ids::WebhookEndpointId;
use crate::operation::Position;
use crate::ports::{Job, OperationPage, SentWebhook, Unavailable, WebhookMessage};
use crate::timestamp::Timestamp;
use crate::webhook::{
    Attempt, AttemptError, AttemptOutcome, DeliveryKind, DisabledReason, EndpointState, Lease, Turn,
    WebhookEndpoint,
};

/// The duration of a lease: longer than a turn with its last call.
pub(super) const LEASE: Duration = Duration::seconds(60);
/// The part of a turn in which calls may begin. At least one new event is attempted, however long the earlier calls
/// took.
const TURN: Duration = Duration::seconds(10);
/// The part of a turn for repeated deliveries.
const REPETITIONS: Duration = Duration::seconds(3);
/// The part of a turn for repeated and replayed deliveries together.
const REPLAYS: Duration = Duration::seconds(6);
/// Back-off after a turn that failed without a call.
const PAUSE: Duration = Duration::seconds(30);
/// Back-off for an endpoint that may not receive events. It is short, because searches for work omit such endpoints,
/// and the endpoint may be enabled or its owner restored soon.
const SHORT_PAUSE: Duration = Duration::seconds(1);
/// The number of operations or deliveries in one read.
const BATCH: u32 = 100;

/// The results of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TurnSummary {
    /// The number of delivered events.
    pub delivered: u64,
    /// The number of failed attempts that are to be repeated.
    pub failed: u64,
    /// The number of deliveries that were given up.
    pub given_up: u64,
    /// Why the endpoint was disabled, if it was.
    pub disabled: Option<DisabledReason>,
}

/// A turn in progress.
pub(super) struct RunningTurn<'a, F> {
    env: &'a Arc<Environment>,
    lease: Lease,
    began: Timestamp,
    is_stopping: F,
    turn: Turn,
    /// Whether the endpoint may not receive events now.
    may_not_deliver: bool,
    has_attempted_new: bool,
}

impl<'a, F: Fn() -> bool> RunningTurn<'a, F> {
    /// Leases the endpoint; `None` if another server has it.
    pub(super) async fn begin(
        env: &'a Arc<Environment>,
        id: WebhookEndpointId,
        is_stopping: F,
    ) -> Result<Option<Self>, Unavailable> {
        let began = env.now();
        let lease = env.endpoints.lease_endpoint(id, began, began.plus(LEASE)).await?;
        let turn = Turn::default();
        Ok(lease.map(|lease| Self {
            env,
            lease,
            began,
            is_stopping,
            turn,
            may_not_deliver: false,
            has_attempted_new: false,
        }))
    }

    /// Delivers, and records the results.
    pub(super) async fn complete(mut self) -> Result<TurnSummary, Unavailable> {
        let worked = self.work().await;
        let summary = self.end(worked.is_ok()).await;
        worked.and(summary)
    }

    async fn work(&mut self) -> Result<(), Unavailable> {
        let Some(endpoint) = self.endpoint().await? else { return Ok(()) };
        self.repeat_failed(&endpoint).await?;
        self.replay(&endpoint).await?;
        self.deliver_new(&endpoint).await
    }

    /// The endpoint, if it may receive events at this moment and this server still has the lease.
    async fn endpoint(&mut self) -> Result<Option<WebhookEndpoint>, Unavailable> {
        let leased = self.env.endpoints.leased_endpoint(self.lease).await?;
        let leased =
            leased.filter(|(endpoint, owner)| self.turn.disabled.is_none() && endpoint.may_deliver(owner));
        self.may_not_deliver = leased.is_none();
        Ok(leased.map(|(mut endpoint, _)| {
            endpoint.failing_since = self.turn.failing_since.unwrap_or(endpoint.failing_since);
            endpoint
        }))
    }

    /// Whether a call of this kind may begin.
    fn may_begin(&self, kind: DeliveryKind) -> bool {
        let elapsed = self.env.now().since(self.began);
        let has_time = match kind {
            DeliveryKind::Repeated(_) => elapsed < REPETITIONS,
            DeliveryKind::Replayed => elapsed < REPLAYS,
            DeliveryKind::First => elapsed < TURN || !self.has_attempted_new,
        };
        has_time && !(self.is_stopping)()
    }

    async fn repeat_failed(&mut self, endpoint: &WebhookEndpoint) -> Result<(), Unavailable> {
        // A restore can assign a position to another operation: the event of another user is never sent.
        let concerning = endpoint.feed.concerning(endpoint.owner);
        let due = self.env.endpoints.due_deliveries(self.lease.endpoint, self.began, BATCH).await?;
        for failed in due {
            let kind = DeliveryKind::Repeated(failed);
            if !self.may_begin(kind) {
                break;
            }
            let OperationPage { operations, .. } =
                self.env.operations.operations(concerning, failed.position.previous(), 1).await?;
            let mut found = operations.into_iter().filter(|operation| operation.position == failed.position);
            match found.next().and_then(Event::of) {
                Some(event) => {
                    let number = failed.attempts.saturating_add(1);
                    if !self.deliver(event, kind, number).await? {
                        break;
                    }
                }
                // The event is not for the owner, or this version cannot show it, for example after a rollback.
                None => self.turn.settled.push(failed.position),
            }
        }
        Ok(())
    }

    async fn replay(&mut self, endpoint: &WebhookEndpoint) -> Result<(), Unavailable> {
        let Some(range) = endpoint.replay else { return Ok(()) };
        let mut after = range.after;
        while after < range.until && self.may_begin(DeliveryKind::Replayed) {
            let Some(EventBatch { events, complete_to, .. }) = self.wanted_events(endpoint, after).await?
            else {
                return Ok(());
            };
            for event in events.into_iter().filter(|event| event.position <= range.until) {
                if !self.deliver(event, DeliveryKind::Replayed, 1).await? {
                    return Ok(());
                }
            }
            after = complete_to.min(range.until);
            self.turn.replayed_to = Some(after);
        }
        Ok(())
    }

    async fn deliver_new(&mut self, endpoint: &WebhookEndpoint) -> Result<(), Unavailable> {
        let mut after = endpoint.cursor;
        while self.may_begin(DeliveryKind::First) {
            let Some(EventBatch { events, complete_to, is_last }) =
                self.wanted_events(endpoint, after).await?
            else {
                return Ok(());
            };
            for event in events {
                if !self.deliver(event, DeliveryKind::First, 1).await? {
                    return Ok(());
                }
            }
            after = after.max(complete_to);
            self.turn.cursor = Some(after);
            // A batch without an event for the endpoint counts as well, as there may be many.
            self.has_attempted_new = true;
            // The next search finds later commits.
            if is_last {
                break;
            }
        }
        Ok(())
    }

    /// The wanted events after a position; `None` if the endpoint may not receive events. The types are read after the
    /// events, so that a change of types applies to all later events.
    async fn wanted_events(
        &mut self,
        endpoint: &WebhookEndpoint,
        after: Position,
    ) -> Result<Option<EventBatch>, Unavailable> {
        let mut batch = EventBatch::read(self.env, endpoint, after).await?;
        let Some(endpoint) = self.endpoint().await? else { return Ok(None) };
        batch.events.retain(|event| event.is_one_of(endpoint.types.as_ref()));
        Ok(Some(batch))
    }

    /// Attempts to deliver an event; `false` if the turn is over.
    async fn deliver(&mut self, event: Event, kind: DeliveryKind, number: u32) -> Result<bool, Unavailable> {
        if !self.may_begin(kind) {
            return Ok(false);
        }
        self.has_attempted_new |= kind == DeliveryKind::First;
        let Some(mut endpoint) = self.endpoint().await? else { return Ok(false) };
        let (env, at, position) = (self.env, self.env.now(), event.position);
        let of = Some((position, event.event_type));
        let sent = env.ports.webhooks.send(&endpoint, &WebhookMessage::Event(Box::new(event)), at).await?;
        let attempt = attempt_record(endpoint.feed, of, number, sent, at);
        self.turn.note(&mut endpoint, kind, position, attempt, env.now(), self.spread());
        Ok(true)
    }

    /// A random number from -1000 to 1000.
    fn spread(&self) -> i32 {
        // The low bits of an operation's id are random.
        let random = self.env.ids.operation().0.checked_rem(2_001).unwrap_or(0);
        i32::try_from(random).unwrap_or(0).saturating_sub(1_000)
    }

    /// Records the results and ends the lease. To avoid a busy loop, the lease lasts for [`PAUSE`] after a turn that
    /// failed without results, and for [`SHORT_PAUSE`] if the endpoint may not receive events.
    async fn end(self, worked: bool) -> Result<TurnSummary, Unavailable> {
        let Self { env, lease, turn, may_not_deliver, .. } = self;
        let is_fruitless = turn == Turn::default();
        let pause = match (worked, may_not_deliver) {
            (false, _) if is_fruitless => PAUSE,
            (true, true) if is_fruitless => SHORT_PAUSE,
            _ => Duration::ZERO,
        };
        let leased_until = env.now().plus(pause);
        if !env.endpoints.end_turn(lease, leased_until, &turn).await? {
            return Ok(TurnSummary::default());
        }
        let disabled = match turn.disabled {
            Some(EndpointState::Disabled { reason, .. }) => Some(reason),
            _ => None,
        };
        let mut effects = Effects::default();
        if disabled.is_some() {
            effects.enqueue(Job::NotifyWebhookDisabled(lease.endpoint));
        }
        effects.perform(env, None).await;
        let count = |which: &dyn Fn(&Attempt) -> bool| {
            u64::try_from(turn.attempts.iter().filter(|attempt| which(attempt)).count()).unwrap_or(u64::MAX)
        };
        let delivered = count(&|attempt| attempt.outcome.is_success());
        let all = count(&|_| true);
        let given_up = turn.failed.iter().filter(|failed| failed.next_at.is_none()).count();
        let given_up = u64::try_from(given_up).unwrap_or(u64::MAX);
        let failed = all.saturating_sub(delivered).saturating_sub(given_up);
        Ok(TurnSummary { delivered, failed, given_up, disabled })
    }
}

/// Some events of a feed after a position, of all types.
pub(super) struct EventBatch {
    /// The events, in their order.
    pub(super) events: Vec<Event>,
    /// The position of the end of the batch.
    complete_to: Position,
    /// Whether no event followed when they were read.
    is_last: bool,
}

impl EventBatch {
    /// Reads the events of an endpoint's feed.
    pub(super) async fn read(
        env: &Environment,
        endpoint: &WebhookEndpoint,
        after: Position,
    ) -> Result<Self, Unavailable> {
        let concerning = endpoint.feed.concerning(endpoint.owner);
        let OperationPage { operations, newest, .. } =
            env.operations.operations(concerning, after, BATCH).await?;
        let is_last = !u32::try_from(operations.len()).is_ok_and(|length| length >= BATCH);
        let last = operations.last().map(|operation| operation.position);
        let events = operations.into_iter().filter_map(Event::of).collect();
        Ok(Self { events, complete_to: last.filter(|_| !is_last).unwrap_or(newest), is_last })
    }
}

/// The record of a call.
pub(super) fn attempt_record(
    feed: Feed,
    of: Option<(Position, EventType)>,
    number: u32,
    sent: SentWebhook,
    at: Timestamp,
) -> Attempt {
    let SentWebhook { outcome, took, answer } = sent;
    let outcome = match (feed, outcome) {
        // The difference would show a member the names of the operator's network.
        (Feed::Own, AttemptOutcome::Unanswered(AttemptError::NotPermitted)) => {
            AttemptOutcome::Unanswered(AttemptError::ConnectionFailed)
        }
        _ => outcome,
    };
    Attempt {
        position: of.map(|(position, _)| position),
        event_type: of.map(|(_, event_type)| event_type),
        number,
        outcome,
        milliseconds: u32::try_from(took.whole_milliseconds()).unwrap_or(u32::MAX),
        // Members do not see it.
        answer: answer.filter(|_| feed == Feed::All),
        at,
    }
}
