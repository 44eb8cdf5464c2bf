//! The result of an applied plan: enough to answer its command, now or on a retry.

use time::Duration;

use crate::entity_ref::EntityRef;
use crate::ids::{OperationId, UserId};
use crate::ledger::{Balance, PostingRules};
use crate::operation::Entity;
use crate::timestamp::Timestamp;

/// The result of an applied plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Receipt {
    pub operation: OperationId,
    /// The time of the decision.
    pub at: Timestamp,
    /// The rules by which its money was posted.
    pub rules: PostingRules,
    pub outcome: Outcome,
}

impl Receipt {
    /// The retention of a complete receipt, equal to that of an idempotency key. After that, a receipt that
    /// shows a profile is redacted.
    pub const RETENTION: Duration = Duration::days(7);
}

/// A stored receipt.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every receipt is whole")]
pub enum StoredReceipt {
    /// The complete receipt.
    Whole(Receipt),
    /// The receipt of a change of a user, without the profile.
    Redacted {
        operation: OperationId,
        /// The user shown in the profile.
        user: UserId,
    },
}

impl StoredReceipt {
    /// The complete receipt; `None` after its redaction.
    #[must_use]
    pub const fn whole(&self) -> Option<&Receipt> {
        match self {
            Self::Whole(receipt) => Some(receipt),
            Self::Redacted { .. } => None,
        }
    }

    /// The operation.
    #[must_use]
    pub const fn operation(&self) -> OperationId {
        match self {
            Self::Whole(receipt) => receipt.operation,
            Self::Redacted { operation, .. } => *operation,
        }
    }

    /// The user whose profile it shows.
    #[must_use]
    pub const fn profile_of(&self) -> Option<UserId> {
        match self {
            Self::Whole(Receipt { outcome: Outcome { entity: Entity::User(user), .. }, .. }) => Some(user.id),
            Self::Whole(_) | Self::Redacted { .. } => None,
        }
    }

    /// Replaces the profile by the user's id; a receipt without a profile is unchanged.
    pub fn redact(&mut self) {
        if let Some(user) = self.profile_of() {
            *self = Self::Redacted { operation: self.operation(), user };
        }
    }

    /// Whether it shows a profile whose retention has ended.
    #[must_use]
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.profile_of().is_some()
            && self.whole().is_some_and(|receipt| receipt.at.plus(Receipt::RETENTION) <= now)
    }
}

/// The entity right after the operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    pub entity: Entity,
    /// Its owner's balance, if the answer to the command shows it.
    pub balance: Option<Balance>,
}

impl Outcome {
    /// The kind and the id of the entity.
    #[must_use]
    pub const fn reference(&self) -> EntityRef {
        self.entity.reference()
    }
}
