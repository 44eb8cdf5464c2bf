//! Entities: the objects that plans change and receipts show.

use crate::entities;
use crate::entity_facts::EntityFacts;
use crate::entity_ref::{EntityKind, EntityRef};
use crate::ids::{OperationId, UserId};
use crate::timestamp::Timestamp;

/// Declares the enumeration of entities with the functions that depend on the kind.
macro_rules! entity {
    (stored { $($stored:tt)+ } recorded { $($recorded:tt)+ }) => {
        entity! { $($stored)+ $($recorded)+ }
    };
    ($(
        $Kind:ident($Type:ty, $Id:ident) $(in $table:ident)? { title: $title:literal, posted: $posted:literal }
    )+) => {
        /// An entity.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Entity {
            $(
                #[doc = concat!("An entity of the kind \"", $title, "\".")]
                $Kind($Type),
            )+
        }

        impl Entity {
            /// Its kind.
            #[must_use]
            pub const fn kind(&self) -> EntityKind {
                match self {
                    $(Self::$Kind(_) => EntityKind::$Kind,)+
                }
            }

            /// Its kind and id.
            #[must_use]
            pub const fn reference(&self) -> EntityRef {
                match self {
                    $(Self::$Kind(it) => EntityRef::$Kind(it.id),)+
                }
            }

            /// What all entities have in common.
            #[must_use]
            pub fn facts(&self) -> &dyn EntityFacts {
                match self {
                    $(Self::$Kind(it) => it,)+
                }
            }

            /// See [`EntityFacts::seen_at`].
            pub(super) fn seen_at(self, at: Timestamp) -> Self {
                match self {
                    $(Self::$Kind(it) => Self::$Kind(EntityFacts::seen_at(it, at)),)+
                }
            }

            /// See [`EntityFacts::transition`]; `None` for different kinds.
            pub(super) fn transition(&self, after: &Self) -> Option<String> {
                match (self, after) {
                    $((Self::$Kind(before), Self::$Kind(after)) => Some(before.transition(after)),)+
                    _ => None,
                }
            }

            /// See [`EntityFacts::is_recorded_as`]; no entity is recorded as one of another kind.
            pub(crate) fn is_recorded_as(&self, then: &Self, whole: bool, opens: bool) -> bool {
                match (self, then) {
                    $((Self::$Kind(now), Self::$Kind(then)) => now.is_recorded_as(then, whole, opens),)+
                    _ => false,
                }
            }
        }

        $(
            impl From<$Type> for Entity {
                fn from(it: $Type) -> Self {
                    Self::$Kind(it)
                }
            }

            impl TryFrom<Entity> for $Type {
                type Error = Entity;

                fn try_from(entity: Entity) -> Result<Self, Entity> {
                    match entity {
                        Entity::$Kind(it) => Ok(it),
                        other => Err(other),
                    }
                }
            }
        )+
    };
}

entities!(entity);

impl Entity {
    /// The owner of the wallet that its operations change; for a user, that user.
    #[must_use]
    pub fn owner(&self) -> Option<UserId> {
        self.facts().owner()
    }

    /// The operations that moved its money outside all wallets, in order: if there are any, no other
    /// operation moved its money.
    pub fn operations_without_entries(&self) -> impl Iterator<Item = OperationId> + use<> {
        self.facts().operations_without_entries().into_iter()
    }
}
