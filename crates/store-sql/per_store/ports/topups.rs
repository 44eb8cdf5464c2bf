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
use diesel::prelude::*;
use uuid::Uuid;

use super::readable::work_list;
use crate::SqlStore;
use crate::dialect::{Database, RunQueryDsl, columns, due_by, page};

fn filtered(filter: &TopupFilter) -> IntoBoxed<'static, table, Database> {
    let theirs = table.filter(topups::user_id.eq(filter.user.get())).into_boxed();
    match filter.status {
        Some(status) => theirs.filter(topups::status.eq(status.name())),
        None => theirs,
    }
}

#[async_trait]
impl Topups for SqlStore {
    async fn topup(&self, id: TopupId) -> Result<Option<Topup>, Unavailable> {
        self.topup_by_id(id).await
    }

    async fn topup_opened_by(&self, opening: OperationId) -> Result<Option<Topup>, Unavailable> {
        let reference = ColumnId(Uuid::from_u128(opening.0));
        let row = self.read(reference, async |mut connection, reference| {
            let row = table.filter(topups::reference.eq(reference)).select(StoredTopup::as_select());
            let row: Option<StoredTopup> = row.first(&mut connection).await.optional()?;
            Ok(row)
        });
        row.await?.map(|row| row.topup(&self.currency)).transpose().map_err(Unavailable::new)
    }

    async fn topups(&self, filter: &TopupFilter, asked: PageRequest) -> Result<Rows<Topup>, Unavailable> {
        let input = (*filter, asked, self.currency.clone());
        self.list(asked, input, async |mut connection, (filter, asked, currency)| {
            let newest_first = (topups::created_at.desc(), topups::id.desc());
            page!(
                connection, asked, filtered(&filter), newest_first => NewestFirst,
                columns::<StoredTopup>() => StoredTopup, |row| row.topup(&currency)
            )
        })
        .await
    }

    async fn topups_in_suspense(&self, asked: PageRequest) -> Result<Rows<Topup>, Unavailable> {
        self.list(asked, (asked, self.currency.clone()), async |mut connection, (asked, currency)| {
            let suspended = table.filter(topups::suspense_operation.is_not_null());
            let unsettled_first =
                (topups::settled_operation.is_not_null(), topups::suspense_at.desc(), topups::id.desc());
            page!(
                connection, asked, suspended, unsettled_first => UnsettledFirst,
                columns::<StoredTopup>() => StoredTopup, |row| row.topup(&currency)
            )
        })
        .await
    }

    async fn pending_topups(&self, user: UserId, limit: u32) -> Result<Vec<Topup>, Unavailable> {
        let input = (user, limit, self.currency.clone());
        self.read(input, async |mut connection, (user, limit, currency)| {
            let value = |row: StoredTopup| row.topup(&currency);
            work_list!(connection, pending_topups(user), limit, topups => StoredTopup, value)
        })
        .await
    }

    async fn due_orders(&self, now: Timestamp, limit: u32) -> Result<Vec<Topup>, Unavailable> {
        let input = (now, limit, self.currency.clone());
        self.read(input, async |mut connection, (now, limit, currency)| {
            let value = |row: StoredTopup| row.topup(&currency);
            work_list!(connection, due_orders(now), limit, topups => StoredTopup, value)
        })
        .await
    }
}

/// The top-ups that are due to be ordered, longest waiting first. Servers of an earlier version do not clear
/// the time when they end a top-up.
fn due_orders(now: Timestamp) -> IntoBoxed<'static, table, Database> {
    table
        .filter(topups::order_at.le(due_by(now)))
        .filter(topups::status.eq(TopupStatus::Pending.name()))
        .order((topups::order_at, topups::id))
        .into_boxed()
}

/// The pending top-ups of a user, oldest first.
fn pending_topups(user: UserId) -> IntoBoxed<'static, table, Database> {
    table
        .filter(topups::user_id.eq(user.get()))
        .filter(topups::status.eq(TopupStatus::Pending.name()))
        .order((topups::created_at, topups::id))
        .into_boxed()
}
