//! The port of withdrawals.

use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::ids::{OperationId, WithdrawalId};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Unavailable, Withdrawals};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::{
    SUM_WITHIN, Withdrawal, WithdrawalFilter, WithdrawalReview, WithdrawalStatus,
};
use cuepoint_store_sql::rows::{Corrupt, StoredWithdrawal, Sum};
use cuepoint_store_sql::schema::wallets;
use cuepoint_store_sql::schema::withdrawals::{self, table};
use cuepoint_store_sql::sql_types::{ColumnId, MoneySum, UtcTime};
use diesel::dsl::{exists, not, sql};
use diesel::helper_types::IntoBoxed;
use diesel::pg::Pg;
use diesel::pg::data_types::PgInterval;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Interval, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::reads::batcher::Row;
use crate::reads::readable::work_list;
use crate::reads::{Counted, NewestFirst, columns, least, limits, paged};
use crate::statement::interval;
use crate::statement::statement;

fn filtered(filter: &WithdrawalFilter) -> IntoBoxed<'static, table, Pg> {
    let mut query = table.into_boxed();
    if let Some(user) = filter.user {
        query = query.filter(withdrawals::user_id.eq(user.get()));
    }
    if let Some(status) = filter.status {
        query = query.filter(withdrawals::status.eq(status.name()));
    }
    query
}

impl Row for StoredWithdrawal {
    const TABLE: &'static str = "withdrawals";

    async fn load(mut connection: &AsyncPgConnection, ids: &[i64]) -> Result<Vec<Self>, DatabaseFailure> {
        Ok(table.filter(withdrawals::id.eq_any(ids)).select(Self::as_select()).load(&mut connection).await?)
    }

    fn id(&self) -> i64 {
        self.id
    }
}

#[async_trait]
impl Withdrawals for PostgresStore {
    async fn withdrawal(&self, id: WithdrawalId) -> Result<Option<Withdrawal>, Unavailable> {
        let row = self.together().withdrawals.find(id.get()).await?;
        row.map(|row| row.withdrawal(&self.currency)).transpose().map_err(Unavailable::new)
    }

    async fn withdrawal_opened_by(&self, opening: OperationId) -> Result<Option<Withdrawal>, Unavailable> {
        let row: Option<StoredWithdrawal> = self
            .database
            .read(async |mut connection| {
                let theirs = table.filter(withdrawals::reference.eq(ColumnId(Uuid::from_u128(opening.0))));
                Ok(theirs.select(StoredWithdrawal::as_select()).first(&mut connection).await.optional()?)
            })
            .await?;
        row.map(|row| row.withdrawal(&self.currency)).transpose().map_err(Unavailable::new)
    }

    async fn withdrawals(
        &self,
        filter: &WithdrawalFilter,
        asked: PageRequest,
    ) -> Result<Rows<Withdrawal>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Counted<StoredWithdrawal> = self
            .database
            .read(async |connection| {
                let page = filtered(filter)
                    .order((withdrawals::created_at.desc(), withdrawals::id.desc()))
                    .limit(limit)
                    .offset(offset)
                    .select(columns::<StoredWithdrawal>());
                paged!(connection, filtered(filter).count(), page, NewestFirst, offset)
            })
            .await?;
        counted.page(|row| row.withdrawal(&self.currency)).map_err(Unavailable::new)
    }

    async fn due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Withdrawal>, Unavailable> {
        let value = |row: StoredWithdrawal| row.withdrawal(&self.currency);
        let due = self
            .database
            .read(async |mut connection| {
                work_list!(connection, due_payouts(now), limit, withdrawals, StoredWithdrawal, value)
            })
            .await?;
        Ok(due)
    }

    async fn reviews(
        &self,
        of: &[WithdrawalId],
    ) -> Result<HashMap<WithdrawalId, WithdrawalReview>, Unavailable> {
        let withdrawals: Vec<i64> = of.iter().map(|id| id.get()).collect();
        let rows: Vec<ReviewRow> = self
            .database
            .read(async |mut connection| {
                let reviews = WithdrawalReviews {
                    withdrawals: withdrawals.clone(),
                    within: interval(SUM_WITHIN),
                    not_counted: not_counted(),
                };
                Ok(reviews.load(&mut connection).await?)
            })
            .await?;
        let review = |(id, owed, sum, login_changed_at): ReviewRow| {
            let (owed, sum_24h) = (
                owed.money(&self.currency, "wallets.owed")?,
                sum.money(&self.currency, "withdrawals.amount")?,
            );
            Ok((WithdrawalId::new(id), WithdrawalReview { owed, sum_24h, login_changed_at }))
        };
        let reviews: Vec<_> =
            rows.into_iter().map(review).collect::<Result<_, Corrupt>>().map_err(Unavailable::new)?;
        Ok(reviews.into_iter().filter_map(|(id, review)| Some((id?, review))).collect())
    }
}

/// The withdrawal, its owner's debt, the sum, and the time of the last change of the owner's login.
type ReviewRow = (i64, Sum, Sum, Option<Timestamp>);

statement! {
    /// The facts beside withdrawals.
    WithdrawalReviews("withdrawal_reviews.sql") [
        withdrawals: Array<BigInt> as Vec<i64>,
        within: Interval as PgInterval,
        not_counted: Array<Text> as Vec<&'static str>,
    ] -> (BigInt, MoneySum, MoneySum, Nullable<UtcTime>)
}

/// The statuses of withdrawals that are not added up with others.
fn not_counted() -> Vec<&'static str> {
    let all = WithdrawalStatus::all().filter(|status| !status.counts_towards_limits());
    all.map(WithdrawalStatus::name).collect()
}

/// The withdrawals that are due to be sent, longest waiting first.
fn due_payouts(now: Timestamp) -> IntoBoxed<'static, table, Pg> {
    // A literal, since the partial index is used only if the statement contains its condition.
    let approved = format!("withdrawals.status = '{}'", WithdrawalStatus::Approved.name());
    let owing =
        wallets::table.filter(wallets::user_id.eq(withdrawals::user_id)).filter(wallets::owed.gt(Sum::ZERO));
    let approved = sql::<Nullable<Bool>>(&approved).and(not(exists(owing)).nullable());
    // Rows with a status of a newer version are left to that version.
    let again = withdrawals::retry_at
        .le(least(now.to_utc(), diesel::dsl::now).nullable())
        .and(withdrawals::status.eq(WithdrawalStatus::Processing.name()));
    table
        .filter(approved.or(again))
        .order((withdrawals::retry_at.asc().nulls_first(), withdrawals::id))
        .into_boxed()
}
