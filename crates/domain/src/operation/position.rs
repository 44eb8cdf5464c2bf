//! The order of operations.

use std::fmt;

use time::Duration;

use crate::operation::{PlanKind, StoredReceipt};
use crate::timestamp::Timestamp;

/// The place of an operation in the order of commits over all servers of a deployment: 1, 2, 3 …, except for
/// the gaps after lost commits ([`PositionGap`]). Who has seen a position has seen all before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position(i64);

impl Position {
    /// The place before the first operation.
    pub const START: Self = Self(0);
    /// A position that no operation reaches.
    pub const END: Self = Self(i64::MAX);
    /// The time within which an operation that a server of an earlier version committed gets its position.
    pub const ASSIGNED_WITHIN: Duration = Duration::minutes(1);

    /// The position with this number; `None` if it is negative.
    #[must_use]
    pub const fn new(number: i64) -> Option<Self> {
        if number >= 0 { Some(Self(number)) } else { None }
    }

    /// The number, never negative.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The previous position; [`Position::START`] has none before it.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(if self.0 > 0 { self.0.saturating_sub(1) } else { 0 })
    }

    /// The position halfway to a later one.
    #[must_use]
    pub const fn midpoint(self, to: Self) -> Self {
        Self(self.0.midpoint(to.0))
    }

    /// The next position.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The position of the next operation after the newest one, given the newest gap; `None` if there are no more
    /// positions.
    #[must_use]
    pub fn following(newest: Self, gap: Option<PositionGap>) -> Option<Self> {
        let next = newest.next().max(gap.map_or(Self::START, |gap| gap.next));
        (next < Self::END).then_some(next)
    }

    /// The position after which a reader continues who has seen this one, if this one belongs to a lost commit.
    ///
    /// `newest` is the newest position, and `gap` the last gap that begins before this position, which was read
    /// after `newest` or in the same snapshot.
    #[must_use]
    pub fn lost_after(self, newest: Self, gap: Option<PositionGap>) -> Option<Self> {
        match gap {
            Some(PositionGap { last, next }) if last < self && self < next => Some(last),
            _ if self > newest => Some(newest),
            _ => None,
        }
    }
}

/// Positions that no operation has or will have, because commits may have been lost: those after `last` and before
/// `next`. Readers may have seen some of them before the loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PositionGap {
    /// The newest position when the gap began.
    pub last: Position,
    /// The position of the next operation.
    pub next: Position,
}

impl PositionGap {
    /// The least distance between the last position before a gap and the next one, for clocks that are wrong:
    /// presumably more positions than commits were lost.
    pub const MIN_DISTANCE: i64 = 1_000_000;

    /// The gap between two positions; `None` if the second one is not after the first one.
    #[must_use]
    pub fn new(last: Position, next: Position) -> Option<Self> {
        (last < next).then_some(Self { last, next })
    }

    /// The gap after the newest position, given the newest gap and the time; `None` if there are not enough
    /// positions.
    ///
    /// The next position is the number of microseconds since 1970. If the same data is restored a second time,
    /// operations after the first restore are lost, too. They are fewer than the microseconds between the
    /// restores, so that the second gap ends after their positions.
    ///
    /// A gap that no operation has followed yet becomes longer: operations that followed it may be lost.
    #[must_use]
    pub fn after(newest: Position, gap: Option<Self>, now: Timestamp) -> Option<Self> {
        let from = newest.max(gap.map_or(Position::START, |gap| gap.next.previous()));
        let next = from.get().checked_add(Self::MIN_DISTANCE)?.max(now.unix_micros());
        Self::new(newest, Position::new(next)?)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An operation with its position.
#[derive(Clone, PartialEq, Debug)]
pub struct PositionedOperation {
    /// Its place in the order of commits.
    pub position: Position,
    /// The kind of its plan; `None` if a newer version introduced it.
    pub kind: Option<PlanKind>,
    /// The time of the decision.
    pub at: Timestamp,
    pub receipt: StoredReceipt,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(number: i64) -> Position {
        Position::new(number).unwrap()
    }

    fn gap(last: i64, next: i64) -> PositionGap {
        PositionGap::new(position(last), position(next)).unwrap()
    }

    #[test]
    fn positions_in_a_gap_or_after_the_newest_are_lost() {
        // The newest position, the gap that begins before the position, the position, and where to continue.
        for (newest, gap, seen, expected) in [
            (0, None, 0, None),
            (0, None, 1, Some(0)),
            (5, None, 5, None),
            (5, None, 6, Some(5)),
            (5, Some(gap(5, 1_000_005)), 6, Some(5)),
            (5, Some(gap(5, 1_000_005)), 1_000_004, Some(5)),
            (5, Some(gap(5, 1_000_005)), 1_000_005, Some(5)),
            (1_000_007, None, 5, None),
            (1_000_007, Some(gap(5, 1_000_005)), 6, Some(5)),
            (1_000_007, Some(gap(5, 1_000_005)), 1_000_004, Some(5)),
            (1_000_007, Some(gap(5, 1_000_005)), 1_000_005, None),
            (1_000_007, Some(gap(5, 1_000_005)), 1_000_008, Some(1_000_007)),
        ] {
            let found = position(seen).lost_after(position(newest), gap);
            assert_eq!(found, expected.map(position), "{seen} of {newest} with {gap:?}");
        }
    }

    #[test]
    fn positions_continue_after_a_gap_and_never_repeat() {
        for (newest, before, now, expected) in [
            (0, None, 5_000_000, gap(0, 5_000_000)),
            (7, None, 5_000_000, gap(7, 5_000_000)),
            (7, Some(gap(7, 5_000_000)), 7_000_000, gap(7, 7_000_000)),
            (5_000_002, Some(gap(7, 5_000_000)), 7_000_000, gap(5_000_002, 7_000_000)),
            // With a clock that is behind.
            (0, None, -1, gap(0, 1_000_000)),
            (7, None, 5, gap(7, 1_000_007)),
            (1_000_009, Some(gap(7, 1_000_007)), 5, gap(1_000_009, 2_000_009)),
            (7, Some(gap(7, 1_000_007)), 5, gap(7, 2_000_006)),
        ] {
            let (newest, now) = (position(newest), Timestamp::from_unix_micros(now));
            assert_eq!(PositionGap::after(newest, before, now), Some(expected));
            assert_eq!(Position::following(newest, Some(expected)), Some(expected.next));
            let later = expected.next.next();
            assert_eq!(Position::following(later, Some(expected)), Some(later.next()));
        }
        assert_eq!(Position::following(Position::START, None), Some(position(1)));
    }

    #[test]
    fn a_second_restore_reuses_no_positions() {
        let (newest, first_restore) = (position(7), Timestamp::from_unix_micros(1_790_000_000_000_000));
        let first = PositionGap::after(newest, None, first_restore).unwrap();
        // At 100,000 operations in a second.
        let lost = position(first.next.get() + 100_000);
        let second = PositionGap::after(newest, None, first_restore.plus(Duration::SECOND)).unwrap();
        assert!(lost < second.next);
        assert_eq!(lost.lost_after(second.next, Some(second)), Some(newest));
    }

    #[test]
    fn the_largest_position_does_not_overflow() {
        let last = position(i64::MAX - 1);
        assert_eq!(Position::following(position(i64::MAX - 2), None), Some(last));
        assert_eq!(Position::following(last, None), None);
        assert_eq!(Position::following(Position::END, None), None);
        assert_eq!(PositionGap::after(last, None, Timestamp::EPOCH), None);
        assert_eq!(PositionGap::after(Position::END, None, Timestamp::EPOCH), None);
    }
}
