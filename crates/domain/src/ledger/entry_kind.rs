//! The kinds of ledger entries.

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::names::named_enum;
use crate::unknown::UnknownName;

/// What an entry is called on a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum EntryKind {
    /// Money was paid in.
    Topup,
    /// Money was set aside.
    Hold,
    /// Money set aside is available again.
    Release,
    /// Money set aside was paid to somebody.
    Capture,
    /// A played song was paid.
    Earning,
    /// A fee that was paid is back.
    Refund,
    /// An earning was given back.
    Reversal,
    /// An operator corrected the balance.
    Adjustment,
    /// Money that was paid in was taken back by who paid it.
    Chargeback,
    /// A newer version changed it.
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(EntryKind, Unknown);
