//! The operations in the order of their commits.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::Position;
use cuepoint_domain::ports::{OperationLog, OperationPage, Unavailable};
use cuepoint_store_sql::rows::{StoredOperation, StoredPositionGap, operation_page};
use cuepoint_store_sql::schema::operations;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::future::try_join;

use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::tables::positions::{assign_waiting, gap_before, is_assigned, newest_position};

/// Reads the operations up to the newest position at first, so that each statement shows all of them. The gap is
/// read after that position: it was committed with the first operation that follows it, or before.
async fn read(
    mut connection: &AsyncPgConnection,
    concerning: Option<UserId>,
    after: Position,
    limit: u32,
) -> Result<(i64, Option<StoredPositionGap>, Vec<StoredOperation>), DatabaseFailure> {
    // Pipelined, in this order.
    let (newest, gap) = try_join(newest_position(connection), gap_before(connection, after.get())).await?;
    let page = || {
        operations::table
            .filter(operations::position.gt(after.get()).and(operations::position.le(newest)))
            .order(operations::position)
            .limit(i64::from(limit))
            .select(StoredOperation::as_select())
    };
    let rows = match concerning.map(UserId::get) {
        None => page().filter(is_assigned()).load(&mut connection).await?,
        Some(user) => {
            let mut rows: Vec<StoredOperation> =
                page().filter(operations::owner_id.eq(user)).load(&mut connection).await?;
            rows.extend::<Vec<_>>(page().filter(operations::dj_id.eq(user)).load(&mut connection).await?);
            rows
        }
    };
    Ok((newest, gap, rows))
}

#[async_trait]
impl OperationLog for PostgresStore {
    async fn operations(
        &self,
        concerning: Option<UserId>,
        after: Position,
        limit: u32,
    ) -> Result<OperationPage, Unavailable> {
        let (newest, gap, rows) = self
            .read((concerning, after, limit), async |connection, (concerning, after, limit)| {
                read(connection, concerning, after, limit).await
            })
            .await?;
        let operations = rows.into_iter().map(|row| row.positioned(&self.currency));
        operation_page(operations, newest, gap, limit).map_err(Unavailable::new)
    }

    async fn announced_after(&self, seen: u64) -> u64 {
        self.commits.announcements().after(seen).await
    }

    async fn assign_positions(&self, limit: u32) -> Result<u32, Unavailable> {
        let input = (i64::from(limit), self.currency.clone(), self.feature_level());
        let assigned = self.write(input, async |connection, (limit, currency, level)| {
            assign_waiting(connection, limit, (&currency, level)).await
        });
        let assigned = assigned.await?;
        if assigned > 0 {
            self.commits.made();
        }
        Ok(u32::try_from(assigned).unwrap_or(u32::MAX))
    }
}
