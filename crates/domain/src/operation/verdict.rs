//! The result of applying a plan.

use crate::entity_ref::EntityKind;
use crate::ids::GigId;
use crate::money::Money;
use crate::music_request::{QueueRefusal, RequestStatus};
use crate::operation::{Changes, Receipt};
use crate::topup::GuestTopupLimit;
use crate::user::ProfileRefusal;
use crate::withdrawal::Limit;

/// Why a plan is rejected; the book is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// Optimistic concurrency conflict: state changed between load and apply, so load and decide again. Also
    /// returned for an operation or a key whose receipt is already redacted.
    Stale,
    /// The available balance does not cover the debit.
    InsufficientFunds {
        /// The available balance.
        available: Money,
    },
    /// The owner of the debited wallet owes money.
    WalletOwes {
        /// The debt.
        owed: Money,
    },
    /// The other party, who must be active, is suspended or erased.
    Inactive,
    /// The withdrawal would exceed this limit.
    LimitExceeded(Limit),
    /// The top-up of a guest account would exceed this limit.
    GuestTopupLimit(GuestTopupLimit),
    /// The e-mail address of the withdrawal's owner is not verified.
    EmailUnverified,
    /// The guest has this many open requests with the DJ, the maximum.
    TooManyOpen(u32),
    /// The queue of the gig has no room.
    NoRoom(QueueRefusal),
    /// This other gig of the DJ has not ended.
    GigOpen(GigId),
    /// The gig of the request has ended, or for a request without a gig, the one with which it ends. The request has this
    /// status.
    GigEnded(RequestStatus),
    /// The judging operator recently adjusted the owner's wallet.
    RecentAdjustment,
    /// The acting user is not an active operator.
    NotAnOperator,
    /// No active operator would remain.
    LastOperator,
    /// The client's key was used with another body.
    KeyReused,
    /// The profile change is refused.
    Profile(ProfileRefusal),
    /// The upgrade is not finalized, and the plan would write values that servers of an earlier version
    /// cannot read.
    NotFinalized,
    /// A balance would exceed the maximum.
    OutOfRange,
    /// The plan refers to a row that does not exist.
    Missing(EntityKind),
    /// The book contradicts itself.
    Broken(&'static str),
}

impl Rejection {
    /// Whether the plan could pass after overdue fees of the wallet's owner are released.
    #[must_use]
    pub const fn depends_on_balance(self) -> bool {
        let is_clearing = matches!(self, Self::LimitExceeded(Limit::Cleared(_)));
        is_clearing || matches!(self, Self::InsufficientFunds { .. } | Self::WalletOwes { .. })
    }
}

/// The result of applying a plan.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// The plan was applied now, with these changes.
    Fresh(Receipt, Box<Changes>),
    /// The plan, or the command with its key, was applied before, with this receipt.
    Replayed(Receipt),
}
