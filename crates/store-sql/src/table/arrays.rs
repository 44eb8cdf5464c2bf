//! Rows as arrays of PostgreSQL.

use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::AstPass;

use super::{ColumnRole, TableRow};

/// A type of row that PostgreSQL's statements bind as one array per column.
pub trait ArrayRow: TableRow {
    /// The arrays.
    type Arrays: Default + Send + Sync;

    /// Adds the row to the arrays of the wanted columns.
    fn push(self, arrays: &mut Self::Arrays, wanted: fn(ColumnRole) -> bool);

    /// Binds the arrays of the wanted columns, each after the next separator.
    ///
    /// # Errors
    /// When a value cannot be bound.
    fn bind_arrays<'b>(
        arrays: &'b Self::Arrays,
        wanted: fn(ColumnRole) -> bool,
        separators: &mut dyn Iterator<Item = &'static str>,
        out: &mut AstPass<'_, 'b, Pg>,
    ) -> QueryResult<()>;
}
