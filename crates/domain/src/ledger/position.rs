//! The order of operations.

use std::fmt;

use time::Duration;

use crate::ledger::{PlanKind, StoredReceipt};
use crate::timestamp::Timestamp;

/// The place of an operation in the order of commits over all servers of a deployment: 1, 2, 3 … without
/// gaps. Who has seen a position has seen all before it.
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
    /// Its receipt.
    pub receipt: StoredReceipt,
}
