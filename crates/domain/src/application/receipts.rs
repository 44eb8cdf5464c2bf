//! The contents of receipts: the only place in this layer that knows [`Outcome`].

use crate::account::User;
use crate::application::Failure;
use crate::ledger::adjustment::Adjustment;
use crate::ledger::{Balance, Outcome, Receipt};
use crate::music_request::MusicRequest;
use crate::provider_message::ProviderMessage;
use crate::topup::Topup;
use crate::withdrawal::Withdrawal;

macro_rules! shown {
    ($(#[$doc:meta])* $name:ident -> $output:ty, $pattern:pat => $value:expr, $failure:literal) => {
        $(#[$doc])*
        pub(super) fn $name(receipt: Receipt) -> Result<$output, Failure> {
            match receipt.outcome {
                $pattern => Ok($value),
                _ => Err(Failure::Broken($failure)),
            }
        }
    };
}

shown!(
    /// The music request.
    music_request -> MusicRequest,
    Outcome::Request(request) => request,
    "the receipt of a command about a request shows another entity"
);
shown!(
    /// The withdrawal, with its owner's balance.
    withdrawal -> (Withdrawal, Balance),
    Outcome::Withdrawal(withdrawal, balance) => (withdrawal, balance),
    "the receipt of a command about a withdrawal shows another entity"
);
shown!(
    /// The top-up.
    topup -> Topup,
    Outcome::Topup(topup) => topup,
    "the receipt of a command about a top-up shows another entity"
);
shown!(
    /// The user, with their balance.
    profile -> (User, Balance),
    Outcome::Profile(user, balance) => (user, balance),
    "the receipt of a command about a user shows another entity"
);
shown!(
    /// The adjustment, with the balance after it.
    adjustment -> (Adjustment, Balance),
    Outcome::Adjustment(adjustment, balance) => (adjustment, balance),
    "the receipt of an adjustment shows another entity"
);
shown!(
    /// The message of a provider.
    provider_message -> ProviderMessage,
    Outcome::Message(message) => message,
    "the receipt of a command about a message shows another entity"
);
