//! Wallet entries by time, for the writer and for queries.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::EntryKind;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::Income;
use cuepoint_store_sql::rows::StoredEntry;
use cuepoint_store_sql::schema::{ledger_entries, wallets};
use diesel::prelude::*;

/// Returns the number of a wallet's last entry at a time, or 0 if there was none; `newest` is the number of its newest
/// entry. Entries are ordered by time, so a binary search finds it. An index by time would add a page write to every
/// entry.
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

/// The entries of a wallet's income later than `after`, and not later than `until` if it is set.
pub(crate) fn income_of(
    connection: &mut SqliteConnection,
    user: UserId,
    after: Timestamp,
    until: Option<Timestamp>,
) -> QueryResult<Vec<StoredEntry>> {
    let newest = wallets::table.find(user.get()).select(wallets::seq).get_result(connection).optional()?;
    let Some(newest) = newest else { return Ok(Vec::new()) };
    let first = newest_at(connection, user, newest, after)?;
    let last = until.map_or(Ok(newest), |until| newest_at(connection, user, newest, until))?;
    ledger_entries::table
        .filter(ledger_entries::wallet_id.eq(user.get()))
        .filter(ledger_entries::seq.gt(first))
        .filter(ledger_entries::seq.le(last))
        .filter(ledger_entries::kind.eq_any(Income::KINDS.map(EntryKind::name)))
        .select(StoredEntry::as_select())
        .load(connection)
}
