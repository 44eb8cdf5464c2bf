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
            let page = || {
                operations::table
                    .filter(operations::position.gt(after.get()))
                    .order(operations::position)
                    .limit(i64::from(limit))
                    .select(OperationRow::as_select())
            };
            let rows: Vec<OperationRow> = match concerning.map(UserId::get) {
                None => page().load(connection)?,
                Some(user) => {
                    let mut rows = page().filter(operations::owner_id.eq(user)).load(connection)?;
                    rows.extend(page().filter(operations::dj_id.eq(user)).load::<OperationRow>(connection)?);
                    rows
                }
            };
            let operations = rows.into_iter().map(|row| row.positioned(&self.currency));
            Ok(operation_page(operations, newest, limit)?)
        })
    }

    async fn assign_positions(&self, _: u32) -> Result<u32, Unavailable> {
        Ok(0)
    }
}
