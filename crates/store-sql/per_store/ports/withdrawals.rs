//! The port of withdrawals.

use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::ids::{OperationId, WithdrawalId};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Unavailable, Withdrawals};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::{Withdrawal, WithdrawalFilter, WithdrawalReview};
use cuepoint_store_sql::rows::StoredWithdrawal;
use cuepoint_store_sql::schema::withdrawals::{self, table};
use cuepoint_store_sql::sql_types::ColumnId;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use uuid::Uuid;

use super::payouts::due_payouts;
use super::readable::work_list;
use crate::SqlStore;
use crate::dialect::{Database, RunQueryDsl, columns, page};

fn filtered(filter: &WithdrawalFilter) -> IntoBoxed<'static, table, Database> {
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
impl Withdrawals for SqlStore {
    async fn withdrawal(&self, id: WithdrawalId) -> Result<Option<Withdrawal>, Unavailable> {
        self.withdrawal_by_id(id).await
    }

    async fn withdrawal_opened_by(&self, opening: OperationId) -> Result<Option<Withdrawal>, Unavailable> {
        let reference = ColumnId(Uuid::from_u128(opening.0));
        let row = self.read(reference, async |mut connection, reference| {
            let row = table.filter(withdrawals::reference.eq(reference));
            let row = row.select(StoredWithdrawal::as_select());
            let row: Option<StoredWithdrawal> = row.first(&mut connection).await.optional()?;
            Ok(row)
        });
        row.await?.map(|row| row.withdrawal(&self.currency)).transpose().map_err(Unavailable::new)
    }

    async fn withdrawals(
        &self,
        filter: &WithdrawalFilter,
        asked: PageRequest,
    ) -> Result<Rows<Withdrawal>, Unavailable> {
        let input = (*filter, asked, self.currency.clone());
        self.list(asked, input, async |mut connection, (filter, asked, currency)| {
            let newest_first = (withdrawals::created_at.desc(), withdrawals::id.desc());
            page!(
                connection, asked, filtered(&filter), newest_first => NewestFirst,
                columns::<StoredWithdrawal>() => StoredWithdrawal, |row| row.withdrawal(&currency)
            )
        })
        .await
    }

    async fn due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Withdrawal>, Unavailable> {
        let input = (now, limit, self.currency.clone());
        self.read(input, async |mut connection, (now, limit, currency)| {
            let value = |row: StoredWithdrawal| row.withdrawal(&currency);
            work_list!(connection, due_payouts(now), limit, withdrawals => StoredWithdrawal, value)
        })
        .await
    }

    async fn reviews(
        &self,
        of: &[WithdrawalId],
    ) -> Result<HashMap<WithdrawalId, WithdrawalReview>, Unavailable> {
        self.withdrawal_reviews(of).await
    }
}
