//! The positions of operations.

use cuepoint_domain::ids::OperationId;
use cuepoint_domain::operation::Position;
use cuepoint_store_sql::rows::{StoredPositionGap, known, position_gap};
use cuepoint_store_sql::schema::{operations, position_gaps};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::{End, Showing, patiently, read};
use crate::tables::positions::{is_assigned, overdue};

/// The maximum number of positions in memory.
const POSITIONS: i64 = 10_000;

impl Showing<'_> {
    /// Presents all gaps between positions, all positions, and an operation that waits too long for one.
    pub(super) async fn positions(&mut self) -> Result<(), End> {
        let gaps = position_gaps::table.order(position_gaps::last);
        let gaps: Vec<StoredPositionGap> = patiently(async { Ok(gaps.load(self.connection).await?) }).await?;
        for gap in gaps {
            self.auditor.position_gap(read(format!("the gap after position {}", gap.0), position_gap(gap))?);
        }
        let mut last = 0_i64;
        loop {
            let query = operations::table
                .filter(is_assigned().and(operations::position.gt(last)))
                .order(operations::position)
                .limit(POSITIONS)
                .select(operations::position.assume_not_null());
            let batch: Vec<i64> = patiently(async { Ok(query.load(self.connection).await?) }).await?;
            let Some(newest) = batch.last() else { break };
            last = *newest;
            for number in batch {
                self.auditor.position(position(number)?);
            }
        }
        if let Some(operation) = patiently(overdue(self.connection)).await? {
            self.auditor.without_position(OperationId(operation.as_u128()));
        }
        Ok(())
    }
}

fn position(number: i64) -> Result<Position, End> {
    read(format!("position {number}"), known("operations.position", Position::new(number)))
}
