//! What an applied plan came to: enough to answer its command, now or at a retry.

use time::Duration;

use crate::account::User;
use crate::ids::{OperationId, UserId};
use crate::ledger::adjustment::Adjustment;
use crate::ledger::{Balance, EntityRef, PostingRules};
use crate::music_request::MusicRequest;
use crate::provider_message::ProviderMessage;
use crate::timestamp::Timestamp;
use crate::topup::Topup;
use crate::withdrawal::Withdrawal;

/// What an applied plan came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Receipt {
    /// Which operation.
    pub operation: OperationId,
    /// When it was decided.
    pub at: Timestamp,
    /// The rules by which its money was posted.
    pub rules: PostingRules,
    /// What it came to.
    pub outcome: Outcome,
}

impl Receipt {
    /// How long a receipt is kept whole, which is as long as an idempotency key. After that, a receipt that shows a profile
    /// is redacted.
    pub const KEPT: Duration = Duration::days(7);
}

/// A receipt as a store keeps it.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every receipt is whole")]
pub enum StoredReceipt {
    /// The whole receipt.
    Whole(Receipt),
    /// The receipt of a change of a profile or an account, without the profile that it showed.
    Redacted {
        /// Which operation.
        operation: OperationId,
        /// The user whose profile it showed.
        user: UserId,
    },
}

impl StoredReceipt {
    /// The whole receipt; `None` after it was redacted.
    #[must_use]
    pub const fn whole(&self) -> Option<&Receipt> {
        match self {
            Self::Whole(receipt) => Some(receipt),
            Self::Redacted { .. } => None,
        }
    }

    /// Which operation it is of.
    #[must_use]
    pub const fn operation(&self) -> OperationId {
        match self {
            Self::Whole(receipt) => receipt.operation,
            Self::Redacted { operation, .. } => *operation,
        }
    }

    /// The person whose profile it shows.
    #[must_use]
    pub const fn profile_of(&self) -> Option<UserId> {
        match self {
            Self::Whole(Receipt { outcome: Outcome::Profile(user, _), .. }) => Some(user.id),
            Self::Whole(_) | Self::Redacted { .. } => None,
        }
    }

    /// Replaces the profile that it shows by the person's id; a receipt without one stays as it is.
    pub fn redact(&mut self) {
        if let Some(user) = self.profile_of() {
            *self = Self::Redacted { operation: self.operation(), user };
        }
    }

    /// Whether it shows a profile that is no longer kept at this moment.
    #[must_use]
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.profile_of().is_some()
            && self.whole().is_some_and(|receipt| receipt.at.plus(Receipt::KEPT) <= now)
    }
}

/// The entity that an operation was about, as it was right after it, with the balance of its owner where its command
/// answers that.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// A music request.
    Request(MusicRequest),
    /// A withdrawal, with its owner's balance.
    Withdrawal(Withdrawal, Balance),
    /// A top-up.
    Topup(Topup),
    /// A person, with their balance.
    Profile(User, Balance),
    /// An adjustment, with the balance that it led to.
    Adjustment(Adjustment, Balance),
    /// A message of a provider.
    Message(ProviderMessage),
}

impl Outcome {
    /// The kind and the id of the entity.
    #[must_use]
    pub const fn reference(&self) -> EntityRef {
        match self {
            Self::Request(request) => EntityRef::MusicRequest(request.id),
            Self::Withdrawal(withdrawal, _) => EntityRef::Withdrawal(withdrawal.id),
            Self::Topup(topup) => EntityRef::Topup(topup.id),
            Self::Profile(user, _) => EntityRef::User(user.id),
            Self::Adjustment(adjustment, _) => EntityRef::Adjustment(adjustment.id),
            Self::Message(message) => EntityRef::ProviderMessage(message.id),
        }
    }
}
