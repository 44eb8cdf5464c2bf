//! The port of top-ups.

use async_trait::async_trait;
use cuepoint_domain::ids::{OperationId, TopupId, UserId};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Topups, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Topup, TopupFilter, TopupStatus};
use cuepoint_store_sql::rows::StoredTopup;
use cuepoint_store_sql::schema::topups::{self, table};
use cuepoint_store_sql::sql_types::{ColumnId, ColumnTime};
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::sqlite::Sqlite;
use uuid::Uuid;

use super::lists::page;
use super::readable::work_list;
use crate::SqliteStore;

fn filtered(filter: TopupFilter) -> IntoBoxed<'static, table, Sqlite> {
    let theirs = table.filter(topups::user_id.eq(filter.user.get())).into_boxed();
    match filter.status {
        Some(status) => theirs.filter(topups::status.eq(status.name())),
        None => theirs,
    }
}

#[async_trait]
impl Topups for SqliteStore {
    async fn topup(&self, id: TopupId) -> Result<Option<Topup>, Unavailable> {
        self.readers.read(|connection| {
            let row: Option<StoredTopup> =
                table.find(id.get()).select(StoredTopup::as_select()).get_result(connection).optional()?;
            Ok(row.map(|row| row.topup(&self.currency)).transpose()?)
        })
    }

    async fn topup_opened_by(&self, opening: OperationId) -> Result<Option<Topup>, Unavailable> {
        let reference = ColumnId(Uuid::from_u128(opening.0));
        self.readers.read(|connection| {
            let row = table.filter(topups::reference.eq(reference)).select(StoredTopup::as_select());
            let row: Option<StoredTopup> = row.first(connection).optional()?;
            Ok(row.map(|row| row.topup(&self.currency)).transpose()?)
        })
    }

    async fn topups(&self, filter: &TopupFilter, asked: PageRequest) -> Result<Rows<Topup>, Unavailable> {
        let filter = *filter;
        let newest_first = (topups::created_at.desc(), topups::id.desc());
        let currency = self.currency.clone();
        let page = move |connection: &mut SqliteConnection| {
            page!(connection, asked, filtered(filter), newest_first, StoredTopup, |row| row.topup(&currency))
        };
        self.readers.list(asked, page).await
    }

    async fn topups_in_suspense(&self, asked: PageRequest) -> Result<Rows<Topup>, Unavailable> {
        let suspended = table.filter(topups::suspense_operation.is_not_null());
        let unsettled_first =
            (topups::settled_operation.is_not_null(), topups::suspense_at.desc(), topups::id.desc());
        let currency = self.currency.clone();
        let page = move |connection: &mut SqliteConnection| {
            page!(connection, asked, suspended, unsettled_first, StoredTopup, |row| row.topup(&currency))
        };
        self.readers.list(asked, page).await
    }

    async fn pending_topups(&self, user: UserId, limit: u32) -> Result<Vec<Topup>, Unavailable> {
        let value = |row: StoredTopup| row.topup(&self.currency);
        self.readers.read(|connection| {
            work_list!(connection, pending_topups(user), limit, topups, StoredTopup, value)
        })
    }

    async fn due_orders(&self, now: Timestamp, limit: u32) -> Result<Vec<Topup>, Unavailable> {
        let value = |row: StoredTopup| row.topup(&self.currency);
        self.readers
            .read(|connection| work_list!(connection, due_orders(now), limit, topups, StoredTopup, value))
    }
}

/// The top-ups that are due to be ordered, longest waiting first.
fn due_orders(now: Timestamp) -> IntoBoxed<'static, table, Sqlite> {
    table
        .filter(topups::order_at.le(ColumnTime(now)))
        .filter(topups::status.eq(TopupStatus::Pending.name()))
        .order((topups::order_at, topups::id))
        .into_boxed()
}

/// The pending top-ups of a user, oldest first.
fn pending_topups(user: UserId) -> IntoBoxed<'static, table, Sqlite> {
    table
        .filter(topups::user_id.eq(user.get()))
        .filter(topups::status.eq(TopupStatus::Pending.name()))
        .order((topups::created_at, topups::id))
        .into_boxed()
}
