//! Reproducible random numbers, each computable without those before it.

use fastrand::Rng;

/// A series of numbers, independent of every other series.
#[derive(Clone, Copy)]
pub(super) enum Series {
    Fate = 1,
    Dj,
    Guest,
    Fee,
    Song,
    Pace,
    Amount,
    Owner,
    Operation,
    OperationRest,
}

/// The distance between two seeds, because the generator would draw similar numbers from adjacent ones.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the number at an index of a series.
#[expect(clippy::as_conversions, reason = "the series have small numbers")]
pub(super) fn random(series: Series, number: u64) -> u64 {
    let seed = number.wrapping_mul(16).wrapping_add(series as u64).wrapping_mul(SEED_STEP);
    Rng::with_seed(seed).u64(..)
}

/// Returns the number at an index of a series, below `end`; 0 if `end` is 0.
pub(super) fn random_below(end: u32, series: Series, number: u64) -> u32 {
    let below = random(series, number).checked_rem(u64::from(end)).unwrap_or(0);
    u32::try_from(below).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_are_reproducible_and_bounded() {
        assert_eq!(random(Series::Dj, 1), 0x8448_4cb2_b177_dc00);
        let drawn: Vec<u32> = (0..100).map(|number| random_below(6, Series::Guest, number)).collect();
        assert!((0..6).all(|number| drawn.contains(&number)));
        assert!(drawn.iter().all(|number| *number < 6));
        assert_eq!(random_below(0, Series::Guest, 1), 0);
    }

    #[test]
    fn two_random_series_are_independent() {
        let same = (0..6_000)
            .filter(|number| random_below(6, Series::Dj, *number) == random_below(6, Series::Guest, *number))
            .count();
        assert!((900..1_100).contains(&same), "{same} of 6000 are the same");
    }
}
