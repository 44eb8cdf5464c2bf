//! The times at which calls are due, whether or not earlier ones are answered.

use std::time::{Duration, Instant};

use anyhow::Context;
use fastrand::Rng;

/// The rate and the number of calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rate {
    /// Calls per second.
    pub(crate) per_second: u32,
    /// The time of warm-up, whose calls are not counted.
    pub(crate) warm_up: Duration,
    /// The time of counting.
    pub(crate) counted: Duration,
}

impl Rate {
    /// The number of calls of the warm-up.
    pub(crate) fn warm_up_calls(&self) -> u32 {
        self.calls_in(self.warm_up)
    }

    /// The number of all calls.
    pub(crate) fn calls(&self) -> u32 {
        self.calls_in(self.warm_up.saturating_add(self.counted))
    }

    fn calls_in(&self, duration: Duration) -> u32 {
        let calls = duration.as_millis().saturating_mul(self.per_second.into()).div_euclid(1_000);
        u32::try_from(calls).unwrap_or(u32::MAX)
    }
}

/// A schedule in progress.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    rate: Rate,
    begins: Instant,
    /// The number of calls that were taken.
    taken: u32,
    /// The time from the beginning to the next call.
    after: Duration,
    /// The source of random intervals; without it, all intervals are equal.
    random: Option<Rng>,
}

impl Schedule {
    /// A schedule of equal intervals that begins at this time.
    pub(crate) const fn even(rate: Rate, begins: Instant) -> Self {
        Self { rate, begins, taken: 0, after: Duration::ZERO, random: None }
    }

    /// A schedule of random intervals, as between independent users; those of `pgbench --rate` have the same
    /// distribution.
    pub(crate) fn random(rate: Rate, begins: Instant) -> Self {
        Self { random: Some(Rng::with_seed(4)), ..Self::even(rate, begins) }
    }

    /// The rate and the number of calls.
    pub(crate) const fn rate(&self) -> Rate {
        self.rate
    }

    /// The time of the next call, or of the end after the last one.
    pub(crate) fn next(&self) -> anyhow::Result<Instant> {
        self.begins.checked_add(self.after).context("the schedule is too long")
    }

    /// Takes the next call if it is due; returns its number, counted from 0, and its time.
    ///
    /// # Errors
    /// As [`Schedule::next`], and if the rate is zero.
    pub(crate) fn take(&mut self, now: Instant) -> anyhow::Result<Option<(u32, Instant)>> {
        let (number, due) = (self.taken, self.next()?);
        if self.is_over() || now < due {
            return Ok(None);
        }
        self.taken = self.taken.saturating_add(1);
        self.after = self.after_taken()?;
        Ok(Some((number, due)))
    }

    /// Whether every call was taken.
    pub(crate) fn is_over(&self) -> bool {
        self.taken >= self.rate.calls()
    }

    fn after_taken(&mut self) -> anyhow::Result<Duration> {
        let per_second = self.rate.per_second;
        let Some(rng) = &mut self.random else {
            let nanoseconds = u64::from(self.taken).saturating_mul(1_000_000_000);
            let after = nanoseconds.checked_div(per_second.into()).context("the rate is zero")?;
            return Ok(Duration::from_nanos(after));
        };
        // The logarithm is finite, because the random number is less than 1.
        let intervals = -(1.0 - rng.f64()).ln();
        let interval = Duration::try_from_secs_f64(intervals / f64::from(per_second));
        Ok(self.after.saturating_add(interval.context("the rate is zero")?))
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
        let mut schedule = Schedule::even(RATE, begins);
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
        let late = begins + Duration::from_secs(60);
        for mut schedule in [Schedule::even(RATE, begins), Schedule::random(RATE, begins)] {
            for _ in 0..10 {
                assert!(!schedule.is_over() && schedule.take(late).unwrap().is_some());
            }
            assert!(schedule.is_over());
            assert_eq!(schedule.take(late).unwrap(), None);
        }
    }

    #[test]
    fn random_intervals_have_the_mean_and_the_spread_of_independent_calls() {
        let rate = Rate { per_second: 1_000, counted: Duration::from_secs(10), ..RATE };
        let begins = Instant::now();
        let mut schedule = Schedule::random(rate, begins);
        let (mut last, mut short) = (begins, 0);
        while !schedule.is_over() {
            let (_, due) = schedule.take(begins + Duration::from_secs(60)).unwrap().unwrap();
            short += u32::from(due - last < Duration::from_millis(1));
            last = due;
        }
        let seconds = (last - begins).as_secs_f64();
        assert!((11.0..12.0).contains(&seconds), "11500 calls took {seconds} s");
        // The share of intervals shorter than the mean is 1 - 1/e.
        let share = f64::from(short) / f64::from(rate.calls());
        assert!((0.62..0.65).contains(&share), "{share} of the intervals are short");
    }
}
