//! The results of commands, as receipts contain them: the only place in this layer that knows [`Outcome`](crate::operation::Outcome).

use crate::application::error::Failure;
use crate::ledger::Balance;
use crate::ledger::adjustment::Adjustment;
use crate::operation::{Entity, Receipt};
use crate::ports::Profile;
use crate::timestamp::Timestamp;
use crate::tip::Tip;
use crate::withdrawal::Withdrawal;

/// A withdrawal, with its owner's balance after the command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Withdrawn {
    pub withdrawal: Withdrawal,
    pub balance: Balance,
}

/// A tip, with the guest's balance after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tipped {
    pub tip: Tip,
    pub balance: Balance,
}

/// An applied adjustment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adjusted {
    pub adjustment: Adjustment,
    /// The balance after it.
    pub balance: Balance,
    /// The time of the decision.
    pub at: Timestamp,
}

/// The result of a command, as its receipt contains it.
pub trait FromReceipt: Sized {
    /// The result in a receipt.
    ///
    /// # Errors
    /// [`Failure::Broken`] for the receipt of another command.
    fn from_receipt(receipt: Receipt) -> Result<Self, Failure>;
}

/// The result of most commands is their entity alone.
impl<E: TryFrom<Entity, Error = Entity>> FromReceipt for E {
    fn from_receipt(receipt: Receipt) -> Result<Self, Failure> {
        let entity = E::try_from(receipt.outcome.entity);
        entity.map_err(|_| Failure::Broken("a receipt shows another kind of entity"))
    }
}

/// The entity and its owner's balance.
fn with_balance<E: FromReceipt>(receipt: Receipt) -> Result<(E, Balance), Failure> {
    let balance = receipt.outcome.balance.ok_or(Failure::Broken("a receipt shows no balance"))?;
    Ok((E::from_receipt(receipt)?, balance))
}

impl FromReceipt for Profile {
    fn from_receipt(receipt: Receipt) -> Result<Self, Failure> {
        with_balance(receipt).map(|(user, balance)| Self { user, balance })
    }
}

impl FromReceipt for Withdrawn {
    fn from_receipt(receipt: Receipt) -> Result<Self, Failure> {
        with_balance(receipt).map(|(withdrawal, balance)| Self { withdrawal, balance })
    }
}

impl FromReceipt for Tipped {
    fn from_receipt(receipt: Receipt) -> Result<Self, Failure> {
        with_balance(receipt).map(|(tip, balance)| Self { tip, balance })
    }
}

impl FromReceipt for Adjusted {
    fn from_receipt(receipt: Receipt) -> Result<Self, Failure> {
        let at = receipt.at;
        with_balance(receipt).map(|(adjustment, balance)| Self { adjustment, balance, at })
    }
}
