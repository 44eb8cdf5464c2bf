//! References to entities: the kinds and ids of the objects that plans change and ledger entries refer to.

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::ids::{AdjustmentId, ProviderMessageId, RequestId, TopupId, UserId, WithdrawalId};
use crate::names::named_enum;
use crate::unknown::UnknownName;

/// The kinds of rows in a lock set, by the names that stores and clients use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum EntityKind {
    /// A music request.
    MusicRequest,
    /// A withdrawal.
    Withdrawal,
    /// A top-up.
    Topup,
    /// An operator's adjustment.
    Adjustment,
    /// A user.
    User,
    /// A user's wallet.
    Wallet,
    /// A provider message.
    ProviderMessage,
}

named_enum!(EntityKind);

impl EntityKind {
    /// The kinds that ledger entries refer to.
    pub fn posted() -> impl Iterator<Item = Self> + Clone {
        Self::all().filter(|kind| kind.is_posted())
    }

    /// Whether ledger entries refer to entities of this kind, because plans about them move money.
    #[must_use]
    pub const fn is_posted(self) -> bool {
        match self {
            Self::MusicRequest | Self::Withdrawal | Self::Topup | Self::Adjustment => true,
            Self::User | Self::Wallet | Self::ProviderMessage => false,
        }
    }

    /// The kind in messages to operators.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::MusicRequest => "music request",
            Self::Withdrawal => "withdrawal",
            Self::Topup => "top-up",
            Self::Adjustment => "adjustment",
            Self::User => "person",
            Self::Wallet => "wallet",
            Self::ProviderMessage => "provider message",
        }
    }
}

/// A reference to an entity: its kind and id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EntityRef {
    /// A music request.
    MusicRequest(RequestId),
    /// A withdrawal.
    Withdrawal(WithdrawalId),
    /// A top-up.
    Topup(TopupId),
    /// An operator's adjustment.
    Adjustment(AdjustmentId),
    /// A user.
    User(UserId),
    /// A provider message.
    ProviderMessage(ProviderMessageId),
    /// An entity of a kind that only a newer version knows.
    Unknown {
        /// The name of the kind.
        kind: UnknownName,
        /// The id.
        id: i64,
    },
}

impl EntityRef {
    /// The kind.
    ///
    /// # Errors
    /// The name of a kind that only a newer version knows.
    pub const fn kind(self) -> Result<EntityKind, UnknownName> {
        match self {
            Self::MusicRequest(_) => Ok(EntityKind::MusicRequest),
            Self::Withdrawal(_) => Ok(EntityKind::Withdrawal),
            Self::Topup(_) => Ok(EntityKind::Topup),
            Self::Adjustment(_) => Ok(EntityKind::Adjustment),
            Self::User(_) => Ok(EntityKind::User),
            Self::ProviderMessage(_) => Ok(EntityKind::ProviderMessage),
            Self::Unknown { kind, .. } => Err(kind),
        }
    }

    /// The name of the kind, as used by stores and clients.
    #[must_use]
    pub fn kind_name(self) -> &'static str {
        match self.kind() {
            Ok(kind) => kind.name(),
            Err(name) => name.as_str(),
        }
    }

    /// The kind in messages to operators.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self.kind() {
            Ok(kind) => kind.title(),
            Err(name) => name.as_str(),
        }
    }

    /// The id, without its kind.
    #[must_use]
    pub const fn id(self) -> i64 {
        match self {
            Self::MusicRequest(id) => id.get(),
            Self::Withdrawal(id) => id.get(),
            Self::Topup(id) => id.get(),
            Self::Adjustment(id) => id.get(),
            Self::User(id) => id.get(),
            Self::ProviderMessage(id) => id.get(),
            Self::Unknown { id, .. } => id,
        }
    }

    /// The reference that a ledger entry stores under this kind and id; `None` for values that no version
    /// writes. A kind that this version's entries do not refer to is [`Self::Unknown`].
    #[must_use]
    pub fn stored(kind: &str, id: i64) -> Option<Self> {
        match EntityKind::named(kind) {
            Some(EntityKind::MusicRequest) => RequestId::new(id).map(Self::MusicRequest),
            Some(EntityKind::Withdrawal) => WithdrawalId::new(id).map(Self::Withdrawal),
            Some(EntityKind::Topup) => TopupId::new(id).map(Self::Topup),
            Some(EntityKind::Adjustment) => AdjustmentId::new(id).map(Self::Adjustment),
            Some(EntityKind::User | EntityKind::Wallet | EntityKind::ProviderMessage) | None => {
                UnknownName::stored(kind).map(|kind| Self::Unknown { kind, id })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_posted_entity_kind_is_read_by_its_name() {
        for kind in EntityKind::posted() {
            let reference = EntityRef::stored(kind.name(), 7).unwrap();
            assert_eq!((reference.kind(), reference.kind_name()), (Ok(kind), kind.name()));
            assert_eq!((reference.id(), EntityRef::stored(kind.name(), 0)), (7, None));
        }
    }

    #[test]
    fn other_entity_kinds_are_unknown_and_keep_their_names() {
        for name in ["gig", "user", "wallet", "provider_message"] {
            let reference = EntityRef::stored(name, 7).unwrap();
            assert!(reference.kind().is_err());
            assert_eq!((reference.kind_name(), reference.id()), (name, 7));
        }
        assert_eq!(EntityRef::stored("Music Request", 7), None);
    }
}
