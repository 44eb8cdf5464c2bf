//! The times at which calls are due: at a fixed rate, whether or not earlier ones are answered.

use std::time::{Duration, Instant};

use anyhow::Context;

/// The rate and the number of calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rate {
    /// Calls per second.
    pub(super) per_second: u32,
    /// The time of warm-up, whose calls are not counted.
    pub(super) warm_up: Duration,
    /// The time of counting.
    pub(super) counted: Duration,
}

impl Rate {
    /// The number of calls of the warm-up.
    pub(super) fn warm_up_calls(&self) -> u32 {
        self.calls_in(self.warm_up)
    }

    /// The number of all calls.
    pub(super) fn calls(&self) -> u32 {
        self.calls_in(self.warm_up.saturating_add(self.counted))
    }

    fn calls_in(&self, duration: Duration) -> u32 {
        let calls = duration.as_millis().saturating_mul(self.per_second.into()).div_euclid(1_000);
        u32::try_from(calls).unwrap_or(u32::MAX)
    }
}

/// A schedule in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    rate: Rate,
    begins: Instant,
    /// The number of calls that were taken.
    taken: u32,
}

impl Schedule {
    /// A schedule that begins at this time.
    pub(super) const fn new(rate: Rate, begins: Instant) -> Self {
        Self { rate, begins, taken: 0 }
    }

    /// The time of the next call, or of the end after the last one.
    ///
    /// # Errors
    /// If the schedule is too long.
    pub(super) fn next(&self) -> anyhow::Result<Instant> {
        let nanoseconds = u64::from(self.taken).saturating_mul(1_000_000_000);
        let after = nanoseconds.checked_div(self.rate.per_second.into()).context("the rate is zero")?;
        self.begins.checked_add(Duration::from_nanos(after)).context("the schedule is too long")
    }

    /// Takes the next call if it is due; returns its number, counted from 0, and its time.
    ///
    /// # Errors
    /// As [`Schedule::next`].
    pub(super) fn take(&mut self, now: Instant) -> anyhow::Result<Option<(u32, Instant)>> {
        let (number, due) = (self.taken, self.next()?);
        if self.is_over() || now < due {
            return Ok(None);
        }
        self.taken = self.taken.saturating_add(1);
        Ok(Some((number, due)))
    }

    /// Whether every call was taken.
    pub(super) fn is_over(&self) -> bool {
        self.taken >= self.rate.calls()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate =
        Rate { per_second: 3, warm_up: Duration::from_millis(1_500), counted: Duration::from_secs(2) };

    #[test]
    fn late_calls_do_not_delay_later_calls() {
        let begins = Instant::now();
        let mut schedule = Schedule::new(RATE, begins);
        let mut taken = |milliseconds| {
            let call = schedule.take(begins + Duration::from_millis(milliseconds)).unwrap();
            call.map(|(number, due)| (number, (due - begins).as_millis()))
        };
        assert_eq!(taken(0), Some((0, 0)));
        assert_eq!(taken(333), None);
        assert_eq!(taken(1_000), Some((1, 333)));
        assert_eq!(taken(1_000), Some((2, 666)));
        assert_eq!(taken(1_000), Some((3, 1_000)));
        assert_eq!(taken(1_000), None);
    }

    #[test]
    fn a_schedule_has_rate_times_duration_calls() {
        assert_eq!((RATE.warm_up_calls(), RATE.calls()), (4, 10));
        let begins = Instant::now();
        let mut schedule = Schedule::new(RATE, begins);
        let late = begins + Duration::from_secs(60);
        for _ in 0..10 {
            assert!(!schedule.is_over() && schedule.take(late).unwrap().is_some());
        }
        assert!(schedule.is_over());
        assert_eq!(schedule.take(late).unwrap(), None);
    }
}
