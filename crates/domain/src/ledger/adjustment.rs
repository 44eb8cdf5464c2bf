//! An operator's correction of a balance.

use crate::ids::{AdjustmentId, UserId};
use crate::ledger::{Account, OutsideAccount, Transfer, TransferKind};
use crate::money::{Amount, Money};
use crate::text::Line;
use thiserror::Error;
use time::Duration;

/// The direction and amount of a correction; never zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Correction {
    /// Adds the amount to the wallet.
    Credit(Amount),
    /// Takes the amount from the wallet.
    Debit(Amount),
}

impl Correction {
    /// The correction for a signed sum; `None` for zero.
    #[must_use]
    pub fn signed(sum: Money) -> Option<Self> {
        match Amount::new(sum) {
            Some(amount) => Some(Self::Credit(amount)),
            None => Amount::new(sum.negated()).map(Self::Debit),
        }
    }

    /// The absolute amount.
    #[must_use]
    pub const fn amount(self) -> Amount {
        match self {
            Self::Credit(amount) | Self::Debit(amount) => amount,
        }
    }

    /// The signed sum, negative for a debit.
    #[must_use]
    pub const fn sum(self) -> Money {
        match self {
            Self::Credit(amount) => amount.money(),
            Self::Debit(amount) => amount.money().negated(),
        }
    }
}

/// A deployment's terms for adjustments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AdjustmentTerms {
    /// The largest amount of one adjustment, up or down; `None` means no limit.
    pub max_amount: Option<Amount>,
}

/// Why an adjustment is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum AdjustmentRefusal {
    /// The amount exceeds this limit of one adjustment.
    #[error("the adjustment is above the limit")]
    AboveLimit(Amount),
}

/// An adjustment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adjustment {
    /// The adjustment's id.
    pub id: AdjustmentId,
    /// The owner of the corrected balance.
    pub user: UserId,
    pub correction: Correction,
    pub reason: Line,
}

impl Adjustment {
    /// The period during which an operator who adjusted a wallet may not judge withdrawals from it.
    pub const JUDGING_BAR: Duration = Duration::days(30);

    /// Checks that the amount is within the current limit.
    pub(crate) fn check(&self, terms: &AdjustmentTerms) -> Result<(), AdjustmentRefusal> {
        match terms.max_amount.filter(|most| self.correction.amount() > *most) {
            Some(most) => Err(AdjustmentRefusal::AboveLimit(most)),
            None => Ok(()),
        }
    }

    /// The transfer that it makes.
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
    fn an_adjustment_keeps_its_sign_and_cannot_be_zero() {
        for minor in [1, -1, 250, -250] {
            let sum = Money::from_minor(minor);
            assert_eq!(Correction::signed(sum).map(Correction::sum), Some(sum));
        }
        assert_eq!(Correction::signed(Money::ZERO), None);
    }
}
