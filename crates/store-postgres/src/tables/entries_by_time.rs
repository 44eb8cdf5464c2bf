//! Wallet entries by time, for the writer and for queries.

use cuepoint_domain::ledger::EntryKind;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::Income;
use cuepoint_store_sql::rows::StoredEntry;
use cuepoint_store_sql::schema::ledger_entries;
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};

/// The entries of the income of these wallets later than `after`, and not later than `until` if it is set.
pub(crate) async fn income_of(
    mut connection: &AsyncPgConnection,
    wallets: Vec<i64>,
    after: Timestamp,
    until: Option<Timestamp>,
) -> QueryResult<Vec<StoredEntry>> {
    let mut income = ledger_entries::table
        .filter(ledger_entries::wallet_id.eq_any(wallets))
        .filter(ledger_entries::at.gt(ColumnTime(after)))
        .filter(ledger_entries::kind.eq_any(Income::KINDS.map(EntryKind::name)))
        .into_boxed();
    if let Some(until) = until {
        income = income.filter(ledger_entries::at.le(ColumnTime(until)));
    }
    income.select(StoredEntry::as_select()).load(&mut connection).await
}
