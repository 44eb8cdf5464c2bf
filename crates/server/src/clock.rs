//! The machine's clock.

use cuepoint_domain::ports::Clock;
use cuepoint_domain::timestamp::Timestamp;
use time::OffsetDateTime;

/// Tells the time by the machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one place where time comes in")]
    fn now(&self) -> Timestamp {
        Timestamp::new(OffsetDateTime::now_utc())
    }
}
