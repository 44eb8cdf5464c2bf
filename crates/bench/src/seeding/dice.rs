//! Numbers that look random and are the same every time, each known without those before it.

use crate::dice::{STEP, mixed};

/// What a number is thrown for; two purposes have nothing to do with each other.
#[derive(Clone, Copy)]
pub(super) enum For {
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

/// The number of this throw.
#[expect(clippy::as_conversions, reason = "the purposes are small numbers")]
pub(super) const fn throw(purpose: For, number: u64) -> u64 {
    mixed(number.wrapping_mul(16).wrapping_add(purpose as u64).wrapping_mul(STEP))
}

/// A number below `end`, which is above zero.
pub(super) fn below(end: u32, purpose: For, number: u64) -> u32 {
    let thrown = throw(purpose, number).checked_rem(u64::from(end)).unwrap_or(0);
    u32::try_from(thrown).unwrap_or(0)
}
