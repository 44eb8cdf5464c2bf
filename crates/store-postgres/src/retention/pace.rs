//! The size and the pace of batches.

use tokio::time::{Instant, sleep};

/// Rows of one batch.
pub(crate) const BATCH: i64 = 1_000;

/// How the batches of an erasure follow each other.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// Without a pause.
    Brisk,
    /// Each is followed by a pause as long as it took, so that half of the database's time is left to others.
    Gentle,
}

impl Pace {
    /// Waits until another batch may follow the one that began then.
    pub(crate) async fn rest(self, began: Instant) {
        match self {
            Self::Brisk => {}
            Self::Gentle => sleep(began.elapsed()).await,
        }
    }
}
