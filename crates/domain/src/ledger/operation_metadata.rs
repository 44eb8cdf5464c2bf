//! The metadata of an operation: its id, its actor, its time, the reason and the client.

use crate::account::session::Visitor;
use crate::authorization::Principal;
use crate::ids::{OperationId, SessionId, UserId};
use crate::ledger::IdempotencyKey;
use crate::text::Line;
use crate::timestamp::Timestamp;

/// Who is behind a change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Actor {
    /// A person, in their own affairs or as an operator.
    User(UserId),
    /// The service itself: the clock, a provider's word.
    System,
}

/// Where a plan comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The permanent identity of the change.
    pub operation: OperationId,
    /// Who is behind it.
    pub actor: Actor,
    /// When it was decided.
    pub at: Timestamp,
    /// Why, where somebody must say so.
    pub reason: Option<Line>,
    /// The client's key, where it sent one.
    pub key: Option<IdempotencyKey>,
    /// The session that a person called in.
    pub session: Option<SessionId>,
    /// The client that a person called from.
    pub visitor: Visitor,
    /// Whether the person acts as an operator: the plan is then rejected unless they are an active one when it is applied.
    pub as_operator: bool,
}

impl Origin {
    /// A change by the service itself.
    #[must_use]
    pub const fn system(operation: OperationId, at: Timestamp) -> Self {
        Self::of(Actor::System, operation, at)
    }

    /// A change by a person who did not call over the network, so that no session and no client are known.
    #[must_use]
    pub const fn by(user: UserId, operation: OperationId, at: Timestamp) -> Self {
        Self::of(Actor::User(user), operation, at)
    }

    /// A change by a caller, in their session and from this client.
    #[must_use]
    pub const fn called(caller: &Principal, visitor: Visitor, operation: OperationId, at: Timestamp) -> Self {
        let (actor, session) = (Actor::User(caller.user), Some(caller.session));
        Self { operation, actor, at, reason: None, key: None, session, visitor, as_operator: false }
    }

    /// A change without a reason, a key, a session or a client.
    #[must_use]
    pub const fn of(actor: Actor, operation: OperationId, at: Timestamp) -> Self {
        let visitor = Visitor { address: None, agent: None };
        Self { operation, actor, at, reason: None, key: None, session: None, visitor, as_operator: false }
    }

    /// The person behind the plan, if one is.
    #[must_use]
    pub const fn person(&self) -> Option<UserId> {
        match self.actor {
            Actor::User(user) => Some(user),
            Actor::System => None,
        }
    }
}
