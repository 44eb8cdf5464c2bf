//! The age from which rows are removed.

use time::Duration;

/// The latest time of rows past their retention: `?` are now and the retention, in microseconds. The
/// machine's clock counts too, so that a server with a fast clock removes nothing too early: in whole
/// seconds, as in the trigger that protects young security events.
pub(super) const PAST_RETENTION: &str = "min(?, unixepoch() * 1000000) - ?";

/// A retention in microseconds.
pub(super) fn micros_of(kept_for: Duration) -> i64 {
    i64::try_from(kept_for.whole_microseconds()).unwrap_or(i64::MAX)
}
