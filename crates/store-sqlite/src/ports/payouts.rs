//! The withdrawals to send, and the facts on which the approval of withdrawals depends.

use std::collections::HashMap;

use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::{SUM_WITHIN, Withdrawal, WithdrawalReview, WithdrawalStatus, sum_24h};
use cuepoint_store_sql::rows::{StoredWallet, StoredWithdrawal, Sum};
use cuepoint_store_sql::schema::withdrawals::{self, table};
use cuepoint_store_sql::schema::{users, wallets};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{exists, not, sql};
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable};
use diesel::sqlite::Sqlite;

use crate::SqliteStore;
use crate::connect::failure::SqliteFailure;
use crate::dialect::due_by;

impl SqliteStore {
    /// The facts beside withdrawals.
    pub(super) async fn withdrawal_reviews(
        &self,
        of: &[WithdrawalId],
    ) -> Result<HashMap<WithdrawalId, WithdrawalReview>, Unavailable> {
        self.readers.read(|connection| {
            let mut reviews = HashMap::with_capacity(of.len());
            for id in of {
                if let Some(review) = review(connection, *id, &self.currency)? {
                    reviews.insert(*id, review);
                }
            }
            Ok(reviews)
        })
    }
}

/// The facts beside a withdrawal; `None` for an unknown one.
fn review(
    connection: &mut SqliteConnection,
    id: WithdrawalId,
    currency: &Currency,
) -> Result<Option<WithdrawalReview>, SqliteFailure> {
    let own = table
        .inner_join(wallets::table.on(wallets::user_id.eq(withdrawals::user_id)))
        .inner_join(users::table.on(users::id.eq(withdrawals::user_id)))
        .filter(withdrawals::id.eq(id.get()))
        .select((StoredWithdrawal::as_select(), StoredWallet::as_select(), users::login_changed_at));
    let own: Option<(StoredWithdrawal, StoredWallet, Option<Timestamp>)> =
        own.get_result(connection).optional()?;
    let Some((withdrawal, wallet, login_changed_at)) = own else { return Ok(None) };
    let withdrawal = withdrawal.withdrawal(currency)?;
    // Amounts are texts, which SQLite cannot add up exactly.
    let near = table
        .filter(withdrawals::user_id.eq(withdrawal.user.get()))
        .filter(withdrawals::created_at.gt(ColumnTime(withdrawal.created_at.minus(SUM_WITHIN))))
        .filter(withdrawals::created_at.lt(ColumnTime(withdrawal.created_at.plus(SUM_WITHIN))))
        .select(StoredWithdrawal::as_select())
        .load(connection)?;
    let near: Vec<Withdrawal> =
        near.into_iter().map(|row| row.withdrawal(currency)).collect::<Result<_, _>>()?;
    let (owed, sum_24h) = (wallet.balance(currency)?.owed, sum_24h(&withdrawal, &near));
    Ok(Some(WithdrawalReview { owed, sum_24h, login_changed_at }))
}

/// The withdrawals that are due to be sent, longest waiting first; `NULL` comes first in SQLite.
pub(super) fn due_payouts(now: Timestamp) -> IntoBoxed<'static, table, Sqlite> {
    let (approved, processing) = (WithdrawalStatus::Approved.name(), WithdrawalStatus::Processing.name());
    // A literal, since the partial index is used only if the statement contains its condition.
    let indexed = format!("(withdrawals.status = '{approved}' OR withdrawals.retry_at IS NOT NULL)");
    // The plus prevents the use of the index by status, whose rows would have to be sorted. Rows with a
    // status of a newer version are left to that version.
    let known = format!("+withdrawals.status IN ('{approved}', '{processing}')");
    let due = withdrawals::retry_at.is_null().or(withdrawals::retry_at.le(due_by(now)));
    let owing =
        wallets::table.filter(wallets::user_id.eq(withdrawals::user_id)).filter(wallets::owed.ne(Sum::ZERO));
    table
        .filter(sql::<Nullable<Bool>>(&indexed))
        .filter(withdrawals::retry_at.is_not_null().or(not(exists(owing))))
        .filter(sql::<Bool>(&known))
        .filter(due)
        .order((withdrawals::retry_at, withdrawals::id))
        .into_boxed()
}
