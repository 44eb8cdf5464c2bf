//! The income of wallets, as needed to judge a withdrawal and to show what is clearing.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{INCOME, IncomeRow};
use cuepoint_store_sql::schema::ledger_entries;
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;

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
