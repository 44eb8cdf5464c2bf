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
        self.readers.read(|connection| {
            page!(connection, asked, filtered(filter), newest_first, WithdrawalRow, |row| row
                .withdrawal(&self.currency))
        })
    }

    /// Longest waiting first; `NULL` comes first in SQLite.
    async fn due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Withdrawal>, Unavailable> {
        // A literal, since the partial index is used only if the statement contains its condition.
        let approved = format!("withdrawals.status = '{}'", WithdrawalStatus::Approved.name());
        let approved = sql::<Nullable<Bool>>(&approved);
        // Rows with a status of a newer version are left to that version.
        let again = withdrawals::retry_at
            .le(now.unix_micros())
            .and(withdrawals::status.eq(WithdrawalStatus::Processing.name()));
        self.readers.read(|connection| {
            let rows: Vec<WithdrawalRow> = table
                .filter(approved.or(again))
                .order((withdrawals::retry_at, withdrawals::id))
                .limit(i64::from(limit))
                .select(WithdrawalRow::as_select())
                .load(connection)?;
            Ok(rows.into_iter().map(|row| row.withdrawal(&self.currency)).collect::<Result<_, _>>()?)
        })
    }
}
