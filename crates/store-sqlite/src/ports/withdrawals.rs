//! The port of withdrawals.

use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::ids::{OperationId, WithdrawalId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Unavailable, Withdrawals};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::{
    SUM_WITHIN, Withdrawal, WithdrawalFilter, WithdrawalReview, WithdrawalStatus, sum_24h,
};
use cuepoint_store_sql::rows::{StoredWallet, StoredWithdrawal, Sum};
use cuepoint_store_sql::schema::withdrawals::{self, table};
use cuepoint_store_sql::schema::{users, wallets};
use cuepoint_store_sql::sql_types::{ColumnId, ColumnTime};
use diesel::dsl::{exists, not, sql};
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable};
use diesel::sqlite::Sqlite;
use uuid::Uuid;

use super::lists::page;
use super::readable::work_list;
use crate::SqliteStore;
use crate::connect::failure::SqliteFailure;

fn filtered(filter: &WithdrawalFilter) -> IntoBoxed<'static, table, Sqlite> {
    let mut query = table.into_boxed();
    if let Some(user) = filter.user {
        query = query.filter(withdrawals::user_id.eq(user.get()));
    }
    if let Some(status) = filter.status {
        query = query.filter(withdrawals::status.eq(status.name()));
    }
    query
}

#[async_trait]
impl Withdrawals for SqliteStore {
    async fn withdrawal(&self, id: WithdrawalId) -> Result<Option<Withdrawal>, Unavailable> {
        self.readers.read(|connection| {
            let row = table.find(id.get()).select(StoredWithdrawal::as_select());
            let row: Option<StoredWithdrawal> = row.get_result(connection).optional()?;
            Ok(row.map(|row| row.withdrawal(&self.currency)).transpose()?)
        })
    }

    async fn withdrawal_opened_by(&self, opening: OperationId) -> Result<Option<Withdrawal>, Unavailable> {
        let reference = ColumnId(Uuid::from_u128(opening.0));
        self.readers.read(|connection| {
            let row =
                table.filter(withdrawals::reference.eq(reference)).select(StoredWithdrawal::as_select());
            let row: Option<StoredWithdrawal> = row.first(connection).optional()?;
            Ok(row.map(|row| row.withdrawal(&self.currency)).transpose()?)
        })
    }

    async fn withdrawals(
        &self,
        filter: &WithdrawalFilter,
        asked: PageRequest,
    ) -> Result<Rows<Withdrawal>, Unavailable> {
        let newest_first = (withdrawals::created_at.desc(), withdrawals::id.desc());
        let (filter, currency) = (*filter, self.currency.clone());
        let page = move |connection: &mut SqliteConnection| {
            page!(connection, asked, filtered(&filter), newest_first, StoredWithdrawal, |row| row
                .withdrawal(&currency))
        };
        self.readers.list(asked, page).await
    }

    async fn due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Withdrawal>, Unavailable> {
        let value = |row: StoredWithdrawal| row.withdrawal(&self.currency);
        self.readers.read(|connection| {
            work_list!(connection, due_payouts(now), limit, withdrawals, StoredWithdrawal, value)
        })
    }

    async fn reviews(
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
fn due_payouts(now: Timestamp) -> IntoBoxed<'static, table, Sqlite> {
    let (approved, processing) = (WithdrawalStatus::Approved.name(), WithdrawalStatus::Processing.name());
    // A literal, since the partial index is used only if the statement contains its condition.
    let indexed = format!("(withdrawals.status = '{approved}' OR withdrawals.retry_at IS NOT NULL)");
    // The plus prevents the use of the index by status, whose rows would have to be sorted. Rows with a
    // status of a newer version are left to that version.
    let known = format!("+withdrawals.status IN ('{approved}', '{processing}')");
    let due = withdrawals::retry_at.is_null().or(withdrawals::retry_at.le(ColumnTime(now)));
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
