//! The port of withdrawals.

use async_trait::async_trait;
use cuepoint_domain::ids::{OperationId, WithdrawalId};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Unavailable, Withdrawals};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::{Withdrawal, WithdrawalFilter, WithdrawalStatus};
use diesel::dsl::sql;
use diesel::helper_types::IntoBoxed;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::reads::batcher::Row;
use crate::reads::readable::work_list;
use crate::reads::{Counted, NewestFirst, columns, least, limits, paged};
use crate::rows::{WithdrawalRow, column_time};
use crate::schema::withdrawals::{self, table};

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

impl Row for WithdrawalRow {
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
        let row: Option<WithdrawalRow> = self
            .database
            .read(async |mut connection| {
                let theirs = table.filter(withdrawals::reference.eq(Uuid::from_u128(opening.0)));
                Ok(theirs.select(WithdrawalRow::as_select()).first(&mut connection).await.optional()?)
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
        let counted: Counted<WithdrawalRow> = self
            .database
            .read(async |connection| {
                let page = filtered(filter)
                    .order((withdrawals::created_at.desc(), withdrawals::id.desc()))
                    .limit(limit)
                    .offset(offset)
                    .select(columns::<WithdrawalRow>());
                paged!(connection, filtered(filter).count(), page, NewestFirst, offset)
            })
            .await?;
        counted.page(|row| row.withdrawal(&self.currency)).map_err(Unavailable::new)
    }

    async fn due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Withdrawal>, Unavailable> {
        let value = |row: WithdrawalRow| row.withdrawal(&self.currency);
        let due = self
            .database
            .read(async |mut connection| {
                work_list!(connection, due_payouts(now), limit, withdrawals, WithdrawalRow, value)
            })
            .await?;
        Ok(due)
    }
}

/// The withdrawals that are due to be sent, longest waiting first.
fn due_payouts(now: Timestamp) -> IntoBoxed<'static, table, Pg> {
    // A literal, since the partial index is used only if the statement contains its condition.
    let approved = format!("withdrawals.status = '{}'", WithdrawalStatus::Approved.name());
    let approved = sql::<Nullable<Bool>>(&approved);
    // Rows with a status of a newer version are left to that version.
    let again = withdrawals::retry_at
        .le(least(column_time(now), diesel::dsl::now).nullable())
        .and(withdrawals::status.eq(WithdrawalStatus::Processing.name()));
    table
        .filter(approved.or(again))
        .order((withdrawals::retry_at.asc().nulls_first(), withdrawals::id))
        .into_boxed()
}
