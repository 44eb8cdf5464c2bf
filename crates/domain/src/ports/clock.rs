//! Time.

use crate::timestamp::Timestamp;

/// The wall clock.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait Clock: Send + Sync {
    /// The current time, in whole microseconds.
    fn now(&self) -> Timestamp;
}
