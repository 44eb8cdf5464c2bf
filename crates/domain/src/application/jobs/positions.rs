//! Positions of operations during a roll-out.

use std::sync::Arc;

use crate::ports::{OperationLog, Unavailable};

/// The number of operations that get their positions in one transaction.
const BATCH: u32 = 1_000;

/// Assigns positions to the operations that servers of an earlier version commit without one.
#[derive(Clone)]
pub struct Positions {
    pub(in crate::application) log: Arc<dyn OperationLog>,
}

impl Positions {
    /// Assigns a position to every operation that waits for one, and returns their number.
    ///
    /// # Errors
    /// [`Unavailable`]; some of them may have their position then.
    pub async fn assign(&self) -> Result<u64, Unavailable> {
        let mut all = 0_u64;
        loop {
            let assigned = self.log.assign_positions(BATCH).await?;
            all = all.saturating_add(u64::from(assigned));
            // What servers of an earlier version commit meanwhile waits for the next run.
            if assigned < BATCH {
                return Ok(all);
            }
        }
    }
}
