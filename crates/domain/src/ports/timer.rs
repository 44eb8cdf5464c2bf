//! Monotonic time, for bounded waits.

use async_trait::async_trait;
use time::Duration;

/// The end of a wait, as monotonic time since the [`Timer`] was started.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Deadline(pub Duration);

/// Ends waits. It is independent of [`Clock`](crate::ports::Clock), whose time may be corrected.
#[async_trait]
pub trait Timer: Send + Sync {
    /// Completes when the deadline has passed; immediately if it already has.
    async fn sleep_until(&self, deadline: Deadline);
}
