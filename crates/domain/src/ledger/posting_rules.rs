//! The posting rules: which income first pays what the owner of a wallet owes.

use crate::ledger::TransferKind;

/// The rules that decide which income first pays what the owner of the wallet owes.
///
/// Each operation keeps the rules that it was posted by, so that the ledger audit posts it anew by the same. Money that
/// is released was its owner's before, and pays nothing under either.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PostingRules {
    /// Only the earnings of DJs: the rules of operations that recorded none.
    EarningsPayOwed,
    /// All income: top-ups, earnings, refunded fees, and upward adjustments.
    IncomePaysOwed,
    /// Rules of a newer version, by their number: only that version can tell what they make of a transfer.
    Unknown(i16),
}

impl PostingRules {
    /// The number by which stores keep them.
    #[must_use]
    pub const fn number(self) -> i16 {
        match self {
            Self::EarningsPayOwed => 1,
            Self::IncomePaysOwed => 2,
            Self::Unknown(number) => number,
        }
    }

    /// The rules that an operation kept under this number, which the first version did not write; `None` for what no version
    /// writes.
    #[must_use]
    pub const fn numbered(number: Option<i16>) -> Option<Self> {
        match number {
            None | Some(1) => Some(Self::EarningsPayOwed),
            Some(2) => Some(Self::IncomePaysOwed),
            Some(number) if number > 0 => Some(Self::Unknown(number)),
            Some(_) => None,
        }
    }

    /// Whether money of this kind that becomes available pays what is owed first.
    pub(crate) const fn pay_owed(self, kind: TransferKind) -> bool {
        match kind {
            TransferKind::Capture => true,
            TransferKind::Topup | TransferKind::Refund | TransferKind::Adjustment => {
                matches!(self, Self::IncomePaysOwed)
            }
            TransferKind::Hold | TransferKind::Release | TransferKind::Chargeback => false,
        }
    }
}
