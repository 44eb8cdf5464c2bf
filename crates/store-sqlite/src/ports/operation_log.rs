//! The operations in the order of their commits.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::Position;
use cuepoint_domain::ports::{OperationLog, OperationPage, Unavailable};
use cuepoint_store_sql::rows::{StoredOperation, operation_page};
use cuepoint_store_sql::schema::operations;
use diesel::prelude::*;

use crate::SqliteStore;
use crate::connect::failure::SqliteFailure;
use crate::tables::operations::{gap_before, newest_position};

/// Reads a page in one snapshot: another one could lack the newest operations.
fn read(
    connection: &mut SqliteConnection,
    concerning: Option<UserId>,
    after: Position,
    limit: u32,
    currency: &Currency,
) -> Result<OperationPage, SqliteFailure> {
    let newest = newest_position(connection)?;
    let page = || {
        operations::table
            .filter(operations::position.gt(after.get()))
            .order(operations::position)
            .limit(i64::from(limit))
            .select(StoredOperation::as_select())
    };
    let rows: Vec<StoredOperation> = match concerning.map(UserId::get) {
        None => page().load(connection)?,
        Some(user) => {
            // One index serves each of them, and none serves both.
            let mut rows: Vec<StoredOperation> =
                page().filter(operations::owner_id.eq(user)).load(connection)?;
            rows.extend::<Vec<_>>(page().filter(operations::dj_id.eq(user)).load(connection)?);
            rows
        }
    };
    let gap = gap_before(connection, after.get())?;
    let operations = rows.into_iter().map(|row| row.positioned(currency));
    Ok(operation_page(operations, newest, gap, limit)?)
}

#[async_trait]
impl OperationLog for SqliteStore {
    async fn operations(
        &self,
        concerning: Option<UserId>,
        after: Position,
        limit: u32,
    ) -> Result<OperationPage, Unavailable> {
        let page = || {
            let currency = self.currency.clone();
            self.readers.read_elsewhere(move |connection: &mut SqliteConnection| {
                read(connection, concerning, after, limit, &currency)
            })
        };
        let found = page().await?;
        if after <= found.newest {
            return Ok(found);
        }
        // Another read may have shown a commit that was not answered yet, and is not in this snapshot.
        self.readers.outdate_snapshots();
        page().await
    }

    async fn announced_after(&self, seen: u64) -> u64 {
        self.announcements.after(seen).await
    }

    async fn assign_positions(&self, _: u32) -> Result<u32, Unavailable> {
        Ok(0)
    }
}
