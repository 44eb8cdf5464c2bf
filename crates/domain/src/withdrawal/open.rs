//! Making a withdrawal: the amount is held at once.

use crate::ids::{UserId, WithdrawalId};
use crate::ledger::{Account, Transfer, TransferKind};
use crate::money::{Amount, Currency, Money};
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::withdrawal::{Limit, Withdrawal, WithdrawalState, WithdrawalTerms};

/// What somebody wants to be paid out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewWithdrawal {
    /// How much, in the wallet's currency.
    pub amount: Amount,
    /// Where it is sent.
    pub wallet_address: Line,
    /// What is paid out.
    pub currency: Line,
    /// The network that it is paid out on.
    pub network: Line,
}

/// The least that can be withdrawn at once: one whole unit of the currency.
#[must_use]
pub fn minimum(currency: &Currency) -> Money {
    currency.whole(1)
}

/// The withdrawal, and the transfer that holds its amount. The rolling limits are judged when it is applied.
///
/// # Errors
/// [`Limit::Single`] when it is more than one withdrawal may be.
pub fn open(
    id: WithdrawalId,
    user: UserId,
    new: NewWithdrawal,
    terms: &WithdrawalTerms,
    now: Timestamp,
) -> Result<(Withdrawal, Transfer), Limit> {
    if let Some(most) = terms.limits.max_amount
        && new.amount > most
    {
        return Err(Limit::Single(most));
    }
    let needs_no_operator = terms.auto_approve_below.is_some_and(|limit| new.amount < limit);
    let withdrawal = Withdrawal {
        id,
        user,
        amount: new.amount,
        wallet_address: new.wallet_address,
        currency: new.currency,
        network: new.network,
        state: if needs_no_operator { WithdrawalState::Approved } else { WithdrawalState::Pending },
        created_at: now,
        updated_at: now,
    };
    let hold = Transfer {
        debit: Account::Available(user),
        credit: Account::Held(user),
        amount: new.amount,
        kind: TransferKind::Hold,
    };
    Ok((withdrawal, hold))
}
