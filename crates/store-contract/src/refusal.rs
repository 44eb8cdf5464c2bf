//! The refusals that the model predicts.

use std::collections::BTreeSet;

/// Why a command is refused.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Refusal {
    NoSuchDj,
    FeeBelowPrice(i128),
    DjOffline,
    TooManyOpen(u32),
    GigOpen,
    GigEnded,
    NotADj,
    OwnTip,
    Inactive,
    Funds { available: i128 },
    Owes { owed: i128 },
    Limit(&'static str),
    RecentAdjustment,
    TxidMissing,
    AlreadySettled,
    Transition { current: &'static str, allowed: BTreeSet<&'static str> },
}
