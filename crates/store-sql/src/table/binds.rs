//! Rows as parameters of SQLite.

use diesel::QueryResult;
use diesel::query_builder::AstPass;
use diesel::sqlite::Sqlite;

use super::{ColumnRole, TableRow};

/// A type of row that SQLite's statements bind column by column.
pub trait BoundRow: TableRow {
    /// Binds the values of the wanted columns in their order, each after the text that `before` returns for it and,
    /// if `named`, after its name and `=`.
    ///
    /// # Errors
    /// When a value cannot be bound.
    fn bind<'b>(
        &'b self,
        wanted: fn(ColumnRole) -> bool,
        before: &mut dyn FnMut() -> &'static str,
        named: bool,
        out: &mut AstPass<'_, 'b, Sqlite>,
    ) -> QueryResult<()>;
}
