//! The result of applying a plan.

use crate::account::ProfileRefusal;
use crate::ledger::{Changes, EntityKind, Receipt};
use crate::money::Money;
use crate::withdrawal::Limit;

/// Why a plan is not applied; the book is as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// State changed between load and apply: load and decide again. Also the answer to an operation or a key whose
    /// receipt is redacted already.
    Stale,
    /// The available balance is lower than what leaves it.
    InsufficientFunds {
        /// What is available.
        available: Money,
    },
    /// A withdrawal would pass a limit.
    LimitExceeded(Limit),
    /// The guest has this many open requests with the DJ, and no more are allowed.
    TooManyOpen(u32),
    /// The operator who judges the withdrawal adjusted its owner's wallet recently.
    RecentAdjustment,
    /// The person who acts as an operator is not an active operator.
    NotAnOperator,
    /// No active operator would remain.
    LastOperator,
    /// The client's key stands for another body.
    KeyReused,
    /// The profile cannot be changed like this.
    Profile(ProfileRefusal),
    /// The plan would write values that servers of an earlier version cannot read, and such servers may still run:
    /// the upgrade is not finalized.
    NotFinalized,
    /// A balance would be larger than any may be.
    OutOfRange,
    /// The plan names a row that does not exist.
    Missing(EntityKind),
    /// The book contradicts itself.
    Broken(&'static str),
}

/// What applying a plan came to.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// It was applied now, with these changes.
    Fresh(Receipt, Box<Changes>),
    /// It, or the command with its key, was applied before: this was its answer.
    Replayed(Receipt),
}
