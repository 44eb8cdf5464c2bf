//! Wallet entries by time, for the writer and for queries.

use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{INCOME, IncomeRow};
use cuepoint_store_sql::schema::ledger_entries;
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};

/// The income of these wallets later than `after`, and not later than `until` if it is set.
pub(crate) async fn income_of(
    mut connection: &AsyncPgConnection,
    wallets: Vec<i64>,
    after: Timestamp,
    until: Option<Timestamp>,
) -> QueryResult<Vec<IncomeRow>> {
    let mut income = ledger_entries::table
        .filter(ledger_entries::wallet_id.eq_any(wallets))
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
    income.select(columns).load(&mut connection).await
}
