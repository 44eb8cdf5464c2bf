//! The refusals of commands, as the domain states them and as the model predicts them.

use std::collections::BTreeSet;

use cuepoint_domain::authorization::DenialReason;
use cuepoint_domain::gig::GigRefusal;
use cuepoint_domain::music_request::{self, OpenRefusal};
use cuepoint_domain::operation::Rejection;
use cuepoint_domain::tip::TipRefusal;
use cuepoint_domain::topup::{ReversalRefusal, SuspenseRefusal};
use cuepoint_domain::withdrawal::{self, Limit};

/// Why a command was not carried out.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Refused {
    /// By the authorization matrix.
    Denied(DenialReason),
    /// By the store, when the plan was applied.
    Rejected(Rejection),
    /// By the rule that opens requests.
    Open(OpenRefusal),
    /// By the rule that changes gigs.
    Gig(GigRefusal),
    /// By the rule that gives tips.
    Tip(TipRefusal),
    /// By the rule that moves requests.
    Request(music_request::MoveRefusal),
    /// By the rule that moves withdrawals.
    Withdrawal(withdrawal::MoveRefusal),
    /// By the rule that reverses top-ups.
    Reversal(ReversalRefusal),
    /// By the rule that settles money in suspense.
    Suspense(SuspenseRefusal),
    /// By the limit of a single withdrawal.
    Limit(Limit),
}

/// Why a command is refused, in the model.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Refusal {
    NoSuchDj,
    FeeBelowPrice(i128),
    DjOffline,
    TooManyOpen(u32),
    /// The queue of a gig has no room.
    NoRoom(&'static str),
    GigOpen,
    GigEnded,
    NotADj,
    OwnTip,
    Inactive,
    Funds {
        available: i128,
    },
    Owes {
        owed: i128,
    },
    Limit(&'static str),
    GuestLimit(&'static str),
    ClaimRequired,
    RecentAdjustment,
    TxidMissing,
    AlreadySettled,
    Transition {
        current: &'static str,
        allowed: BTreeSet<&'static str>,
    },
}
