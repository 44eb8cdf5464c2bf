//! Timestamps in UTC with microseconds, the precision of every store.

use std::fmt;

use time::{Duration, OffsetDateTime, PrimitiveDateTime, UtcOffset};

/// A timestamp in UTC, in whole microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(OffsetDateTime);

impl Timestamp {
    /// The Unix epoch.
    pub const EPOCH: Self = Self(OffsetDateTime::UNIX_EPOCH);

    /// The timestamp in UTC, truncated to microseconds and clamped to the calendar.
    #[must_use]
    pub fn new(moment: OffsetDateTime) -> Self {
        let end = if moment.year() < 0 { PrimitiveDateTime::MIN } else { PrimitiveDateTime::MAX };
        let utc = moment.checked_to_offset(UtcOffset::UTC).unwrap_or_else(|| end.assume_utc());
        Self(utc.replace_microsecond(utc.microsecond()).unwrap_or(utc))
    }

    /// The timestamp this many microseconds after the Unix epoch, clamped to the calendar of the `time`
    /// crate.
    #[must_use]
    pub fn from_unix_micros(micros: i64) -> Self {
        Self(OffsetDateTime::UNIX_EPOCH.saturating_add(Duration::microseconds(micros)))
    }

    /// Microseconds since the Unix epoch.
    #[must_use]
    pub fn unix_micros(self) -> i64 {
        let (seconds, micros) = (self.0.unix_timestamp(), i64::from(self.0.microsecond()));
        seconds.saturating_mul(1_000_000).saturating_add(micros)
    }

    /// The timestamp `by` later, clamped to the end of the calendar.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(by))
    }

    /// The timestamp `by` earlier, clamped to the start of the calendar.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(by))
    }

    /// The time elapsed since `earlier`; negative if it is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::microseconds(self.unix_micros().saturating_sub(earlier.unix_micros()))
    }

    /// The timestamp as a value of the `time` crate, in UTC.
    #[must_use]
    pub const fn to_utc(self) -> OffsetDateTime {
        self.0
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_truncated_to_microseconds() {
        let odd = OffsetDateTime::UNIX_EPOCH + Duration::nanoseconds(1_234_567);
        assert_eq!(Timestamp::new(odd).unix_micros(), 1_234);
        assert_eq!(Timestamp::from_unix_micros(1_234), Timestamp::new(odd));
        for micros in [-1_000_001, -1_000_000, -1, 0] {
            assert_eq!(Timestamp::from_unix_micros(micros).unix_micros(), micros);
        }
    }

    #[test]
    fn timestamps_outside_the_calendar_are_clamped() {
        let local = |moment: PrimitiveDateTime, hours| {
            Timestamp::new(moment.assume_offset(UtcOffset::from_hms(hours, 0, 0).unwrap()))
        };
        for (end, hours) in [(PrimitiveDateTime::MAX, -1), (PrimitiveDateTime::MIN, 1)] {
            assert_eq!(local(end, hours), Timestamp::new(end.assume_utc()));
        }
    }

    #[test]
    fn timestamp_addition_saturates() {
        let far = Timestamp::EPOCH.plus(Duration::MAX);
        assert_eq!(far.plus(Duration::SECOND), far);
    }
}
