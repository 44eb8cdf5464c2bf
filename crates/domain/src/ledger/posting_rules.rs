//! The posting rules: the money that first repays a wallet owner's debt.

use crate::ledger::TransferKind;

/// The rules that determine which money first repays the wallet owner's debt.
///
/// Each operation records its rules, so that the ledger audit posts it again by the same ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PostingRules {
    /// Only the earnings of DJs: the rules of operations that recorded none.
    EarningsPayOwed,
    /// All credits: top-ups, earnings, refunded fees, and upward adjustments.
    IncomePaysOwed,
    /// All credits and released money: an owner in debt cannot put money on hold and release it unpaid.
    ReleasesPayOwed,
    /// Rules of a newer version, by their number: only that version knows how they post a transfer.
    Unknown(i16),
}

impl PostingRules {
    /// The number under which stores keep them.
    #[must_use]
    pub const fn number(self) -> i16 {
        match self {
            Self::EarningsPayOwed => 1,
            Self::IncomePaysOwed => 2,
            Self::ReleasesPayOwed => 3,
            Self::Unknown(number) => number,
        }
    }

    /// The rules recorded under this number, which the first version did not write; `None` for numbers that
    /// no version writes.
    #[must_use]
    pub const fn numbered(number: Option<i16>) -> Option<Self> {
        match number {
            None | Some(1) => Some(Self::EarningsPayOwed),
            Some(2) => Some(Self::IncomePaysOwed),
            Some(3) => Some(Self::ReleasesPayOwed),
            Some(number) if number > 0 => Some(Self::Unknown(number)),
            Some(_) => None,
        }
    }

    /// Whether money of this kind that becomes available repays debt first.
    pub(crate) const fn pay_owed(self, kind: TransferKind) -> bool {
        match kind {
            TransferKind::Capture | TransferKind::Tip => true,
            TransferKind::Topup | TransferKind::Refund | TransferKind::Adjustment => {
                matches!(self, Self::IncomePaysOwed | Self::ReleasesPayOwed)
            }
            TransferKind::Release => matches!(self, Self::ReleasesPayOwed),
            TransferKind::Hold | TransferKind::Chargeback => false,
        }
    }
}
