//! The withdrawals to send, and the facts on which the approval of withdrawals depends.

use std::collections::HashMap;

use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::{SUM_WITHIN, WithdrawalReview, WithdrawalStatus};
use cuepoint_store_sql::rows::{Corrupt, Sum};
use cuepoint_store_sql::schema::wallets;
use cuepoint_store_sql::schema::withdrawals::{self, table};
use cuepoint_store_sql::sql_types::{MoneySum, UtcTime};
use diesel::dsl::{exists, not, sql};
use diesel::helper_types::IntoBoxed;
use diesel::pg::Pg;
use diesel::pg::data_types::PgInterval;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Interval, Nullable, Text};
use diesel_async::RunQueryDsl;

use crate::PostgresStore;
use crate::dialect::due_by;
use crate::statement::{interval, statement};

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

impl PostgresStore {
    /// The facts beside withdrawals.
    pub(super) async fn withdrawal_reviews(
        &self,
        of: &[WithdrawalId],
    ) -> Result<HashMap<WithdrawalId, WithdrawalReview>, Unavailable> {
        let withdrawals: Vec<i64> = of.iter().map(|id| id.get()).collect();
        let rows = self.read(withdrawals, async |mut connection, withdrawals| {
            let within = interval(SUM_WITHIN);
            let reviews = WithdrawalReviews { withdrawals, within, not_counted: not_counted() };
            Ok(reviews.load::<ReviewRow>(&mut connection).await?)
        });
        let rows = rows.await?;
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

/// The statuses of withdrawals that are not added up with others.
fn not_counted() -> Vec<&'static str> {
    let all = WithdrawalStatus::all().filter(|status| !status.counts_towards_limits());
    all.map(WithdrawalStatus::name).collect()
}

/// The withdrawals that are due to be sent, longest waiting first.
pub(super) fn due_payouts(now: Timestamp) -> IntoBoxed<'static, table, Pg> {
    // A literal, since the partial index is used only if the statement contains its condition.
    let approved = format!("withdrawals.status = '{}'", WithdrawalStatus::Approved.name());
    let owing =
        wallets::table.filter(wallets::user_id.eq(withdrawals::user_id)).filter(wallets::owed.gt(Sum::ZERO));
    let approved = sql::<Nullable<Bool>>(&approved).and(not(exists(owing)).nullable());
    // Rows with a status of a newer version are left to that version.
    let again = withdrawals::retry_at
        .le(due_by(now))
        .and(withdrawals::status.eq(WithdrawalStatus::Processing.name()));
    table
        .filter(approved.or(again))
        .order((withdrawals::retry_at.asc().nulls_first(), withdrawals::id))
        .into_boxed()
}
