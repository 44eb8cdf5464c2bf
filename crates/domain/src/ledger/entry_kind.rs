//! The kinds of ledger entries.

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::names::named_enum;
use crate::unknown::UnknownName;

/// The kind of an entry, as shown on a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum EntryKind {
    /// Money was paid in.
    Topup,
    /// Money was put on hold.
    Hold,
    /// Held money became available again.
    Release,
    /// Held money was paid.
    Capture,
    /// A DJ was paid for a played song, or got a tip.
    Earning,
    /// A paid fee was returned.
    Refund,
    /// An earning was returned.
    Reversal,
    /// An operator corrected the balance.
    Adjustment,
    /// The payer took a top-up back.
    Chargeback,
    /// A guest gave a tip.
    Tip,
    /// A kind of a newer version.
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(EntryKind, Unknown);

impl EntryKind {
    /// The kinds of the entries that show that a user had a confirmed top-up or a charged fee, as guest or DJ. Every other
    /// entry of a wallet without them moves what an operator credited.
    pub const PAYMENTS: [Self; 3] = [Self::Topup, Self::Earning, Self::Capture];
}
