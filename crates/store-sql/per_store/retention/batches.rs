//! Batches of rows: their pace, their size, and where the next one begins.

use cuepoint_domain::timestamp::Timestamp;
use diesel::deserialize::Queryable;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::dialect::BATCH;

/// The pace of batches.
#[derive(Clone, Copy)]
pub(super) enum Pace {
    /// No pauses.
    Brisk,
    /// A pause after each batch for as long as it took, which leaves half of the database's time to others.
    Gentle,
}

impl Pace {
    /// Waits until the next batch may follow the one that began then.
    pub(super) async fn rest(self, began: Instant) {
        match self {
            Self::Brisk => {}
            Self::Gentle => sleep(began.elapsed()).await,
        }
    }
}

/// Whether this number of rows was a whole batch, so that more may follow.
pub(super) fn is_whole(rows: usize) -> bool {
    i64::try_from(rows).is_ok_and(|rows| rows >= BATCH)
}

/// The last receipt of a batch: the next batch begins after it, so that none scans the rows of earlier ones.
#[derive(Clone, Copy, Queryable)]
pub(super) struct LastReceipt {
    pub(super) at: Timestamp,
    pub(super) id: Uuid,
}

impl LastReceipt {
    /// Before the first receipt.
    pub(super) const START: Self = Self { at: Timestamp::EPOCH, id: Uuid::nil() };
}
