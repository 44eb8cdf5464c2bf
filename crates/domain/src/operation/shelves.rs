//! The entities of a book, one map for each kind.

use std::collections::HashMap;
use std::hash::Hash;

use crate::entities;
use crate::entity_facts::EntityFacts;
use crate::entity_ref::EntityRef;
use crate::ids;
use crate::operation::Entity;

/// A stored entity, which a [`Book`](crate::operation::Book) finds by its id.
pub trait Stored: EntityFacts + TryFrom<Entity, Error = Entity> + Sized + 'static {
    /// The type of its id.
    type Id: StoredId;

    /// All entities of its kind.
    #[doc(hidden)]
    fn shelf(shelves: &Shelves) -> &HashMap<Self::Id, Self>;

    /// The same, to change them.
    #[doc(hidden)]
    fn shelf_mut(shelves: &mut Shelves) -> &mut HashMap<Self::Id, Self>;
}

/// The id of a stored entity.
pub trait StoredId: Copy + Eq + Hash + Into<EntityRef> + Send + 'static {
    /// The entity.
    type Entity: Stored<Id = Self>;
}

/// Declares the maps, and which of them holds which entity.
macro_rules! shelves {
    (
        stored { $($Kind:ident($Type:ty, $Id:ident) in $table:ident { $($facts:tt)+ })+ }
        recorded { $($Recorded:ident($RecordedType:ty, $RecordedId:ident) { $($recorded_facts:tt)+ })+ }
    ) => {
        /// The entities of a book.
        #[derive(Clone, PartialEq, Debug, Default)]
        pub struct Shelves {
            $($table: HashMap<ids::$Id, $Type>,)+
        }

        impl Shelves {
            /// Inserts or replaces an entity; recorded entities are not kept.
            pub(super) fn put(&mut self, entity: Entity) {
                match entity {
                    $(Entity::$Kind(it) => drop(self.$table.insert(it.id, it)),)+
                    $(Entity::$Recorded(_) => {})+
                }
            }

            /// The entity with this reference.
            pub(super) fn find(&self, reference: EntityRef) -> Option<Entity> {
                match reference {
                    $(EntityRef::$Kind(id) => self.$table.get(&id).cloned().map(Entity::$Kind),)+
                    EntityRef::Unknown { .. } $(| EntityRef::$Recorded(_))+ => None,
                }
            }

            /// All entities, in no particular order.
            pub(super) fn all(&self) -> impl Iterator<Item = Entity> {
                std::iter::empty()$(.chain(self.$table.values().cloned().map(Entity::$Kind)))+
            }

            /// Whether an entity has this one's kind and id.
            pub(super) fn has(&self, entity: &Entity) -> bool {
                match entity {
                    $(Entity::$Kind(it) => self.$table.contains_key(&it.id),)+
                    $(Entity::$Recorded(_) => false,)+
                }
            }

            /// Whether the entity is still as loaded; `None` if it is missing or, like an erased user, cannot be changed.
            pub(super) fn stands_as(&self, loaded: &Entity) -> Option<bool> {
                match loaded {
                    $(Entity::$Kind(it) => {
                        let stored = self.$table.get(&it.id).filter(|stored| stored.is_present());
                        stored.map(|stored| stored.stands_as(it))
                    })+
                    $(Entity::$Recorded(_) => Some(true),)+
                }
            }
        }

        $(
            impl Stored for $Type {
                type Id = ids::$Id;

                fn shelf(shelves: &Shelves) -> &HashMap<ids::$Id, Self> {
                    &shelves.$table
                }

                fn shelf_mut(shelves: &mut Shelves) -> &mut HashMap<ids::$Id, Self> {
                    &mut shelves.$table
                }
            }

            impl StoredId for ids::$Id {
                type Entity = $Type;
            }
        )+
    };
}

entities!(shelves);
