//! Entities: the objects that plans change and receipts show.

use crate::entity_ref::EntityRef;
use crate::ids::UserId;
use crate::ledger::adjustment::Adjustment;
use crate::music_request::MusicRequest;
use crate::provider_message::ProviderMessage;
use crate::topup::Topup;
use crate::user::User;
use crate::withdrawal::Withdrawal;

/// A stored entity.
#[derive(Clone, PartialEq, Debug)]
pub enum Entity {
    /// A music request.
    MusicRequest(MusicRequest),
    /// A withdrawal.
    Withdrawal(Withdrawal),
    /// A top-up.
    Topup(Topup),
    /// An operator's adjustment, as its operation recorded it.
    Adjustment(Adjustment),
    /// A user.
    User(User),
    /// A provider message.
    ProviderMessage(ProviderMessage),
}

impl Entity {
    /// Its kind and id.
    #[must_use]
    pub const fn reference(&self) -> EntityRef {
        match self {
            Self::MusicRequest(request) => EntityRef::MusicRequest(request.id),
            Self::Withdrawal(withdrawal) => EntityRef::Withdrawal(withdrawal.id),
            Self::Topup(topup) => EntityRef::Topup(topup.id),
            Self::Adjustment(adjustment) => EntityRef::Adjustment(adjustment.id),
            Self::User(user) => EntityRef::User(user.id),
            Self::ProviderMessage(message) => EntityRef::ProviderMessage(message.id),
        }
    }

    /// The owner of the wallet that its operations change; for a user, that user.
    #[must_use]
    pub const fn owner(&self) -> Option<UserId> {
        match self {
            Self::MusicRequest(request) => Some(request.requester),
            Self::Withdrawal(withdrawal) => Some(withdrawal.user),
            Self::Topup(topup) => Some(topup.user),
            Self::Adjustment(adjustment) => Some(adjustment.user),
            Self::User(user) => Some(user.id),
            Self::ProviderMessage(_) => None,
        }
    }
}
