//! The positions of operations.

use cuepoint_domain::operation::Position;
use cuepoint_store_sql::rows::{StoredPositionGap, known, position_gap};
use cuepoint_store_sql::schema::{operations, position_gaps};
use diesel::prelude::*;

use super::{End, Showing, read};
use crate::dialect::RunQueryDsl;

/// The maximum number of positions in memory.
const POSITIONS: i64 = 10_000;

impl Showing<'_> {
    /// Presents all gaps between positions, and all positions.
    pub(super) async fn positions(&mut self) -> Result<(), End> {
        let gaps = position_gaps::table.order(position_gaps::last);
        let gaps: Vec<StoredPositionGap> = gaps.load(self.connection).await?;
        for gap in gaps {
            self.auditor.position_gap(read(format!("the gap after position {}", gap.0), position_gap(gap))?);
        }
        let mut last = 0_i64;
        loop {
            self.ensure_wanted()?;
            let batch: Vec<i64> = operations::table
                .filter(operations::position.gt(last))
                .order(operations::position)
                .limit(POSITIONS)
                .select(operations::position.assume_not_null())
                .load(self.connection)
                .await?;
            let Some(newest) = batch.last() else { return Ok(()) };
            last = *newest;
            for number in batch {
                let position = known("operations.position", Position::new(number));
                self.auditor.position(read(format!("position {number}"), position)?);
            }
        }
    }
}
