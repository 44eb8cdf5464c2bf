//! The operations in the order of their commits.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::Position;
use cuepoint_domain::ports::{OperationLog, OperationPage, Unavailable};
use cuepoint_store_sql::rows::operation_page;
use diesel::prelude::*;

use crate::SqliteStore;
use crate::rows::OperationRow;
use crate::schema::operations;
use crate::tables::operations::newest_position;

#[async_trait]
impl OperationLog for SqliteStore {
    async fn operations(
        &self,
        concerning: Option<UserId>,
        after: Position,
        limit: u32,
    ) -> Result<OperationPage, Unavailable> {
        // In one snapshot: another one could lack the newest operations.
        self.readers.read(|connection| {
            let newest = newest_position(connection)?;
            let mut page = operations::table
                .filter(operations::position.gt(after.get()))
                .order(operations::position)
                .limit(i64::from(limit))
                .select(OperationRow::as_select())
                .into_boxed();
            if let Some(user) = concerning.map(UserId::get) {
                page = page.filter(operations::owner_id.eq(user).or(operations::dj_id.eq(user)));
            }
            let rows: Vec<OperationRow> = page.load(connection)?;
            let operations = rows.into_iter().map(|row| row.positioned(&self.currency));
            Ok(operation_page(operations, newest, limit)?)
        })
    }

    async fn announced_after(&self, seen: u64) -> u64 {
        self.announcements.after(seen).await
    }

    async fn assign_positions(&self, _: u32) -> Result<u32, Unavailable> {
        Ok(0)
    }
}
