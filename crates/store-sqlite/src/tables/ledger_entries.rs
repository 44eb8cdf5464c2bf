//! Entries of wallets, as their statements read them.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{IncomeRow, StoredEntry};
use cuepoint_store_sql::schema::{ledger_entries, operations, wallets};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::Bool;

use super::entries_by_time::{income_of, newest_at};
use crate::dialect::{Reading, RunQueryDsl, StoreFailure};

/// Whether a user has a wallet, and its last entry up to a time.
pub(crate) async fn last_until(
    connection: Reading<'_>,
    user: UserId,
    at: Timestamp,
) -> Result<(bool, Option<StoredEntry>), StoreFailure> {
    let newest = wallets::table.find(user.get()).select(wallets::seq);
    let Some(newest) = newest.get_result(connection).await.optional()? else { return Ok((false, None)) };
    let number = newest_at(connection, user, newest, at)?;
    let last = ledger_entries::table.find((user.get(), number)).select(StoredEntry::as_select());
    Ok((true, last.get_result(connection).await.optional()?))
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
