//! Recent adjustments of wallets by users, as needed to judge a withdrawal.

use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::sql_types::UtcTime;
use diesel::QueryResult;
use diesel::sql_types::{Array, BigInt, Nullable};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::statement::statement;

/// An adjustment by a user: the wallet, the user, and the time of its entry.
pub(crate) type AdjustedRow = (i64, Option<i64>, Timestamp);

statement! {
    /// The adjustments of wallets by users after a time.
    Adjustments("adjustments.sql") [
        wallets: Array<BigInt> as Vec<i64>,
        since: UtcTime as Timestamp,
    ] -> (BigInt, Nullable<BigInt>, UtcTime)
}

/// The adjustments of these wallets by users after a time.
pub(crate) async fn adjustments(
    mut connection: &AsyncPgConnection,
    wallets: Vec<i64>,
    since: Timestamp,
) -> QueryResult<Vec<AdjustedRow>> {
    Adjustments { wallets, since }.load(&mut connection).await
}
