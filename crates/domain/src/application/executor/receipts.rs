//! The results of commands, as receipts contain them: the only place in this layer that knows [`Outcome`](crate::operation::Outcome).

use crate::application::error::Failure;
use crate::ledger::Balance;
use crate::ledger::adjustment::Adjustment;
use crate::music_request::{MusicRequest, RequestRating};
use crate::operation::{Entity, Receipt};
use crate::ports::Profile;
use crate::provider_message::ProviderMessage;
use crate::timestamp::Timestamp;
use crate::topup::Topup;
use crate::user::User;
use crate::withdrawal::Withdrawal;

/// A withdrawal, with its owner's balance after the command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Withdrawn {
    pub withdrawal: Withdrawal,
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

/// Declares the result in a receipt: from the entity, its owner's balance, and the time of the decision.
macro_rules! from_receipt {
    ($output:ty: $entity:pat, $balance:pat, $at:pat => $value:expr) => {
        impl FromReceipt for $output {
            fn from_receipt(receipt: Receipt) -> Result<Self, Failure> {
                match (receipt.outcome.entity, receipt.outcome.balance, receipt.at) {
                    ($entity, $balance, $at) => Ok($value),
                    _ => Err(Failure::Broken(concat!("a receipt shows no ", stringify!($output)))),
                }
            }
        }
    };
}

from_receipt!(MusicRequest: Entity::MusicRequest(request), _, _ => request);
from_receipt!(RequestRating: Entity::Rating(rating), _, _ => rating);
from_receipt!(Topup: Entity::Topup(topup), _, _ => topup);
from_receipt!(User: Entity::User(user), _, _ => user);
from_receipt!(Profile: Entity::User(user), Some(balance), _ => Profile { user, balance });
from_receipt!(ProviderMessage: Entity::ProviderMessage(message), _, _ => message);
from_receipt!(Withdrawn: Entity::Withdrawal(withdrawal), Some(balance), _ => Withdrawn { withdrawal, balance });
from_receipt!(
    Adjusted: Entity::Adjustment(adjustment), Some(balance), at => Adjusted { adjustment, balance, at }
);
