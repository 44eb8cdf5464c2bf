//! An operator's correction of a balance.

use crate::ids::{AdjustmentId, UserId};
use crate::ledger::{Account, OutsideAccount, Transfer, TransferKind};
use crate::money::{Amount, Money};
use crate::text::Line;
use time::Duration;

/// Which way a balance is corrected, and by how much; never by nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Correction {
    /// The wallet gets the amount.
    Credit(Amount),
    /// The wallet loses the amount.
    Debit(Amount),
}

impl Correction {
    /// The correction by a signed sum; `None` for nothing.
    #[must_use]
    pub fn signed(sum: Money) -> Option<Self> {
        match Amount::new(sum) {
            Some(amount) => Some(Self::Credit(amount)),
            None => Amount::new(sum.negated()).map(Self::Debit),
        }
    }

    /// The absolute value of the amount.
    #[must_use]
    pub const fn amount(self) -> Amount {
        match self {
            Self::Credit(amount) | Self::Debit(amount) => amount,
        }
    }

    /// The signed sum, below zero for a debit.
    #[must_use]
    pub const fn sum(self) -> Money {
        match self {
            Self::Credit(amount) => amount.money(),
            Self::Debit(amount) => amount.money().negated(),
        }
    }
}

/// What a deployment decides about adjustments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AdjustmentTerms {
    /// The largest amount of one adjustment, up or down; `None` means no limit.
    pub max_amount: Option<Amount>,
}

/// Why a balance cannot be corrected like this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdjustmentRefusal {
    /// The amount is above the limit of one adjustment.
    AboveLimit(Amount),
}

/// An adjustment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adjustment {
    /// Which it is.
    pub id: AdjustmentId,
    /// The owner of the corrected balance.
    pub user: UserId,
    /// By how much.
    pub correction: Correction,
    /// Why.
    pub reason: Line,
}

impl Adjustment {
    /// How long an operator who adjusted a wallet may not judge withdrawals from it.
    pub const BARS_JUDGING_FOR: Duration = Duration::days(30);

    /// Ensures that the amount is within the limit in force.
    pub(crate) fn check(&self, terms: &AdjustmentTerms) -> Result<(), AdjustmentRefusal> {
        match terms.max_amount.filter(|most| self.correction.amount() > *most) {
            Some(most) => Err(AdjustmentRefusal::AboveLimit(most)),
            None => Ok(()),
        }
    }

    /// The money that it moves.
    pub(crate) fn transfer(&self) -> Transfer {
        let (wallet, world) = (Account::Available(self.user), Account::Outside(OutsideAccount::Adjustments));
        let (debit, credit, amount) = match self.correction {
            Correction::Credit(amount) => (world, wallet, amount),
            Correction::Debit(amount) => (wallet, world, amount),
        };
        Transfer { debit, credit, amount, kind: TransferKind::Adjustment }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_keeps_its_sign_and_is_never_nothing() {
        for minor in [1, -1, 250, -250] {
            let sum = Money::from_minor(minor);
            assert_eq!(Correction::signed(sum).map(Correction::sum), Some(sum));
        }
        assert_eq!(Correction::signed(Money::ZERO), None);
    }
}
