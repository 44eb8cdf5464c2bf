//! The clock of the machine, and the clock of the service, which is checked against the storage clock.

use std::sync::{PoisonError, RwLock};

pub use cuepoint_domain::ports::CLOCK_TOLERANCE as TOLERANCE;
use cuepoint_domain::ports::Clock;
use cuepoint_domain::timestamp::Timestamp;
use thiserror::Error;
use time::{Duration, OffsetDateTime};
use tokio::time::Instant;

/// The metric of how far this server's clock is ahead of the storage clock, in seconds; negative if it is
/// behind.
const DIFFERENCE: &str = "cuepoint_clock_difference_seconds";

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the only source of wall-clock time")]
    fn now(&self) -> Timestamp {
        Timestamp::new(OffsetDateTime::now_utc()).plus(shift())
    }
}

#[cfg(not(feature = "testing"))]
const fn shift() -> Duration {
    Duration::ZERO
}

/// Returns the offset of the machine's clock in a test: the seconds in the file named by
/// `CUEPOINT_CLOCK_SHIFT_FILE`.
#[cfg(feature = "testing")]
#[allow(clippy::disallowed_methods, reason = "only tests set it, and it is not part of the configuration")]
fn shift() -> Duration {
    let file = std::env::var_os("CUEPOINT_CLOCK_SHIFT_FILE");
    let seconds = file.and_then(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok());
    Duration::seconds(seconds.unwrap_or(0))
}

/// The speed of the clock of the service, as a multiple of real time.
pub type ClockRate = std::num::NonZeroU32;

/// The clock of the machine, or a quicker one for demonstrations.
#[derive(Clone, Copy, Debug)]
struct PacedClock {
    rate: ClockRate,
    /// The time and the instant of its start.
    began: (Timestamp, Instant),
}

impl PacedClock {
    fn now(&self) -> Timestamp {
        if self.rate == ClockRate::MIN { SystemClock.now() } else { self.after(self.began) }
    }

    /// The time now, according to the monotonic clock since a known time.
    fn after(&self, (time, at): (Timestamp, Instant)) -> Timestamp {
        let elapsed = at.elapsed().saturating_mul(self.rate.get());
        time.plus(Duration::try_from(elapsed).unwrap_or(Duration::MAX))
    }
}

/// The clocks of the machine and the storage differ too much.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(
    "this server's clock is {} s {} the database's; at most {} s are tolerated: correct the clock that is wrong",
    .ahead.whole_seconds().unsigned_abs(),
    if .ahead.is_negative() { "behind" } else { "ahead of" },
    TOLERANCE.whole_seconds()
)]
pub struct ClocksApart {
    /// How far the machine's clock is ahead; negative if it is behind.
    pub ahead: Duration,
}

/// The clock of the service: that of the machine as long as it agrees with the storage clock.
///
/// If the machine's clock is off by more than [`TOLERANCE`] from the time that the monotonic clock has
/// measured since the last successful comparison, the service uses the monotonic clock. A machine whose clock
/// is set 40 days ahead therefore dates, expires and purges nothing by the wrong time, even before the next
/// comparison.
#[derive(Debug)]
pub struct ServiceClock {
    machine: PacedClock,
    state: RwLock<State>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// The storage time at the last successful comparison, and the instant of the comparison.
    agreed: (Timestamp, Instant),
    /// How far the machine's clock was ahead at that comparison.
    ahead: Duration,
    apart: Option<ClocksApart>,
}

impl Default for ServiceClock {
    /// Returns a clock that starts from the machine's clock, before any comparison.
    fn default() -> Self {
        Self::at_rate(ClockRate::MIN)
    }
}

impl ServiceClock {
    /// Returns a clock that starts from the machine's clock and runs at this rate. The rate must be 1 if there is a
    /// storage clock.
    #[must_use]
    pub fn at_rate(rate: ClockRate) -> Self {
        let agreed = (SystemClock.now(), Instant::now());
        let state = State { agreed, ahead: Duration::ZERO, apart: None };
        Self { machine: PacedClock { rate, began: agreed }, state: RwLock::new(state) }
    }

    /// Returns the time of the machine at the rate of this clock, without the correction by the storage clock.
    #[must_use]
    pub fn machine_time(&self) -> Timestamp {
        self.machine.now()
    }

    /// Compares the machine's clock with the storage clock, which was read between `before`, a time of the
    /// machine's clock, and now. Without a storage clock, the machine's clock is taken as correct.
    ///
    /// # Errors
    /// [`ClocksApart`]; the service continues from the last successful comparison.
    pub fn compare(&self, before: Timestamp, storage: Option<Timestamp>) -> Result<(), ClocksApart> {
        let (now, at) = (self.machine.now(), Instant::now());
        let difference = storage.map_or(Duration::ZERO, |storage| {
            // Any storage time between the two readings counts as equal.
            let (earliest, latest) = (before.min(now), before.max(now));
            storage.clamp(earliest, latest).since(storage)
        });
        metrics::gauge!(DIFFERENCE).set(difference.as_seconds_f64());
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if difference.abs() > TOLERANCE {
            let apart = ClocksApart { ahead: difference };
            state.apart = Some(apart);
            return Err(apart);
        }
        *state = State { agreed: (now.minus(difference), at), ahead: difference, apart: None };
        Ok(())
    }

    /// Returns an error if the clocks differed at the last comparison.
    ///
    /// # Errors
    /// [`ClocksApart`].
    pub fn ensure_agreed(&self) -> Result<(), ClocksApart> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).apart.map_or(Ok(()), Err)
    }
}

impl Clock for ServiceClock {
    fn now(&self) -> Timestamp {
        let State { agreed, ahead, .. } = *self.state.read().unwrap_or_else(PoisonError::into_inner);
        let steady = self.machine.after(agreed);
        let machine = self.machine.now().minus(ahead);
        if machine.since(steady).abs() > TOLERANCE { steady } else { machine }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_may_differ_by_up_to_30_seconds() {
        for (ahead, agrees) in
            [(0, true), (29, true), (-29, true), (31, false), (-31, false), (-3_456_000, false)]
        {
            let (clock, now) = (ServiceClock::default(), SystemClock.now());
            let storage = now.minus(Duration::seconds(ahead));
            let compared = clock.compare(now, Some(storage));
            assert_eq!(compared.is_ok(), agrees, "{ahead}");
            assert_eq!(clock.ensure_agreed(), compared, "{ahead}");
            assert!(agrees || compared.unwrap_err().ahead.whole_seconds().abs_diff(ahead) <= 1);
        }
        assert_eq!(ServiceClock::default().compare(SystemClock.now(), None), Ok(()));
    }

    #[test]
    fn the_service_clock_follows_a_storage_clock_within_the_tolerance() {
        for ahead in [-29, -2, 0, 2, 29] {
            let (clock, now) = (ServiceClock::default(), SystemClock.now());
            let storage = now.minus(Duration::seconds(ahead));
            clock.compare(now, Some(storage)).unwrap();
            assert!(clock.now().since(storage).abs() < Duration::SECOND, "{ahead}");
        }
    }

    #[test]
    fn the_clock_error_is_cleared_once_the_clocks_agree_again() {
        let (clock, now) = (ServiceClock::default(), SystemClock.now());
        clock.compare(now, Some(now.plus(Duration::DAY))).unwrap_err();
        clock.compare(now, Some(now)).unwrap();
        assert_eq!(clock.ensure_agreed(), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_at_rate_60_counts_a_second_as_a_minute() {
        let clock = ServiceClock::at_rate(ClockRate::new(60).unwrap());
        let start = clock.now();
        for seconds in 1..=600 {
            tokio::time::advance(std::time::Duration::from_secs(1)).await;
            assert_eq!(clock.now().since(start), Duration::minutes(seconds));
            clock.compare(clock.machine_time(), None).unwrap();
            assert_eq!(clock.now().since(start), Duration::minutes(seconds), "after a comparison");
        }
    }

    #[test]
    fn a_clock_difference_is_printed_with_its_direction() {
        let message = |ahead| ClocksApart { ahead: Duration::seconds(ahead) }.to_string();
        assert!(
            message(90).starts_with("this server's clock is 90 s ahead of the database's"),
            "{}",
            message(90)
        );
        assert!(
            message(-90).starts_with("this server's clock is 90 s behind the database's"),
            "{}",
            message(-90)
        );
    }
}
