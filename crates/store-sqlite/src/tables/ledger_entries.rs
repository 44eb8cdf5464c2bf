//! Entries of wallets, as their statements read them.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{IncomeRow, StoredEntry};
use cuepoint_store_sql::schema::{ledger_entries, operations, wallets};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::Bool;

use super::income::income_of;
use crate::dialect::{Reading, RunQueryDsl, StoreFailure};

/// Whether a user has a wallet, and its last entry up to a time.
pub(crate) async fn last_until(
    connection: Reading<'_>,
    user: UserId,
    at: Timestamp,
) -> Result<(bool, Option<StoredEntry>), StoreFailure> {
    let newest = wallets::table.find(user.get()).select(wallets::seq);
    let Some(newest) = newest.get_result(connection).await.optional()? else { return Ok((false, None)) };
    let number = newest_at(connection, user, newest, at).await?;
    let last = ledger_entries::table.find((user.get(), number)).select(StoredEntry::as_select());
    Ok((true, last.get_result(connection).await.optional()?))
}

/// Returns the number of a wallet's last entry at a time, or 0 if there was none; `newest` is the number of its
/// newest entry. Entries are ordered by time, so a binary search finds it. An index of all entries by time would add a
/// page write to every entry.
async fn newest_at(connection: Reading<'_>, user: UserId, newest: i64, at: Timestamp) -> QueryResult<i64> {
    let (mut before, mut after) = (0, newest.saturating_add(1));
    while after.saturating_sub(before) > 1 {
        let middle = i64::midpoint(before, after);
        let entry = ledger_entries::table.find((user.get(), middle)).select(ledger_entries::at);
        let entry: Timestamp = entry.get_result(connection).await?;
        if entry <= at { before = middle } else { after = middle }
    }
    Ok(before)
}

/// A wallet's income later than `after`, and not later than `until` if it is set.
pub(crate) async fn income(
    connection: Reading<'_>,
    user: UserId,
    after: Timestamp,
    until: Option<Timestamp>,
) -> Result<Vec<IncomeRow>, StoreFailure> {
    Ok(income_of(connection, user, after, until)?)
}

/// Whether a user adjusted a wallet after a time.
pub(crate) async fn has_adjusted(
    connection: Reading<'_>,
    by: UserId,
    wallet: UserId,
    since: Timestamp,
) -> Result<bool, StoreFailure> {
    let adjusted = ledger_entries::table
        .inner_join(operations::table.on(operations::id.eq(ledger_entries::operation_id)))
        .filter(ledger_entries::wallet_id.eq(wallet.get()))
        .filter(ledger_entries::at.gt(ColumnTime(since)))
        // The condition of the partial index.
        .filter(sql::<Bool>("ledger_entries.kind = 'adjustment'"))
        .filter(operations::actor_user_id.eq(by.get()));
    Ok(diesel::select(exists(adjusted)).get_result(connection).await?)
}
