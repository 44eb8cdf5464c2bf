//! Withdrawals.

use async_trait::async_trait;
use cuepoint_domain::ids::{UserId, WithdrawalId};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Unavailable, Withdrawals};
use cuepoint_domain::withdrawal::Withdrawal;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::{Paged, columns, limits, page};
use crate::PostgresStore;
use crate::rows::WithdrawalRow;
use crate::schema::withdrawals::{self, table};

#[async_trait]
impl Withdrawals for PostgresStore {
    async fn withdrawal(&self, id: WithdrawalId) -> Result<Option<Withdrawal>, Unavailable> {
        let row: Option<WithdrawalRow> = self
            .database
            .read(async |connection| {
                Ok(table
                    .find(id.get())
                    .select(WithdrawalRow::as_select())
                    .get_result(connection)
                    .await
                    .optional()?)
            })
            .await?;
        row.map(|row| row.withdrawal(&self.currency)).transpose().map_err(Unavailable::new)
    }

    async fn withdrawals(&self, user: UserId, asked: PageRequest) -> Result<Rows<Withdrawal>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Vec<(i64, Option<WithdrawalRow>)> = self
            .database
            .read(async |connection| {
                let theirs = table.filter(withdrawals::user_id.eq(user.get()));
                let paged = Paged {
                    count: theirs.count(),
                    page: theirs
                        .order((withdrawals::created_at.desc(), withdrawals::id.desc()))
                        .limit(limit)
                        .offset(offset)
                        .select(columns::<WithdrawalRow>()),
                };
                Ok(paged.load(connection).await?)
            })
            .await?;
        page(counted, |row| row.withdrawal(&self.currency)).map_err(Unavailable::new)
    }
}
