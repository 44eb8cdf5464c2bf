//! Wallet entries by time, for the writer and for queries.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{INCOME, IncomeRow};
use cuepoint_store_sql::schema::ledger_entries;
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;

/// Returns the number of a wallet's last entry at a time, or 0 if there was none; `newest` is the number of its newest
/// entry. Entries are ordered by time, so a binary search finds it. An index of all entries by time would add a page
/// write to every entry.
pub(crate) fn newest_at(
    connection: &mut SqliteConnection,
    user: UserId,
    newest: i64,
    at: Timestamp,
) -> QueryResult<i64> {
    let (mut before, mut after) = (0, newest.saturating_add(1));
    while after.saturating_sub(before) > 1 {
        let middle = i64::midpoint(before, after);
        let entry = ledger_entries::table.find((user.get(), middle)).select(ledger_entries::at);
        let entry: Timestamp = entry.get_result(connection)?;
        if entry <= at { before = middle } else { after = middle }
    }
    Ok(before)
}

/// A wallet's income later than `after`, and not later than `until` if it is set.
pub(crate) fn income_of(
    connection: &mut SqliteConnection,
    user: UserId,
    after: Timestamp,
    until: Option<Timestamp>,
) -> QueryResult<Vec<IncomeRow>> {
    let mut income = ledger_entries::table
        .filter(ledger_entries::wallet_id.eq(user.get()))
        .filter(ledger_entries::at.gt(ColumnTime(after)))
        .filter(sql::<Bool>(INCOME))
        .into_boxed();
    if let Some(until) = until {
        income = income.filter(ledger_entries::at.le(ColumnTime(until)));
    }
    let columns = (
        ledger_entries::wallet_id,
        ledger_entries::at,
        ledger_entries::available_change,
        ledger_entries::owed_change,
    );
    income.select(columns).load(connection)
}
