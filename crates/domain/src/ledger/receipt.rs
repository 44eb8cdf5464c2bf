//! What an applied plan came to: enough to answer its command, now or at a retry.

use crate::adjustment::Adjustment;
use crate::ids::OperationId;
use crate::ledger::Balance;
use crate::music_request::MusicRequest;
use crate::people::User;
use crate::provider_message::ProviderMessage;
use crate::timestamp::Timestamp;
use crate::topup::Topup;
use crate::withdrawal::Withdrawal;

/// What an applied plan came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Receipt {
    /// Which operation.
    pub operation: OperationId,
    /// When it was decided.
    pub at: Timestamp,
    /// What it came to.
    pub outcome: Outcome,
}

/// The thing that an operation was about, as it stood right after it.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// A music request.
    Request(MusicRequest),
    /// A withdrawal, with its owner's balance.
    Withdrawal(Withdrawal, Balance),
    /// A top-up.
    Topup(Topup),
    /// A person, with their balance.
    Profile(User, Balance),
    /// An adjustment, with the balance that it led to.
    Adjustment(Adjustment, Balance),
    /// A message of a provider.
    Message(ProviderMessage),
}
