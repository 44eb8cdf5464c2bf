//! The rows of entities: of which type they are, and how a group of plans loads and writes them.

use std::collections::BTreeMap;

use cuepoint_domain::entities;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::{Book, Entity};

use crate::corrupt::Corrupt;

/// An entity that a table keeps.
pub trait Rowed: Sized {
    /// Its row.
    type Row;

    /// Converts the entity to its row.
    fn row(&self, currency: &Currency) -> Self::Row;

    /// Converts a row to its entity.
    fn of_row(row: Self::Row, currency: &Currency) -> Result<Self, Corrupt>;
}

/// The row of an entity.
pub type RowOf<E> = <E as Rowed>::Row;

/// The last images of the rows of one table, by id.
#[derive(Clone, Debug)]
pub struct RowImages<Row> {
    /// New rows.
    pub opened: BTreeMap<i64, Row>,
    /// Changed rows that the database already has.
    pub moved: BTreeMap<i64, Row>,
}

impl<Row> Default for RowImages<Row> {
    fn default() -> Self {
        Self { opened: BTreeMap::new(), moved: BTreeMap::new() }
    }
}

impl<Row> RowImages<Row> {
    fn open(&mut self, id: i64, row: Row) {
        self.opened.insert(id, row);
    }

    /// A row that the same group opened is written once, in its final state.
    pub(crate) fn moved(&mut self, id: i64, row: Row) {
        let images = if self.opened.contains_key(&id) { &mut self.opened } else { &mut self.moved };
        images.insert(id, row);
    }
}

/// Declares the rows that a group of plans loads and writes.
macro_rules! rows {
    (
        stored { $($Kind:ident($Type:ty, $Id:ident) in $table:ident { $($facts:tt)+ })+ }
        recorded { $($Recorded:ident($RecordedType:ty, $RecordedId:ident) { $($recorded_facts:tt)+ })+ }
    ) => {
        /// The rows that were loaded for a group of plans, by table.
        #[derive(Clone, Debug, Default)]
        pub struct EntityRows {
            $(
                #[doc = concat!("Rows of the table `", stringify!($table), "`.")]
                pub $table: Vec<RowOf<$Type>>,
            )+
        }

        impl EntityRows {
            /// Adds rows that were loaded separately.
            pub fn extend(&mut self, other: Self) {
                $(self.$table.extend(other.$table);)+
            }

            /// Adds their entities to a book.
            pub(crate) fn fill(self, book: &mut Book, currency: &Currency) -> Result<(), Corrupt> {
                $(
                    for row in self.$table {
                        book.put(<$Type>::of_row(row, currency)?);
                    }
                )+
                Ok(())
            }
        }

        /// The rows that a group of plans writes, by table.
        #[derive(Clone, Debug, Default)]
        pub struct EntityImages {
            $(
                #[doc = concat!("Rows of the table `", stringify!($table), "`.")]
                pub $table: RowImages<RowOf<$Type>>,
            )+
        }

        impl EntityImages {
            /// Adds an opened entity; a recorded one has no row.
            pub(crate) fn open(&mut self, entity: &Entity, currency: &Currency) {
                match entity {
                    $(Entity::$Kind(it) => self.$table.open(it.id.get(), it.row(currency)),)+
                    $(Entity::$Recorded(_) => {})+
                }
            }

            /// Adds an entity that changed; a recorded one has no row.
            pub(crate) fn moved(&mut self, entity: &Entity, currency: &Currency) {
                match entity {
                    $(Entity::$Kind(it) => self.$table.moved(it.id.get(), it.row(currency)),)+
                    $(Entity::$Recorded(_) => {})+
                }
            }
        }
    };
}

entities!(rows);
