//! Who adjusted wallets lately: read where a withdrawal is judged.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use time::OffsetDateTime;

use crate::schema::{ledger_entries, operations};

/// An adjustment by a person: of which wallet, by whom, and the time of its entry.
pub(crate) type AdjustedRow = (i64, Option<i64>, OffsetDateTime);

/// The adjustments of these wallets after a moment.
pub(crate) async fn adjustments(
    mut connection: &AsyncPgConnection,
    wallets: Vec<i64>,
    since: OffsetDateTime,
) -> QueryResult<Vec<AdjustedRow>> {
    ledger_entries::table
        .inner_join(operations::table.on(operations::id.eq(ledger_entries::operation_id)))
        .filter(ledger_entries::wallet_id.eq_any(wallets))
        .filter(ledger_entries::at.gt(since))
        // A literal, since the partial index is only used where its condition can be read in the statement.
        .filter(sql::<Bool>("ledger_entries.kind = 'adjustment'"))
        .filter(operations::actor_user_id.is_not_null())
        .select((ledger_entries::wallet_id, operations::actor_user_id, ledger_entries::at))
        .load(&mut connection)
        .await
}
