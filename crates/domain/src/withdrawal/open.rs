//! Opening a withdrawal: the amount is held immediately.

use thiserror::Error;

use crate::address::{AddressPolicy, Destination, DestinationRefusal, OptionsTable};
use crate::ids::{OperationId, UserId, WithdrawalId};
use crate::ledger::{Account, Transfer, TransferKind};
use crate::money::{Amount, Currency, Money};
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::withdrawal::{Limit, Withdrawal, WithdrawalState, WithdrawalTerms};

/// The data of a new withdrawal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewWithdrawal {
    /// The amount, in the wallet's currency.
    pub amount: WithdrawalAmount,
    /// The destination address.
    pub wallet_address: Line,
    /// The payout currency.
    pub currency: Line,
    /// The payout network.
    pub network: Line,
}

impl NewWithdrawal {
    /// The withdrawal with its destination as this policy stores it.
    ///
    /// # Errors
    /// [`OpenRefusal::Destination`].
    pub fn under(self, policy: AddressPolicy, options: &OptionsTable) -> Result<Self, OpenRefusal> {
        let Self { amount, wallet_address, currency, network } = self;
        let Destination { currency, network, wallet_address } = policy
            .judge(options, Destination { currency, network, wallet_address })
            .map_err(OpenRefusal::Destination)?;
        Ok(Self { amount, wallet_address, currency, network })
    }
}

/// Why a withdrawal is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum OpenRefusal {
    /// Nothing can be sent to this destination.
    #[error("nothing can be sent to this destination: {0:?}")]
    Destination(DestinationRefusal),
    /// It would exceed a limit.
    #[error("a limit would be exceeded")]
    Limit(Limit),
}

/// The amount of a new withdrawal, which is at least the minimum of its currency.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WithdrawalAmount(Amount);

impl WithdrawalAmount {
    /// The minimum, in whole units of the currency.
    pub const MIN_WHOLE_UNITS: u32 = 1;

    /// An amount of this currency; `None` below the [minimum](Self::minimum).
    #[must_use]
    pub fn new(amount: Amount, currency: &Currency) -> Option<Self> {
        (amount.money() >= Self::minimum(currency)).then_some(Self(amount))
    }

    /// The minimum in this currency.
    #[must_use]
    pub fn minimum(currency: &Currency) -> Money {
        currency.whole(Self::MIN_WHOLE_UNITS)
    }

    /// The amount.
    #[must_use]
    pub const fn get(self) -> Amount {
        self.0
    }
}

/// The new withdrawal as it is stored and shown: its destination in canonical form.
///
/// # Errors
/// As [`open`].
pub fn judge(new: NewWithdrawal, terms: &WithdrawalTerms) -> Result<NewWithdrawal, OpenRefusal> {
    let new = new.under(terms.address_policy, &terms.options)?;
    match terms.limits.max_amount {
        Some(most) if new.amount.get() > most => Err(OpenRefusal::Limit(Limit::Single(most))),
        _ => Ok(new),
    }
}

/// The withdrawal opened by this operation, still pending, and the transfer that holds its amount.
///
/// # Errors
/// [`OpenRefusal`], the first that applies, in the order of its variants; of the limits, only that of a single
/// withdrawal.
pub fn open(
    opening: OperationId,
    id: WithdrawalId,
    user: UserId,
    new: NewWithdrawal,
    terms: &WithdrawalTerms,
    now: Timestamp,
) -> Result<(Withdrawal, Transfer), OpenRefusal> {
    let NewWithdrawal { amount: WithdrawalAmount(amount), wallet_address, currency, network } =
        judge(new, terms)?;
    let withdrawal = Withdrawal {
        id,
        opening: Some(opening),
        user,
        amount,
        wallet_address,
        currency,
        network,
        state: WithdrawalState::Pending,
        approvals: Vec::new(),
        created_at: now,
        updated_at: now,
    };
    let transfer = hold(&withdrawal);
    Ok((withdrawal, transfer))
}

/// The transfer that holds the amount.
pub(super) const fn hold(withdrawal: &Withdrawal) -> Transfer {
    Transfer {
        debit: Account::Available(withdrawal.user),
        credit: Account::Held(withdrawal.user),
        amount: withdrawal.amount,
        kind: TransferKind::Hold,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn withdrawals_below_one_unit_of_the_currency_are_refused() {
        for (scale, minor, is_enough) in [(2, 99, false), (2, 100, true), (0, 1, true), (3, 999, false)] {
            let currency = Currency::new("USD", scale).unwrap();
            let amount = WithdrawalAmount::new(Amount::new(Money::from_minor(minor)).unwrap(), &currency);
            assert_eq!(amount.map(|amount| amount.get().money().minor()), is_enough.then_some(minor));
        }
    }
}
