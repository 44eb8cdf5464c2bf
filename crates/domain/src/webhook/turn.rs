//! A turn: the deliveries to one endpoint by one server, under a lease.

use super::{Attempt, EndpointState, EndpointUrl, FailedDelivery, FollowUp, Replay, WebhookEndpoint};
use crate::ids::WebhookEndpointId;
use crate::operation::Position;
use crate::timestamp::Timestamp;

/// The right to deliver to an endpoint, which one server has at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lease {
    pub endpoint: WebhookEndpointId,
    /// The number of the lease: a newer one has a higher number and ends those before.
    pub number: i64,
}

/// Why an event is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeliveryKind {
    /// For the first time.
    First,
    /// Once more, because its owner asked for a range of events.
    Replayed,
    /// Once more, because this delivery failed before.
    Repeated(FailedDelivery),
}

/// The results of a turn, which the store records in one commit if the lease is still held. It ends the lease.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Turn {
    /// The position up to which each event was attempted, if it has changed.
    pub cursor: Option<Position>,
    /// The position up to which the replay was attempted, if it has changed. The replay ends at its last
    /// position.
    pub replayed_to: Option<Position>,
    /// The attempts, in their order.
    pub attempts: Vec<Attempt>,
    /// Deliveries that failed, one of each position at most, to be stored instead of earlier ones of the same
    /// position.
    pub failed: Vec<FailedDelivery>,
    /// Positions whose failed deliveries are removed, if there are any; none of those in `failed`.
    pub settled: Vec<Position>,
    /// The state of the endpoint, only if this turn disabled it.
    pub disabled: Option<EndpointState>,
    /// The time of the first failed attempt since the last successful one; `None` if there was no attempt.
    pub failing_since: Option<Option<Timestamp>>,
    /// The URL of the last attempt.
    pub url: Option<EndpointUrl>,
}

impl Turn {
    /// Notes an attempt that ended at `ended`, and updates the endpoint. `spread` is that of
    /// [`AttemptOutcome::follow_up`](super::AttemptOutcome::follow_up).
    pub fn note(
        &mut self,
        endpoint: &mut WebhookEndpoint,
        kind: DeliveryKind,
        position: Position,
        attempt: Attempt,
        ended: Timestamp,
        spread: i32,
    ) {
        let failed_at = match kind {
            DeliveryKind::Repeated(before) => before.failed_at,
            DeliveryKind::First | DeliveryKind::Replayed => attempt.at,
        };
        let failed = |next_at| FailedDelivery { position, attempts: attempt.number, next_at, failed_at };
        // A replay can reach a position whose delivery was repeated in the same turn.
        self.failed.retain(|earlier| earlier.position != position);
        self.settled.retain(|earlier| *earlier != position);
        match attempt.outcome.follow_up(attempt.number, ended, spread) {
            FollowUp::RepeatAt(at) => self.failed.push(failed(Some(at))),
            FollowUp::GiveUp => self.failed.push(failed(None)),
            FollowUp::Done if kind == DeliveryKind::First => {}
            FollowUp::Done => self.settled.push(position),
        }
        match kind {
            DeliveryKind::First => self.cursor = Some(position),
            DeliveryKind::Replayed => self.replayed_to = Some(position),
            DeliveryKind::Repeated(_) => {}
        }
        (endpoint.state, endpoint.failing_since) = endpoint.after(attempt.outcome, ended);
        self.failing_since = Some(endpoint.failing_since);
        if let EndpointState::Disabled { .. } = endpoint.state {
            self.disabled = Some(endpoint.state);
        }
        self.url = Some(endpoint.url.clone());
        self.attempts.push(attempt);
    }
}

impl WebhookEndpoint {
    /// The endpoint after a turn. Its owner may have changed it meanwhile: only an active one is disabled, and
    /// failures count only for the URL that was called.
    #[must_use]
    pub fn after_turn(mut self, turn: &Turn) -> Self {
        self.cursor = self.cursor.max(turn.cursor.unwrap_or_default());
        if let (Some(replay), Some(after)) = (self.replay, turn.replayed_to) {
            self.replay = (after < replay.until).then_some(Replay { after, ..replay });
        }
        if turn.url.as_ref().is_some_and(|url| *url != self.url) {
            return self;
        }
        if let Some(failing_since) = turn.failing_since {
            self.failing_since = failing_since;
        }
        if let (EndpointState::Active, Some(disabled)) = (self.state, turn.disabled) {
            self.state = disabled;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Feed;
    use crate::ids::UserId;
    use crate::webhook::{AttemptOutcome, EndpointUrl, NewEndpoint, SealedSecret};

    fn endpoint() -> WebhookEndpoint {
        let new = NewEndpoint {
            owner: UserId::new(1).unwrap(),
            session: None,
            key: None,
            feed: Feed::Own,
            url: EndpointUrl::new("https://example.com").unwrap(),
            types: None,
            description: None,
            secret: SealedSecret("sealed".to_owned()),
            at: Timestamp::EPOCH,
        };
        WebhookEndpoint::new(WebhookEndpointId::new(1).unwrap(), Position::START, new)
    }

    fn attempt(status: u16) -> Attempt {
        Attempt {
            position: Position::new(5),
            event_type: None,
            number: 1,
            outcome: AttemptOutcome::Answered { status, retry_after: None },
            milliseconds: 1,
            answer: None,
            at: Timestamp::EPOCH,
        }
    }

    #[test]
    fn the_last_attempt_to_deliver_an_event_in_a_batch_decides_the_outcome() {
        let position = Position::new(5).unwrap();
        let before = FailedDelivery { position, attempts: 1, next_at: None, failed_at: Timestamp::EPOCH };
        let kinds = [DeliveryKind::Repeated(before), DeliveryKind::Replayed];
        for (statuses, failed, settled) in [([204, 500], 1, 0), ([500, 204], 0, 1), ([500, 500], 1, 0)] {
            let (mut turn, mut endpoint) = (Turn::default(), endpoint());
            for (kind, status) in kinds.into_iter().zip(statuses) {
                turn.note(&mut endpoint, kind, position, attempt(status), Timestamp::EPOCH, 0);
            }
            assert_eq!((turn.failed.len(), turn.settled.len()), (failed, settled), "{statuses:?}");
        }
    }
}
