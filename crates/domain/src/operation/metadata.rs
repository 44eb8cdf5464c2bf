//! The metadata of an operation: its id, actor, time, reason and client.

use crate::authorization::Principal;
use crate::ids::{OperationId, SessionId, UserId};
use crate::operation::IdempotencyKey;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::user::session::ClientInfo;

/// The actor of a change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Actor {
    /// A user, on their own behalf or as an operator.
    User(UserId),
    /// The service itself: the clock or a provider's message.
    System,
}

/// The metadata of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OperationMetadata {
    /// The permanent identity of the change.
    pub operation: OperationId,
    pub actor: Actor,
    /// The time of the decision.
    pub at: Timestamp,
    /// The reason, where one is required.
    pub reason: Option<Line>,
    /// The client's idempotency key, if it sent one.
    pub key: Option<IdempotencyKey>,
    /// The session of the request.
    pub session: Option<SessionId>,
    /// The client of the request.
    pub client: ClientInfo,
    /// Whether the user acts as an operator: the plan is then rejected unless they are an active one when it
    /// is applied.
    pub as_operator: bool,
}

impl OperationMetadata {
    /// A change by the service itself.
    #[must_use]
    pub const fn system(operation: OperationId, at: Timestamp) -> Self {
        Self::of(Actor::System, operation, at)
    }

    /// A change by a user outside any request, without session and client.
    #[must_use]
    pub const fn by(user: UserId, operation: OperationId, at: Timestamp) -> Self {
        Self::of(Actor::User(user), operation, at)
    }

    /// A change by a principal, with their session and this client.
    #[must_use]
    pub const fn called(
        caller: &Principal,
        client: ClientInfo,
        operation: OperationId,
        at: Timestamp,
    ) -> Self {
        let (actor, session) = (Actor::User(caller.user), Some(caller.session));
        Self { operation, actor, at, reason: None, key: None, session, client, as_operator: false }
    }

    /// A change without a reason, a key, a session or a client.
    #[must_use]
    pub const fn of(actor: Actor, operation: OperationId, at: Timestamp) -> Self {
        let client = ClientInfo { address: None, agent: None };
        Self { operation, actor, at, reason: None, key: None, session: None, client, as_operator: false }
    }

    /// The user behind the change, if any.
    #[must_use]
    pub const fn person(&self) -> Option<UserId> {
        match self.actor {
            Actor::User(user) => Some(user),
            Actor::System => None,
        }
    }
}
