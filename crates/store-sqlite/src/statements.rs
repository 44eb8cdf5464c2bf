//! Statements that write one row, generated from the declarations of the rows, and those that begin and end the
//! snapshot of a read. Their texts are fixed, so that each is prepared once per connection.

use std::iter::{once, repeat};
use std::marker::PhantomData;

use cuepoint_store_sql::table::{BoundRow, ColumnRole, ColumnSet, Moves};
use diesel::QueryResult;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::query_dsl::RunQueryDsl;
use diesel::sqlite::Sqlite;

/// Begins or ends the snapshot of a read. The transactions of Diesel parse their statements every time, which takes
/// longer than a short read. Prepared statements are cached by their type.
pub(crate) struct SnapshotStatement<const BEGINS: bool>;

pub(crate) const BEGIN: SnapshotStatement<true> = SnapshotStatement;
pub(crate) const COMMIT: SnapshotStatement<false> = SnapshotStatement;

impl<const BEGINS: bool> QueryFragment<Sqlite> for SnapshotStatement<BEGINS> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql(if BEGINS { "BEGIN" } else { "COMMIT" });
        Ok(())
    }
}

impl<const BEGINS: bool> QueryId for SnapshotStatement<BEGINS> {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<Connection, const BEGINS: bool> RunQueryDsl<Connection> for SnapshotStatement<BEGINS> {}

/// The separators before the items of a list.
fn separators() -> impl Iterator<Item = &'static str> {
    once("").chain(repeat(", "))
}

/// Adds a row: every column but those with an update of their own.
pub(crate) struct RowInsert<'r, R>(pub(crate) &'r R);

impl<R: BoundRow> QueryFragment<Sqlite> for RowInsert<'_, R> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        let wanted = |role| role != ColumnRole::Later;
        out.push_sql("INSERT INTO ");
        out.push_sql(R::TABLE);
        out.push_sql(" (");
        let mut separators_of_names = separators();
        R::columns(&mut |name, role| {
            if wanted(role) {
                out.push_sql(separators_of_names.next().unwrap_or_default());
                out.push_sql(name);
            }
        });
        out.push_sql(") VALUES (");
        let mut separators = separators();
        self.0.bind(wanted, &mut || separators.next().unwrap_or_default(), false, &mut out)?;
        out.push_sql(")");
        Ok(())
    }
}

impl<R: BoundRow> QueryId for RowInsert<'_, R> {
    type QueryId = RowInsert<'static, R>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<R, Connection> RunQueryDsl<Connection> for RowInsert<'_, R> {}

/// Updates a row by its key.
pub(crate) struct RowUpdate<'r, R, C = Moves>(&'r R, PhantomData<C>);

impl<'r, R, C: ColumnSet> RowUpdate<'r, R, C> {
    /// The update of the columns in this set.
    pub(crate) const fn of(row: &'r R) -> Self {
        Self(row, PhantomData)
    }
}

impl<R: BoundRow, C: ColumnSet> QueryFragment<Sqlite> for RowUpdate<'_, R, C> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("UPDATE ");
        out.push_sql(R::TABLE);
        out.push_sql(" SET ");
        let mut separators = separators();
        self.0.bind(|role| role == C::ROLE, &mut || separators.next().unwrap_or_default(), true, &mut out)?;
        self.0.bind(|role| role == ColumnRole::Key, &mut || " WHERE ", true, &mut out)
    }
}

impl<R: BoundRow, C: ColumnSet> QueryId for RowUpdate<'_, R, C> {
    type QueryId = RowUpdate<'static, R, C>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<R, C, Connection> RunQueryDsl<Connection> for RowUpdate<'_, R, C> {}

#[cfg(test)]
mod tests {
    use cuepoint_domain::ids::UserId;
    use cuepoint_domain::ledger::Wallet;
    use cuepoint_domain::money::Currency;
    use diesel::debug_query;

    use super::*;
    use cuepoint_store_sql::rows::StoredWallet;

    fn text(statement: &impl QueryFragment<Sqlite>) -> String {
        let text = debug_query::<Sqlite, _>(statement).to_string();
        text.split(" -- binds").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn insert_and_update_statements_name_their_columns() {
        let currency = Currency::new("USD", 2).unwrap();
        let row = StoredWallet::of(&Wallet::empty(UserId::new(1).unwrap()), &currency);
        assert_eq!(
            text(&RowInsert(&row)),
            "INSERT INTO wallets (user_id, available, held, owed, seq, last_at, head) VALUES (?, ?, ?, ?, ?, ?, ?)"
        );
        assert_eq!(
            text(&RowUpdate::<_, Moves>::of(&row)),
            "UPDATE wallets SET available = ?, held = ?, owed = ?, seq = ?, last_at = ?, head = ? WHERE user_id = ?"
        );
    }
}
