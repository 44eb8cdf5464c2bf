//! Bounds on the events that strangers can cause: each is noted once an hour, and only so many different ones.

use std::collections::HashSet;
use std::hash::Hash;

use crate::timestamp::Timestamp;

/// How many different things are noted within an hour.
pub(super) const MOST: usize = 1_000;
/// The length of an hour in microseconds.
const HOUR: i64 = 3_600_000_000;

/// Whether something is to be noted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// It happened for the first time within this hour.
    First,
    /// It happened before within this hour, or belongs to those that are too many.
    Again,
    /// It is the first of those that are too many.
    TooMany,
}

/// What happened within the present hour.
#[derive(Debug)]
pub(super) struct Hourly<T> {
    hour: i64,
    seen: HashSet<T>,
    is_full: bool,
}

impl<T> Default for Hourly<T> {
    fn default() -> Self {
        Self { hour: i64::MIN, seen: HashSet::new(), is_full: false }
    }
}

impl<T: Eq + Hash> Hourly<T> {
    /// Judges what happens at this moment.
    pub(super) fn judge(&mut self, what: T, now: Timestamp) -> Verdict {
        let hour = now.unix_micros().div_euclid(HOUR);
        if hour != self.hour {
            *self = Self { hour, ..Self::default() };
        }
        if self.seen.contains(&what) {
            Verdict::Again
        } else if self.seen.len() < MOST {
            self.seen.insert(what);
            Verdict::First
        } else if std::mem::replace(&mut self.is_full, true) {
            Verdict::Again
        } else {
            Verdict::TooMany
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
    fn each_thing_is_noted_once_an_hour() {
        let mut hourly = Hourly::default();
        for (what, minute, expected) in [
            ("a", 0, Verdict::First),
            ("a", 59, Verdict::Again),
            ("b", 59, Verdict::First),
            ("a", 60, Verdict::First),
            ("a", 61, Verdict::Again),
        ] {
            assert_eq!(hourly.judge(what, at(minute)), expected, "{what} at {minute}");
        }
    }

    #[test]
    fn more_than_so_many_things_are_noted_as_one() {
        let mut hourly = Hourly::default();
        for what in 0..MOST {
            assert_eq!(hourly.judge(what, at(0)), Verdict::First);
        }
        assert_eq!(hourly.judge(MOST, at(1)), Verdict::TooMany);
        assert_eq!(hourly.judge(MOST, at(1)), Verdict::Again);
        assert_eq!(hourly.judge(MOST + 1, at(2)), Verdict::Again);
        assert_eq!(hourly.judge(0, at(2)), Verdict::Again);
        assert_eq!(hourly.judge(MOST, at(60)), Verdict::First);
    }
}
