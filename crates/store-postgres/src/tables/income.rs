//! The income of wallets, as needed to judge a withdrawal and to show what is clearing.

use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::IncomeRow;
use cuepoint_store_sql::sql_types::{MoneySum, UtcTime};
use diesel::QueryResult;
use diesel::sql_types::{Array, BigInt};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use time::Duration;

use crate::statement::statement;

statement! {
    /// The income of wallets in a time.
    IncomeOf("income.sql") [
        wallets: Array<BigInt> as Vec<i64>,
        after: UtcTime as Timestamp,
        until: UtcTime as Timestamp,
    ] -> (BigInt, UtcTime, MoneySum, MoneySum)
}

/// The income of these wallets later than `after`, and not later than `until` if it is set.
pub(crate) async fn income_of(
    mut connection: &AsyncPgConnection,
    wallets: Vec<i64>,
    after: Timestamp,
    until: Option<Timestamp>,
) -> QueryResult<Vec<IncomeRow>> {
    let until = until.unwrap_or_else(|| Timestamp::EPOCH.plus(Duration::MAX));
    IncomeOf { wallets, after, until }.load(&mut connection).await
}
