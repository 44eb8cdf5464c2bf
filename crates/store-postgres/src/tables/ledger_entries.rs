//! Entries of wallets, as their statements read them.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{IncomeRow, StoredEntry};
use cuepoint_store_sql::schema::{ledger_entries, wallets};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::adjustments::adjustments;
use super::income::income_of;
use crate::connect::failure::DatabaseFailure;

/// Whether a user has a wallet, and its last entry up to a time. The entries of a wallet are ordered by time, so that
/// the index by time finds it.
pub(crate) async fn last_until(
    mut connection: &AsyncPgConnection,
    user: UserId,
    at: Timestamp,
) -> Result<(bool, Option<StoredEntry>), DatabaseFailure> {
    let wallet = wallets::table.find(user.get());
    let exists = diesel::select(exists(wallet)).get_result(&mut connection).await?;
    let last = ledger_entries::table
        .filter(ledger_entries::wallet_id.eq(user.get()))
        .filter(ledger_entries::at.le(ColumnTime(at)))
        .order((ledger_entries::at.desc(), ledger_entries::seq.desc()))
        .select(StoredEntry::as_select())
        .first(&mut connection)
        .await
        .optional()?;
    Ok((exists, last))
}

/// A wallet's income later than `after`, and not later than `until` if it is set.
pub(crate) async fn income(
    connection: &AsyncPgConnection,
    wallet: UserId,
    after: Timestamp,
    until: Option<Timestamp>,
) -> Result<Vec<IncomeRow>, DatabaseFailure> {
    Ok(income_of(connection, vec![wallet.get()], after, until).await?)
}

/// Whether a user adjusted a wallet after a time.
pub(crate) async fn has_adjusted(
    connection: &AsyncPgConnection,
    by: UserId,
    wallet: UserId,
    since: Timestamp,
) -> Result<bool, DatabaseFailure> {
    let rows = adjustments(connection, vec![wallet.get()], since).await?;
    Ok(rows.iter().any(|(_, adjuster, _)| *adjuster == Some(by.get())))
}
