//! Statements that write any number of rows at once, generated from the declarations of the rows.
//!
//! The columns are sent as arrays through `unnest`, so that the text of a statement does not depend on the
//! number of rows: each is prepared once per connection, unlike Diesel's own multi-row inserts.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::iter::{once, repeat};
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{SessionsEnd, StoredKey};
use cuepoint_store_sql::sql_types::UtcTime;
use cuepoint_store_sql::table::{ArrayRow, ColumnRole, ColumnSet, Moves, TableRow};
use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Bytea};

/// The columns that a statement needs of its rows, and its text, as a type, because prepared statements are cached by
/// their type.
pub(crate) trait StatementForm<R>: Send + Sync + 'static {
    /// Whether it needs a column with this role.
    fn wants(role: ColumnRole) -> bool;

    /// Builds its text.
    fn text() -> StatementText;
}

/// The text of a statement.
pub(crate) struct StatementText {
    pub(crate) before_arrays: String,
    pub(crate) after_arrays: String,
}

/// A statement that writes any number of rows of one table.
pub(crate) trait RowsStatement {
    /// The table.
    const TABLE: &'static str;
}

/// A statement with an array for each column that it needs.
pub(crate) struct ArraysStatement<R: ArrayRow, F> {
    arrays: R::Arrays,
    text: &'static StatementText,
    form: PhantomData<F>,
}

impl<R: ArrayRow, F: StatementForm<R>> FromIterator<R> for ArraysStatement<R, F> {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        let rows = rows.into_iter();
        let (expected, _) = rows.size_hint();
        let mut arrays = R::arrays(expected, F::wants);
        for row in rows {
            row.push(&mut arrays, F::wants);
        }
        Self { arrays, text: text_of::<R, F>(), form: PhantomData }
    }
}

impl<R: ArrayRow, F> RowsStatement for ArraysStatement<R, F> {
    const TABLE: &'static str = R::TABLE;
}

impl<R: ArrayRow, F: StatementForm<R>> QueryFragment<Pg> for ArraysStatement<R, F> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(&self.text.before_arrays);
        R::bind_arrays(&self.arrays, F::wants, &mut once("").chain(repeat(", ")), &mut out)?;
        out.push_sql(&self.text.after_arrays);
        Ok(())
    }
}

impl<R: ArrayRow, F: StatementForm<R>> QueryId for ArraysStatement<R, F> {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

/// Returns the text of a statement. It is built once, and kept for ever.
fn text_of<R: ArrayRow, F: StatementForm<R>>() -> &'static StatementText {
    static TEXTS: Mutex<BTreeMap<TypeId, &'static StatementText>> = Mutex::new(BTreeMap::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    texts.entry(TypeId::of::<(R, F)>()).or_insert_with(|| Box::leak(Box::new(F::text())))
}

/// The columns of a statement as a list.
pub(super) fn list<R: TableRow>(
    wanted: fn(ColumnRole) -> bool,
    item: impl Fn(&'static str) -> String,
) -> String {
    let mut items = Vec::new();
    R::columns(&mut |name, role| {
        if wanted(role) {
            items.push(item(name));
        }
    });
    items.join(", ")
}

/// Adds rows: every column but those with an update or a statement of their own.
pub(crate) type Insert<R> = ArraysStatement<R, Inserted>;

/// The form of [`Insert`].
pub(crate) struct Inserted;

impl<R: TableRow> StatementForm<R> for Inserted {
    fn wants(role: ColumnRole) -> bool {
        !matches!(role, ColumnRole::Later | ColumnRole::Computed)
    }

    fn text() -> StatementText {
        let columns = list::<R>(<Self as StatementForm<R>>::wants, str::to_owned);
        StatementText {
            before_arrays: format!("INSERT INTO {} ({columns}) SELECT * FROM unnest(", R::TABLE),
            after_arrays: ")".to_owned(),
        }
    }
}

/// Updates rows by their key.
pub(crate) type Update<R, C = Moves> = ArraysStatement<R, Updated<C>>;

/// The form of [`Update`].
pub(crate) struct Updated<C>(PhantomData<C>);

impl<R: TableRow, C: ColumnSet> StatementForm<R> for Updated<C> {
    fn wants(role: ColumnRole) -> bool {
        role == ColumnRole::Key || role == C::ROLE
    }

    fn text() -> StatementText {
        let key = list::<R>(|role| role == ColumnRole::Key, str::to_owned);
        let set = list::<R>(|role| role == C::ROLE, |column| format!("{column} = moved.{column}"));
        let columns = list::<R>(<Self as StatementForm<R>>::wants, str::to_owned);
        StatementText {
            before_arrays: format!("UPDATE {} AS kept SET {set} FROM unnest(", R::TABLE),
            after_arrays: format!(") AS moved ({columns}) WHERE kept.{key} = moved.{key}"),
        }
    }
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
    fn an_update_finds_rows_by_primary_key_and_sets_their_other_columns() {
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
