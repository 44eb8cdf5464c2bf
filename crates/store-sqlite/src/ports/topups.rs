//! The port of top-ups.

use async_trait::async_trait;
use cuepoint_domain::ids::{OperationId, TopupId, UserId};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Topups, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Topup, TopupFilter, TopupStatus};
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::sqlite::Sqlite;
use uuid::Uuid;

use super::lists::page;
use super::readable::work_list;
use crate::SqliteStore;
use crate::rows::TopupRow;
use crate::schema::topups::{self, table};

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
            let row: Option<TopupRow> =
                table.find(id.get()).select(TopupRow::as_select()).get_result(connection).optional()?;
            Ok(row.map(|row| row.topup(&self.currency)).transpose()?)
        })
    }

    async fn topup_opened_by(&self, opening: OperationId) -> Result<Option<Topup>, Unavailable> {
        let reference = Uuid::from_u128(opening.0).as_bytes().to_vec();
        self.readers.read(|connection| {
            let row = table.filter(topups::reference.eq(reference)).select(TopupRow::as_select());
            let row: Option<TopupRow> = row.first(connection).optional()?;
            Ok(row.map(|row| row.topup(&self.currency)).transpose()?)
        })
    }

    async fn topups(&self, filter: &TopupFilter, asked: PageRequest) -> Result<Rows<Topup>, Unavailable> {
        let filter = *filter;
        let newest_first = (topups::created_at.desc(), topups::id.desc());
        let currency = self.currency.clone();
        let page = move |connection: &mut SqliteConnection| {
            page!(connection, asked, filtered(filter), newest_first, TopupRow, |row| row.topup(&currency))
        };
        self.readers.list(asked, page).await
    }

    async fn topups_in_suspense(&self, asked: PageRequest) -> Result<Rows<Topup>, Unavailable> {
        let suspended = table.filter(topups::suspense_operation.is_not_null());
        let unsettled_first =
            (topups::settled_operation.is_not_null(), topups::suspense_at.desc(), topups::id.desc());
        let currency = self.currency.clone();
        let page = move |connection: &mut SqliteConnection| {
            page!(connection, asked, suspended, unsettled_first, TopupRow, |row| row.topup(&currency))
        };
        self.readers.list(asked, page).await
    }

    async fn pending_topups(&self, user: UserId, limit: u32) -> Result<Vec<Topup>, Unavailable> {
        let value = |row: TopupRow| row.topup(&self.currency);
        self.readers
            .read(|connection| work_list!(connection, pending_topups(user), limit, topups, TopupRow, value))
    }

    async fn due_orders(&self, now: Timestamp, limit: u32) -> Result<Vec<Topup>, Unavailable> {
        let value = |row: TopupRow| row.topup(&self.currency);
        self.readers
            .read(|connection| work_list!(connection, due_orders(now), limit, topups, TopupRow, value))
    }
}

/// The top-ups that are due to be ordered, longest waiting first.
fn due_orders(now: Timestamp) -> IntoBoxed<'static, table, Sqlite> {
    table
        .filter(topups::order_at.le(now.unix_micros()))
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
