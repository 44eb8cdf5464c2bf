//! Time.

use crate::timestamp::Timestamp;

/// Tells the time.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait Clock: Send + Sync {
    /// The present moment, in whole microseconds.
    fn now(&self) -> Timestamp;
}
