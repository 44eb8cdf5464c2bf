//! Making a withdrawal: the amount is held at once.

use crate::address::{Destination, DestinationRefusal};
use crate::ids::{OperationId, UserId, WithdrawalId};
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

/// Why a withdrawal cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenRefusal {
    /// Nothing can be sent there.
    Destination(DestinationRefusal),
    /// It is more than one withdrawal may be.
    Limit(Limit),
}

/// The least that can be withdrawn at once, in whole units of the currency.
pub const MIN_WHOLE_UNITS: u32 = 1;

/// [`MIN_WHOLE_UNITS`] of this currency.
#[must_use]
pub fn minimum(currency: &Currency) -> Money {
    currency.whole(MIN_WHOLE_UNITS)
}

/// The withdrawal that this operation opens, and the transfer that holds its amount. The rolling limits are
/// checked when the plan is applied.
///
/// # Errors
/// [`OpenRefusal`], the first that applies in its order.
pub fn open(
    opening: OperationId,
    id: WithdrawalId,
    user: UserId,
    new: NewWithdrawal,
    terms: &WithdrawalTerms,
    now: Timestamp,
) -> Result<(Withdrawal, Transfer), OpenRefusal> {
    let NewWithdrawal { amount, wallet_address, currency, network } = new;
    let destination = terms
        .address_policy
        .judge(&terms.options, Destination { currency, network, wallet_address })
        .map_err(OpenRefusal::Destination)?;
    if let Some(most) = terms.limits.max_amount
        && amount > most
    {
        return Err(OpenRefusal::Limit(Limit::Single(most)));
    }
    let needs_no_operator = terms.auto_approve_below.is_some_and(|limit| amount < limit);
    let withdrawal = Withdrawal {
        id,
        opening: Some(opening),
        user,
        amount,
        wallet_address: destination.wallet_address,
        currency: destination.currency,
        network: destination.network,
        state: if needs_no_operator { WithdrawalState::Approved } else { WithdrawalState::Pending },
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
