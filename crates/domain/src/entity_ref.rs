//! References to entities: the kinds and ids of the objects that plans change and ledger entries refer to.

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::entities;
use crate::ids;
use crate::names::named_enum;
use crate::unknown::UnknownName;

/// Declares the kinds of entities and the references to them.
macro_rules! references {
    (stored { $($stored:tt)+ } recorded { $($recorded:tt)+ }) => {
        references! { $($stored)+ $($recorded)+ }
    };
    ($(
        $Kind:ident($Type:ty, $Id:ident) $(in $table:ident)? { title: $title:literal, posted: $posted:literal }
    )+) => {
        /// The kinds of entities, and wallets, by the names that stores and clients use.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
        #[strum(serialize_all = "snake_case")]
        pub enum EntityKind {
            $(
                #[doc = concat!("The kind \"", $title, "\".")]
                $Kind,
            )+
            /// A user's wallet, which is no entity.
            Wallet,
        }

        impl EntityKind {
            /// Whether ledger entries refer to entities of this kind, because plans about them move money.
            #[must_use]
            pub const fn is_posted(self) -> bool {
                match self {
                    $(Self::$Kind => $posted,)+
                    Self::Wallet => false,
                }
            }

            /// The table that keeps entities of this kind; `None` if only receipts do.
            #[must_use]
            pub fn table(self) -> Option<&'static str> {
                match self {
                    $(Self::$Kind => [$(stringify!($table))?].first().copied(),)+
                    Self::Wallet => Some("wallets"),
                }
            }

            /// The kind in messages to operators.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$Kind => $title,)+
                    Self::Wallet => "wallet",
                }
            }
        }

        /// A reference to an entity: its kind and id.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum EntityRef {
            $(
                #[doc = concat!("An entity of the kind \"", $title, "\".")]
                $Kind(ids::$Id),
            )+
            /// An entity of a kind that only a newer version knows.
            Unknown {
                kind: UnknownName,
                id: i64,
            },
        }

        $(
            impl From<ids::$Id> for EntityRef {
                fn from(id: ids::$Id) -> Self {
                    Self::$Kind(id)
                }
            }
        )+

        impl EntityRef {
            /// The kind.
            ///
            /// # Errors
            /// The name of a kind that only a newer version knows.
            pub const fn kind(self) -> Result<EntityKind, UnknownName> {
                match self {
                    $(Self::$Kind(_) => Ok(EntityKind::$Kind),)+
                    Self::Unknown { kind, .. } => Err(kind),
                }
            }

            /// The id, without its kind.
            #[must_use]
            pub const fn id(self) -> i64 {
                match self {
                    $(Self::$Kind(id) => id.get(),)+
                    Self::Unknown { id, .. } => id,
                }
            }

            /// The reference; `None` for a wallet or an invalid id.
            fn of(kind: EntityKind, id: i64) -> Option<Self> {
                match kind {
                    $(EntityKind::$Kind => ids::$Id::new(id).map(Self::$Kind),)+
                    EntityKind::Wallet => None,
                }
            }
        }
    };
}

entities!(references);

named_enum!(EntityKind);

impl EntityKind {
    /// The kinds that ledger entries refer to.
    pub fn posted() -> impl Iterator<Item = Self> + Clone {
        Self::all().filter(|kind| kind.is_posted())
    }
}

impl EntityRef {
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

    /// The reference that a ledger entry stores under this kind and id; `None` for values that no version
    /// writes. A kind that this version's entries do not refer to is [`Self::Unknown`].
    #[must_use]
    pub fn stored(kind: &str, id: i64) -> Option<Self> {
        match EntityKind::named(kind).filter(|kind| kind.is_posted()) {
            Some(kind) => Self::of(kind, id),
            None => UnknownName::stored(kind).map(|kind| Self::Unknown { kind, id }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entity_kinds_of_postings_are_read_by_name() {
        for kind in EntityKind::posted() {
            let reference = EntityRef::stored(kind.name(), 7).unwrap();
            assert_eq!((reference.kind(), reference.kind_name()), (Ok(kind), kind.name()));
            assert_eq!((reference.id(), EntityRef::stored(kind.name(), 0)), (7, None));
        }
    }

    #[test]
    fn unknown_entity_kinds_keep_their_names() {
        for name in ["gift", "gig", "user", "wallet", "provider_message"] {
            let reference = EntityRef::stored(name, 7).unwrap();
            assert!(reference.kind().is_err());
            assert_eq!((reference.kind_name(), reference.id()), (name, 7));
        }
        assert_eq!(EntityRef::stored("Music Request", 7), None);
    }
}
