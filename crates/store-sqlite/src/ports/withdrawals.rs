//! The port of withdrawals.

use async_trait::async_trait;
use cuepoint_domain::ids::{OperationId, WithdrawalId};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Unavailable, Withdrawals};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::{Withdrawal, WithdrawalFilter, WithdrawalStatus};
use diesel::dsl::sql;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable};
use diesel::sqlite::Sqlite;
use uuid::Uuid;

use super::lists::page;
use super::readable::work_list;
use crate::SqliteStore;
use crate::rows::WithdrawalRow;
use crate::schema::withdrawals::{self, table};

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
            let row = table.find(id.get()).select(WithdrawalRow::as_select());
            let row: Option<WithdrawalRow> = row.get_result(connection).optional()?;
            Ok(row.map(|row| row.withdrawal(&self.currency)).transpose()?)
        })
    }

    async fn withdrawal_opened_by(&self, opening: OperationId) -> Result<Option<Withdrawal>, Unavailable> {
        let reference = Uuid::from_u128(opening.0).as_bytes().to_vec();
        self.readers.read(|connection| {
            let row = table.filter(withdrawals::reference.eq(reference)).select(WithdrawalRow::as_select());
            let row: Option<WithdrawalRow> = row.first(connection).optional()?;
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
            page!(connection, asked, filtered(&filter), newest_first, WithdrawalRow, |row| row
                .withdrawal(&currency))
        };
        self.readers.list(asked, page).await
    }

    async fn due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Withdrawal>, Unavailable> {
        let value = |row: WithdrawalRow| row.withdrawal(&self.currency);
        self.readers.read(|connection| {
            work_list!(connection, due_payouts(now), limit, withdrawals, WithdrawalRow, value)
        })
    }
}

/// The withdrawals that are due to be sent, longest waiting first; `NULL` comes first in SQLite.
fn due_payouts(now: Timestamp) -> IntoBoxed<'static, table, Sqlite> {
    let (approved, processing) = (WithdrawalStatus::Approved.name(), WithdrawalStatus::Processing.name());
    // A literal, since the partial index is used only if the statement contains its condition.
    let indexed = format!("(withdrawals.status = '{approved}' OR withdrawals.retry_at IS NOT NULL)");
    // The plus prevents the use of the index by status, whose rows would have to be sorted. Rows with a
    // status of a newer version are left to that version.
    let known = format!("+withdrawals.status IN ('{approved}', '{processing}')");
    let due = withdrawals::retry_at.is_null().or(withdrawals::retry_at.le(now.unix_micros()));
    table
        .filter(sql::<Nullable<Bool>>(&indexed))
        .filter(sql::<Bool>(&known))
        .filter(due)
        .order((withdrawals::retry_at, withdrawals::id))
        .into_boxed()
}
