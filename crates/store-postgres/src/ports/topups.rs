//! The port of top-ups.

use async_trait::async_trait;
use cuepoint_domain::ids::{OperationId, TopupId, UserId};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Topups, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Topup, TopupFilter, TopupStatus};
use cuepoint_store_sql::rows::StoredTopup;
use cuepoint_store_sql::schema::topups::{self, table};
use cuepoint_store_sql::sql_types::ColumnId;
use diesel::helper_types::IntoBoxed;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::reads::batcher::Row;
use crate::reads::readable::work_list;
use crate::reads::{Counted, NewestFirst, UnsettledFirst, columns, least, limits, paged};

fn filtered(filter: &TopupFilter) -> IntoBoxed<'static, table, Pg> {
    let theirs = table.filter(topups::user_id.eq(filter.user.get())).into_boxed();
    match filter.status {
        Some(status) => theirs.filter(topups::status.eq(status.name())),
        None => theirs,
    }
}

impl Row for StoredTopup {
    const TABLE: &'static str = "topups";

    async fn load(mut connection: &AsyncPgConnection, ids: &[i64]) -> Result<Vec<Self>, DatabaseFailure> {
        Ok(table.filter(topups::id.eq_any(ids)).select(Self::as_select()).load(&mut connection).await?)
    }

    fn id(&self) -> i64 {
        self.id
    }
}

#[async_trait]
impl Topups for PostgresStore {
    async fn topup(&self, id: TopupId) -> Result<Option<Topup>, Unavailable> {
        let row = self.together().topups.find(id.get()).await?;
        row.map(|row| row.topup(&self.currency)).transpose().map_err(Unavailable::new)
    }

    async fn topup_opened_by(&self, opening: OperationId) -> Result<Option<Topup>, Unavailable> {
        let row: Option<StoredTopup> = self
            .database
            .read(async |mut connection| {
                let theirs = table.filter(topups::reference.eq(ColumnId(Uuid::from_u128(opening.0))));
                Ok(theirs.select(StoredTopup::as_select()).first(&mut connection).await.optional()?)
            })
            .await?;
        row.map(|row| row.topup(&self.currency)).transpose().map_err(Unavailable::new)
    }

    async fn topups(&self, filter: &TopupFilter, asked: PageRequest) -> Result<Rows<Topup>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Counted<StoredTopup> = self
            .database
            .read(async |connection| {
                let page = filtered(filter)
                    .order((topups::created_at.desc(), topups::id.desc()))
                    .limit(limit)
                    .offset(offset)
                    .select(columns::<StoredTopup>());
                paged!(connection, filtered(filter).count(), page, NewestFirst, offset)
            })
            .await?;
        counted.page(|row| row.topup(&self.currency)).map_err(Unavailable::new)
    }

    async fn topups_in_suspense(&self, asked: PageRequest) -> Result<Rows<Topup>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Counted<StoredTopup> = self
            .database
            .read(async |connection| {
                let suspended = table.filter(topups::suspense_operation.is_not_null());
                let page = suspended
                    .order((
                        topups::settled_operation.is_not_null(),
                        topups::suspense_at.desc(),
                        topups::id.desc(),
                    ))
                    .limit(limit)
                    .offset(offset)
                    .select(columns::<StoredTopup>());
                paged!(connection, suspended.count(), page, UnsettledFirst, offset)
            })
            .await?;
        counted.page(|row| row.topup(&self.currency)).map_err(Unavailable::new)
    }

    async fn pending_topups(&self, user: UserId, limit: u32) -> Result<Vec<Topup>, Unavailable> {
        let value = |row: StoredTopup| row.topup(&self.currency);
        let pending = self
            .database
            .read(async |mut connection| {
                work_list!(connection, pending_topups(user), limit, topups, StoredTopup, value)
            })
            .await?;
        Ok(pending)
    }

    async fn due_orders(&self, now: Timestamp, limit: u32) -> Result<Vec<Topup>, Unavailable> {
        let value = |row: StoredTopup| row.topup(&self.currency);
        let due = self
            .database
            .read(async |mut connection| {
                work_list!(connection, due_orders(now), limit, topups, StoredTopup, value)
            })
            .await?;
        Ok(due)
    }
}

/// The top-ups that are due to be ordered, longest waiting first. Servers of an earlier version do not clear
/// the time when they end a top-up.
fn due_orders(now: Timestamp) -> IntoBoxed<'static, table, Pg> {
    table
        .filter(topups::order_at.le(least(now.to_utc(), diesel::dsl::now).nullable()))
        .filter(topups::status.eq(TopupStatus::Pending.name()))
        .order((topups::order_at, topups::id))
        .into_boxed()
}

/// The pending top-ups of a user, oldest first.
fn pending_topups(user: UserId) -> IntoBoxed<'static, table, Pg> {
    table
        .filter(topups::user_id.eq(user.get()))
        .filter(topups::status.eq(TopupStatus::Pending.name()))
        .order((topups::created_at, topups::id))
        .into_boxed()
}
