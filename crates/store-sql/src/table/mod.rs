//! Tables, each declared once by `table!`: for Diesel, as rows, for copies, and for exports of personal data.

#[cfg(feature = "postgres")]
mod arrays;
#[cfg(feature = "sqlite")]
mod binds;
mod numbered;
mod table_macro;

#[cfg(feature = "postgres")]
pub use arrays::{ArrayColumn, ArrayRow};
#[cfg(feature = "sqlite")]
pub use binds::BoundRow;
pub use numbered::{Numbered, NumberedRow};
pub(crate) use table_macro::{role, row, table};

/// The meaning of a column's values, which each store encodes in its own way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnKind {
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    Text,
    /// A number of degrees or kilometres.
    Real,
    /// An amount of money in the deployment's currency.
    Money,
    Time,
    /// The id of an operation.
    Id,
    Bytes,
    /// A JSON document.
    Json,
}

/// Why an export omits a column.
#[derive(Clone, Copy, Debug)]
pub struct Omission {
    /// A condition for the rows of a user with an omitted value.
    pub rows: &'static str,
    pub reason: &'static str,
}

impl Omission {
    /// The omission with a reason and, unless it concerns every row, its rows; `None` without a reason.
    pub(crate) const fn of(texts: &[&'static str]) -> Option<Self> {
        match texts {
            [] => None,
            [reason] => Some(Self { rows: Self::ALL, reason }),
            [reason, rows, ..] => Some(Self { rows, reason }),
        }
    }

    /// The condition of all rows.
    pub const ALL: &'static str = "true";
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in every store.
    pub name: &'static str,
    /// The meaning of its values.
    pub kind: ColumnKind,
    /// Its SQL type without `Nullable`, by its name in [`crate::sql_types`].
    pub sql_type: &'static str,
    /// Whether it may be null.
    pub is_nullable: bool,
    /// Why an export omits it, if it does.
    pub omission: Option<Omission>,
}

/// How a store counts the ids of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// Servers reserve blocks of ids.
    Reserved,
    /// The store makes the ids of rows that may be purged, and uses none twice.
    Generated,
    /// The store makes the ids of rows that are never deleted.
    Permanent,
}

/// A counter of ids.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// The table of the ids, or `adjustments`, which have no table.
    pub name: &'static str,
    /// The sequence of a store that has sequences.
    pub sequence: &'static str,
    /// How the ids are counted.
    pub counting: Counting,
    /// A statement that reads the greatest id in use, in every store's SQL; null if none is.
    pub greatest: &'static str,
}

impl Counter {
    /// The first of these counters, if there is one.
    pub(crate) const fn one(counters: &[Self]) -> Option<Self> {
        match counters {
            [] => None,
            [counter, ..] => Some(*counter),
        }
    }
}

/// The users that the rows of a table mention. In conditions `{id}` stands for the id of the user, and
/// `[profile.user]` for the text of this field of a receipt.
#[derive(Clone, Copy, Debug)]
pub enum Mentions {
    /// No user; holds a description of the contents.
    Nobody(&'static str),
    /// The users that the conditions select.
    Users {
        /// The rows that belong to the user: an export shows every column of them without an [`Omission`].
        own: &'static str,
        /// Rows that mention the user and are omitted, each with the reason.
        omitted: &'static [(&'static str, &'static str)],
    },
}

/// A table that mentions no user.
pub(crate) const fn nobody(contents: &'static str) -> Mentions {
    Mentions::Nobody(contents)
}

/// A table with rows that mention only their own user.
pub(crate) const fn own(own: &'static str) -> Mentions {
    Mentions::Users { own, omitted: &[] }
}

/// A table with other rows that mention a user.
pub(crate) const fn own_and(own: &'static str, omitted: &'static [(&'static str, &'static str)]) -> Mentions {
    Mentions::Users { own, omitted }
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name in every store.
    pub name: &'static str,
    /// Its columns; those of the key come first, and are integers, ids of operations, bytes or times.
    pub columns: &'static [Column],
    /// The number of columns of the key, by which rows are ordered.
    pub(crate) key: usize,
    /// The counter of its ids, if it has any.
    pub counter: Option<Counter>,
    /// The users that its rows mention.
    pub mentions: Mentions,
}

impl Table {
    /// The columns of the key.
    #[must_use]
    pub fn key(&self) -> &'static [Column] {
        self.columns.get(..self.key).unwrap_or(self.columns)
    }

    /// The names of tables as a list for a statement.
    #[must_use]
    pub fn list(tables: &[Self]) -> String {
        tables.iter().map(|table| table.name).collect::<Vec<_>>().join(", ")
    }

    /// The names of columns as a list for a statement.
    #[must_use]
    pub fn names(columns: &[Column]) -> String {
        columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
    }
}

/// A table of Diesel that is declared by `table!`.
pub(crate) trait Declared {
    /// Its declaration.
    const TABLE: Table;
}

/// How statements write a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnRole {
    /// Written only when the row is added.
    Fixed,
    /// The key of the row in an update.
    Key,
    /// Written when the row is added and by each update.
    Moves,
    /// Written only by an update of its own.
    Later,
    /// Computed when the row is added.
    Computed,
}

/// The columns of an update, as a type, because prepared statements are cached by their type.
pub trait ColumnSet: Send + Sync + 'static {
    /// The role of the columns that the update writes.
    const ROLE: ColumnRole;
}

/// The columns with [`ColumnRole::Moves`].
#[derive(Clone, Copy, Debug)]
pub struct Moves;
/// The columns with [`ColumnRole::Later`].
#[derive(Clone, Copy, Debug)]
pub struct Later;

impl ColumnSet for Moves {
    const ROLE: ColumnRole = ColumnRole::Moves;
}

impl ColumnSet for Later {
    const ROLE: ColumnRole = ColumnRole::Later;
}

/// A row of a table.
pub trait TableRow: Sized + 'static {
    /// The name of the table.
    const TABLE: &'static str;

    /// Visits each column in the order of selections and statements.
    fn columns(each: &mut dyn FnMut(&'static str, ColumnRole));
}
