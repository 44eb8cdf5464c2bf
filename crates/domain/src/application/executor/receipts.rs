//! The results of commands, as receipts contain them: the only place in this layer that knows [`Outcome`].

use crate::application::error::Failure;
use crate::ledger::Balance;
use crate::ledger::adjustment::Adjustment;
use crate::music_request::MusicRequest;
use crate::operation::{Outcome, Receipt};
use crate::ports::Profile;
use crate::provider_message::ProviderMessage;
use crate::timestamp::Timestamp;
use crate::topup::Topup;
use crate::user::User;
use crate::withdrawal::Withdrawal;

/// A withdrawal, with its owner's balance after the command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Withdrawn {
    /// The withdrawal.
    pub withdrawal: Withdrawal,
    /// The balance.
    pub balance: Balance,
}

/// An applied adjustment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adjusted {
    /// The adjustment.
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

macro_rules! from_receipt {
    ($output:ty: $pattern:pat => $value:expr) => {
        impl FromReceipt for $output {
            fn from_receipt(receipt: Receipt) -> Result<Self, Failure> {
                match receipt {
                    $pattern => Ok($value),
                    _ => Err(Failure::Broken(concat!("a receipt shows no ", stringify!($output)))),
                }
            }
        }
    };
}

from_receipt!(MusicRequest: Receipt { outcome: Outcome::Request(request), .. } => request);
from_receipt!(Topup: Receipt { outcome: Outcome::Topup(topup), .. } => topup);
from_receipt!(User: Receipt { outcome: Outcome::Profile(user, _), .. } => user);
from_receipt!(Profile: Receipt { outcome: Outcome::Profile(user, balance), .. } => Profile { user, balance });
from_receipt!(ProviderMessage: Receipt { outcome: Outcome::Message(message), .. } => message);
from_receipt!(
    Withdrawn: Receipt { outcome: Outcome::Withdrawal(withdrawal, balance), .. } =>
        Withdrawn { withdrawal, balance }
);
from_receipt!(
    Adjusted: Receipt { at, outcome: Outcome::Adjustment(adjustment, balance), .. } =>
        Adjusted { adjustment, balance, at }
);
