//! The size and the pace of batches.

use tokio::time::{Instant, sleep};

/// Rows per batch.
pub(crate) const BATCH: i64 = 1_000;

/// The pace of the batches of an erasure.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// No pauses.
    Brisk,
    /// A pause after each batch for as long as it took, which leaves half of the database's time to others.
    Gentle,
}

impl Pace {
    /// Waits until the next batch may follow the one that began then.
    pub(crate) async fn rest(self, began: Instant) {
        match self {
            Self::Brisk => {}
            Self::Gentle => sleep(began.elapsed()).await,
        }
    }
}
