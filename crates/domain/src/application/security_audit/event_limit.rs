//! A limit on the events that unauthenticated or unprivileged clients can cause: each is recorded once an
//! hour, up to a maximum number of different ones.

use std::collections::HashSet;
use std::hash::Hash;

use crate::timestamp::Timestamp;

/// The maximum number of different events recorded within an hour.
pub(super) const MAX: usize = 1_000;
/// The length of an hour in microseconds.
const HOUR: i64 = 3_600_000_000;

/// Whether to record an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Recording {
    /// Its first occurrence within this hour.
    First,
    /// A repetition within this hour, or an event above the limit.
    Again,
    /// The first event above the limit.
    TooMany,
}

/// The events of the current hour.
#[derive(Debug)]
pub(super) struct HourlyEvents<T> {
    hour: i64,
    seen: HashSet<T>,
    is_full: bool,
}

impl<T> Default for HourlyEvents<T> {
    fn default() -> Self {
        Self { hour: i64::MIN, seen: HashSet::new(), is_full: false }
    }
}

impl<T: Eq + Hash> HourlyEvents<T> {
    /// Counts an event that happens now, and returns whether to record it.
    pub(super) fn admit(&mut self, event: T, now: Timestamp) -> Recording {
        let hour = now.unix_micros().div_euclid(HOUR);
        if hour != self.hour {
            *self = Self { hour, ..Self::default() };
        }
        if self.seen.contains(&event) {
            Recording::Again
        } else if self.seen.len() < MAX {
            self.seen.insert(event);
            Recording::First
        } else if std::mem::replace(&mut self.is_full, true) {
            Recording::Again
        } else {
            Recording::TooMany
        }
    }
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::minutes(minutes))
    }

    #[test]
    fn each_security_event_is_recorded_at_most_once_an_hour() {
        let mut hourly = HourlyEvents::default();
        for (what, minute, expected) in [
            ("a", 0, Recording::First),
            ("a", 59, Recording::Again),
            ("b", 59, Recording::First),
            ("a", 60, Recording::First),
            ("a", 61, Recording::Again),
        ] {
            assert_eq!(hourly.admit(what, at(minute)), expected, "{what} at {minute}");
        }
    }

    #[test]
    fn security_events_above_the_hourly_limit_are_recorded_as_one() {
        let mut hourly = HourlyEvents::default();
        for what in 0..MAX {
            assert_eq!(hourly.admit(what, at(0)), Recording::First);
        }
        assert_eq!(hourly.admit(MAX, at(1)), Recording::TooMany);
        assert_eq!(hourly.admit(MAX, at(1)), Recording::Again);
        assert_eq!(hourly.admit(MAX + 1, at(2)), Recording::Again);
        assert_eq!(hourly.admit(0, at(2)), Recording::Again);
        assert_eq!(hourly.admit(MAX, at(60)), Recording::First);
    }
}
