//! Statements that write any number of rows at once, generated from the declarations of the rows.
//!
//! The columns are sent as arrays through `unnest`, so that the text of a statement does not depend on the
//! number of rows: each is prepared once per connection, unlike Diesel's own multi-row inserts.

use std::iter::{once, repeat};

use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{SessionsEnd, StoredKey};
use cuepoint_store_sql::sql_types::UtcTime;
use cuepoint_store_sql::table::{ArrayRow, ColumnRole, ColumnSet, Moves, TableRow};
use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Bytea};

/// The separators before the items of a list.
pub(super) fn separators() -> impl Iterator<Item = &'static str> {
    once("").chain(repeat(", "))
}

/// Writes an item for each wanted column, with separators. A statement is walked several times per execution,
/// and most walks write no text: no text is built in advance.
pub(super) fn each_column<R: TableRow>(
    out: &mut AstPass<'_, '_, Pg>,
    wanted: impl Fn(ColumnRole) -> bool,
    write: impl Fn(&mut AstPass<'_, '_, Pg>, &'static str),
) {
    let mut separators = separators();
    R::columns(&mut |name, role| {
        if wanted(role) {
            out.push_sql(separators.next().unwrap_or_default());
            write(out, name);
        }
    });
}

/// The key column of an update.
fn key<R: TableRow>() -> &'static str {
    let mut key = "";
    R::columns(&mut |name, role| {
        if role == ColumnRole::Key {
            key = name;
        }
    });
    key
}

/// Collects rows into the arrays of the wanted columns.
pub(super) fn arrays<R: ArrayRow>(
    rows: impl IntoIterator<Item = R>,
    wanted: fn(ColumnRole) -> bool,
) -> R::Arrays {
    let mut arrays = R::Arrays::default();
    for row in rows {
        row.push(&mut arrays, wanted);
    }
    arrays
}

/// A statement that writes any number of rows of one table.
pub(crate) trait RowsStatement {
    /// The table.
    const TABLE: &'static str;
}

/// Adds rows: every column but those with an update or a statement of their own.
pub(crate) struct Insert<R: ArrayRow>(R::Arrays);

impl<R: ArrayRow> Insert<R> {
    pub(super) fn wants(role: ColumnRole) -> bool {
        !matches!(role, ColumnRole::Later | ColumnRole::Computed)
    }
}

impl<R: ArrayRow> FromIterator<R> for Insert<R> {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        Self(arrays(rows, Self::wants))
    }
}

impl<R: ArrayRow> RowsStatement for Insert<R> {
    const TABLE: &'static str = R::TABLE;
}

impl<R: ArrayRow> QueryFragment<Pg> for Insert<R> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("INSERT INTO ");
        out.push_sql(R::TABLE);
        out.push_sql(" (");
        each_column::<R>(&mut out, Self::wants, |out, column| out.push_sql(column));
        out.push_sql(") SELECT * FROM unnest(");
        R::bind_arrays(&self.0, Self::wants, &mut separators(), &mut out)?;
        out.push_sql(")");
        Ok(())
    }
}

impl<R: ArrayRow> QueryId for Insert<R> {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

/// Whether an update of these columns needs a column with this role.
fn wants<C: ColumnSet>(role: ColumnRole) -> bool {
    role == ColumnRole::Key || role == C::ROLE
}

/// Updates rows by their key.
pub(crate) struct Update<R: ArrayRow, C = Moves>(R::Arrays, std::marker::PhantomData<C>);

impl<R: ArrayRow, C: ColumnSet> FromIterator<R> for Update<R, C> {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        Self(arrays(rows, wants::<C>), std::marker::PhantomData)
    }
}

impl<R: ArrayRow, C: ColumnSet> RowsStatement for Update<R, C> {
    const TABLE: &'static str = R::TABLE;
}

impl<R: ArrayRow, C: ColumnSet> QueryFragment<Pg> for Update<R, C> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        let key = key::<R>();
        out.push_sql("UPDATE ");
        out.push_sql(R::TABLE);
        out.push_sql(" AS kept SET ");
        each_column::<R>(
            &mut out,
            |role| role == C::ROLE,
            |out, column| {
                out.push_sql(column);
                out.push_sql(" = moved.");
                out.push_sql(column);
            },
        );
        out.push_sql(" FROM unnest(");
        R::bind_arrays(&self.0, wants::<C>, &mut separators(), &mut out)?;
        out.push_sql(") AS moved (");
        each_column::<R>(&mut out, wants::<C>, |out, column| out.push_sql(column));
        out.push_sql(") WHERE kept.");
        out.push_sql(key);
        out.push_sql(" = moved.");
        out.push_sql(key);
        Ok(())
    }
}

impl<R: ArrayRow, C: ColumnSet> QueryId for Update<R, C> {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

/// Ends the live sessions of users whose rows the group has locked; the sessions are locked by id, as
/// everywhere.
#[derive(Debug, Default)]
pub(crate) struct EndSessions {
    users: Vec<i64>,
    at: Vec<Timestamp>,
}

impl FromIterator<SessionsEnd> for EndSessions {
    fn from_iter<I: IntoIterator<Item = SessionsEnd>>(rows: I) -> Self {
        let (users, at) = rows.into_iter().map(|row| (row.user_id, row.at)).unzip();
        Self { users, at }
    }
}

impl RowsStatement for EndSessions {
    const TABLE: &'static str = "sessions";
}

impl QueryFragment<Pg> for EndSessions {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(
            "UPDATE sessions AS kept SET ended_at = alive.at FROM (SELECT session.id, ended.at FROM sessions AS session \
             JOIN unnest(",
        );
        out.push_bind_param::<Array<BigInt>, _>(&self.users)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<UtcTime>, _>(&self.at)?;
        out.push_sql(
            ") AS ended (user_id, at) ON session.user_id = ended.user_id AND session.ended_at IS NULL \
             AND session.expires_at > ended.at ORDER BY session.id FOR UPDATE OF session) AS alive \
             WHERE kept.id = alive.id",
        );
        Ok(())
    }
}

impl QueryId for EndSessions {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

/// Removes the idempotency keys of these scopes.
pub(crate) struct RemoveKeys(Vec<Vec<u8>>);

impl FromIterator<Vec<u8>> for RemoveKeys {
    fn from_iter<I: IntoIterator<Item = Vec<u8>>>(scopes: I) -> Self {
        Self(scopes.into_iter().collect())
    }
}

impl RowsStatement for RemoveKeys {
    const TABLE: &'static str = StoredKey::TABLE;
}

impl QueryFragment<Pg> for RemoveKeys {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("DELETE FROM idempotency_keys WHERE scope = ANY(");
        out.push_bind_param::<Array<Bytea>, _>(&self.0)?;
        out.push_sql(")");
        Ok(())
    }
}

impl QueryId for RemoveKeys {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

#[cfg(test)]
mod tests {
    use diesel::debug_query;

    use super::*;
    use cuepoint_store_sql::rows::{StoredPosting, StoredTopup, StoredWallet};
    use cuepoint_store_sql::table::Later;

    fn text<Statement: QueryFragment<Pg>>(statement: &Statement) -> String {
        let text = debug_query::<Pg, _>(statement).to_string();
        text.split(" -- binds").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn inserts_omit_columns_that_are_set_later() {
        let postings = Insert::<StoredPosting>::from_iter(Vec::<StoredPosting>::new());
        let expected =
            "INSERT INTO postings (operation_id, account, amount, at) SELECT * FROM unnest($1, $2, $3, $4)";
        assert_eq!(text(&postings), expected);
        let topups = Insert::<StoredTopup>::from_iter(Vec::<StoredTopup>::new());
        assert!(!text(&topups).contains("suspense"), "{}", text(&topups));
    }

    #[test]
    fn an_update_sets_its_columns_by_key() {
        let wallets = Update::<StoredWallet>::from_iter(Vec::<StoredWallet>::new());
        let expected = "UPDATE wallets AS kept SET available = moved.available, held = moved.held, owed = moved.owed, \
             seq = moved.seq, last_at = moved.last_at, head = moved.head FROM unnest($1, $2, $3, $4, $5, $6, $7) \
             AS moved (user_id, available, held, owed, seq, last_at, head) WHERE kept.user_id = moved.user_id";
        assert_eq!(text(&wallets), expected);
        let suspense = Update::<StoredTopup, Later>::from_iter(Vec::<StoredTopup>::new());
        let expected = "UPDATE topups AS kept SET suspense_operation = moved.suspense_operation, \
             suspense_at = moved.suspense_at, settled_operation = moved.settled_operation, \
             settled_at = moved.settled_at, settled_by = moved.settled_by, settled_reason = moved.settled_reason \
             FROM unnest($1, $2, $3, $4, $5, $6, $7) AS moved (id, suspense_operation, suspense_at, settled_operation, \
             settled_at, settled_by, settled_reason) WHERE kept.id = moved.id";
        assert_eq!(text(&suspense), expected);
    }
}
