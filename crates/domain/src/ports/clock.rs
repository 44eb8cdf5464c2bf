//! Time.

use time::Duration;

use crate::timestamp::Timestamp;

/// The tolerated difference between the clocks of two servers, or of a server and its database.
pub const CLOCK_TOLERANCE: Duration = Duration::seconds(30);

/// The wall clock.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait Clock: Send + Sync {
    /// The current time, in whole microseconds.
    fn now(&self) -> Timestamp;
}
