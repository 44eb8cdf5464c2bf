//! The course of an evening, by quarter of an hour.

use time::Duration;

use crate::gig::Gig;
use crate::money::Money;
use crate::music_request::{MusicRequest, RequestState, RequestStatus};
use crate::timestamp::Timestamp;

/// The microseconds of a quarter of an hour.
const LENGTH: i64 = 15 * 60 * 1_000_000;
/// The maximum number of quarters: 48 hours. What is later counts in the last one.
const MOST: i64 = 192;

/// A quarter of an hour of a gig.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuarterHour {
    /// Its beginning, on a full quarter of an hour.
    pub from: Timestamp,
    /// The requests that were made in it and not cancelled.
    pub requests: u64,
    /// The requests that were played in it, without refunded ones: the time of their play is not stored.
    pub played: u64,
    /// What the DJ earned by them, after the commission.
    pub earned: Money,
}

/// The quarters of a gig from its opening to its end, or to `now`, with these requests; `None` if a sum is too large.
#[must_use]
pub fn quarter_hours(gig: &Gig, requests: &[MusicRequest], now: Timestamp) -> Option<Vec<QuarterHour>> {
    let mut quarters = Quarters::of(gig, now);
    requests.iter().try_for_each(|request| quarters.count(request))?;
    Some(quarters.counted())
}

/// The quarters of a gig, with the requests that were counted so far.
///
/// Each request and each play counts once. Outside these quarters, it counts in the nearest one.
#[derive(Clone, Debug)]
pub struct Quarters {
    /// The numbers of the first and the last quarter.
    range: (i64, i64),
    quarters: Vec<QuarterHour>,
}

impl Quarters {
    /// The empty quarters of a gig from its opening to its end, or to `now`.
    #[must_use]
    pub fn of(gig: &Gig, now: Timestamp) -> Self {
        let first = quarter(gig.opened_at);
        let last =
            quarter(gig.ended_at.unwrap_or(now)).clamp(first, first.saturating_add(MOST.saturating_sub(1)));
        let empty = |number: i64| QuarterHour {
            from: Timestamp::from_unix_micros(number.saturating_mul(LENGTH)),
            requests: 0,
            played: 0,
            earned: Money::ZERO,
        };
        Self { range: (first, last), quarters: (first..=last).map(empty).collect() }
    }

    /// Counts a request that was not cancelled; `None` if a sum is too large.
    #[must_use]
    pub fn count(&mut self, request: &MusicRequest) -> Option<()> {
        if request.state.status() == RequestStatus::Cancelled {
            return Some(());
        }
        let made = self.at(request.created_at)?;
        made.requests = made.requests.saturating_add(1);
        if let RequestState::Played { at, commission } = request.state {
            let earned = request.fee.checked_sub(commission)?;
            let played = self.at(at)?;
            played.played = played.played.saturating_add(1);
            played.earned = played.earned.checked_add(earned)?;
        }
        Some(())
    }

    fn at(&mut self, at: Timestamp) -> Option<&mut QuarterHour> {
        let (first, last) = self.range;
        let place = usize::try_from(quarter(at).clamp(first, last).saturating_sub(first)).ok()?;
        self.quarters.get_mut(place)
    }

    /// The quarters in their order.
    #[must_use]
    pub fn counted(self) -> Vec<QuarterHour> {
        self.quarters
    }
}

impl QuarterHour {
    /// The duration of a quarter.
    pub const DURATION: Duration = Duration::microseconds(LENGTH);

    /// Its end.
    #[must_use]
    pub fn until(&self) -> Timestamp {
        self.from.plus(Self::DURATION)
    }
}

/// The number of the quarter of an hour that contains a time, counted from the Unix epoch.
fn quarter(at: Timestamp) -> i64 {
    at.unix_micros().div_euclid(LENGTH)
}
