//! The pace of batches.

use tokio::time::{Instant, sleep};

use super::statements::BATCH;

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
