//! Submission of withdrawals to the payout provider, and the effects of its status updates.
//!
//! The provider takes a withdrawal's reference as its idempotency key, so the same order may be sent until an
//! answer arrives. Without an answer the amount stays held until an operator finds out: doubt never returns
//! money. A refusal therefore counts only if the order was sent once: after several submissions, an earlier
//! one may have been executed. A reference never repeats, unlike a row id after a restore, so an answer about
//! one withdrawal cannot be mistaken for an answer about another.

use time::Duration;

use crate::provider_message::Contradiction;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::withdrawal::{Move, Withdrawal, WithdrawalState};

/// A deployment's terms for submitting withdrawals to the provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PayoutTerms {
    /// The number of submissions without an answer after which an operator must investigate.
    pub max_attempts: u32,
    /// The time to wait for an answer before the next submission; longer than a call to the provider lasts,
    /// which the configuration ensures.
    pub retry_after: Duration,
}

/// The time at which a withdrawal is due for submission to the provider.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NextSend {
    /// Immediately: it was never submitted.
    AtOnce,
    /// At this time: it was submitted, without an answer so far.
    At(Timestamp),
}

impl NextSend {
    /// Whether it is due.
    #[must_use]
    pub fn is_due(self, now: Timestamp) -> bool {
        match self {
            Self::AtOnce => true,
            Self::At(at) => at <= now,
        }
    }

    /// The due time, unless it has passed.
    #[must_use]
    pub const fn at(self) -> Option<Timestamp> {
        match self {
            Self::AtOnce => None,
            Self::At(at) => Some(at),
        }
    }
}

/// The worker's next move: submit or give up; `None` if the withdrawal is not due.
#[must_use]
pub fn next_send(withdrawal: &Withdrawal, terms: &PayoutTerms, now: Timestamp) -> Option<Move> {
    let due = withdrawal.state.next_send().is_some_and(|next| next.is_due(now));
    let tried_enough = withdrawal.state.attempts() >= terms.max_attempts;
    due.then(|| {
        if tried_enough { Move::Review } else { Move::Send { now, again_at: now.plus(terms.retry_after) } }
    })
}

/// A provider's status update for a withdrawal, in its answer or in a later message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PayoutUpdate {
    /// Accepted, with further updates to follow.
    Accepted,
    /// Sent as this transaction.
    Broadcast {
        /// The transaction on the network.
        txid: Line,
    },
    /// Arrived.
    Completed {
        /// The transaction on the network.
        txid: Line,
    },
    /// Not sent, and never will be.
    Refused,
}

impl PayoutUpdate {
    /// The name of the update, in the provider's answers and in the log.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Broadcast { .. } => "broadcast",
            Self::Completed { .. } => "completed",
            Self::Refused => "refused",
        }
    }

    /// The transaction in the update.
    #[must_use]
    pub const fn txid(&self) -> Option<&Line> {
        match self {
            Self::Broadcast { txid } | Self::Completed { txid } => Some(txid),
            Self::Accepted | Self::Refused => None,
        }
    }
}

/// The effect of an update.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PayoutUpdateDecision {
    /// The withdrawal makes this move; the update is applied again afterwards, until it is known.
    Move(Move),
    /// The update, or a later one, was already known.
    Known,
    /// The withdrawal is in review, and only an operator decides.
    ForOperator,
    /// The update contradicts the recorded state: nothing changes, and an operator must investigate.
    Contradiction(Contradiction),
    /// The withdrawal has a status of a newer version, which alone can decide; the provider must send the
    /// message again.
    Unknown,
}

/// Applies a provider's update to the state machine; idempotent and order-independent.
#[must_use]
pub fn decide_update(withdrawal: &Withdrawal, update: &PayoutUpdate) -> PayoutUpdateDecision {
    if names_another_transaction(&withdrawal.state, update) {
        return PayoutUpdateDecision::Contradiction(Contradiction::TxidMismatch);
    }
    match (&withdrawal.state, update) {
        (WithdrawalState::NeedsReview { .. }, _) => PayoutUpdateDecision::ForOperator,
        (WithdrawalState::Unknown { .. }, _) => PayoutUpdateDecision::Unknown,

        (WithdrawalState::Processing { retry_at: Some(_), .. }, PayoutUpdate::Accepted) => {
            PayoutUpdateDecision::Move(Move::Accepted)
        }
        (
            WithdrawalState::Processing { retry_at: None, .. }
            | WithdrawalState::Broadcast { .. }
            | WithdrawalState::Completed { .. }
            | WithdrawalState::Failed { .. },
            PayoutUpdate::Accepted,
        ) => PayoutUpdateDecision::Known,

        (
            WithdrawalState::Processing { .. },
            PayoutUpdate::Broadcast { txid } | PayoutUpdate::Completed { txid },
        ) => PayoutUpdateDecision::Move(Move::Broadcast { txid: txid.clone() }),
        (WithdrawalState::Broadcast { .. }, PayoutUpdate::Completed { txid }) => {
            PayoutUpdateDecision::Move(Move::Complete { txid: Some(txid.clone()) })
        }
        (
            WithdrawalState::Broadcast { .. } | WithdrawalState::Completed { .. },
            PayoutUpdate::Broadcast { .. },
        )
        | (WithdrawalState::Completed { .. }, PayoutUpdate::Completed { .. }) => PayoutUpdateDecision::Known,

        // One of the earlier submissions may have got through.
        (WithdrawalState::Processing { attempts: 2.., .. }, PayoutUpdate::Refused) => {
            PayoutUpdateDecision::Move(Move::Review)
        }
        (WithdrawalState::Processing { .. }, PayoutUpdate::Refused) => {
            PayoutUpdateDecision::Move(Move::Refused)
        }
        // Sent and then refused: the result is unknown, so the amount stays held.
        (WithdrawalState::Broadcast { .. }, PayoutUpdate::Refused) => {
            PayoutUpdateDecision::Move(Move::Review)
        }
        (WithdrawalState::Failed { .. }, PayoutUpdate::Refused) => PayoutUpdateDecision::Known,

        (
            WithdrawalState::Pending
            | WithdrawalState::Approved
            | WithdrawalState::Cancelled
            | WithdrawalState::Rejected,
            _,
        )
        | (WithdrawalState::Failed { .. }, PayoutUpdate::Broadcast { .. } | PayoutUpdate::Completed { .. })
        | (WithdrawalState::Completed { .. }, PayoutUpdate::Refused) => {
            PayoutUpdateDecision::Contradiction(Contradiction::StatusContradiction)
        }
    }
}

/// Whether the update names a different transaction from the one by which the withdrawal is, or may be, paid.
fn names_another_transaction(state: &WithdrawalState, update: &PayoutUpdate) -> bool {
    let paid_by = match state {
        WithdrawalState::Broadcast { txid } | WithdrawalState::Completed { txid } => Some(txid),
        WithdrawalState::NeedsReview { txid } => txid.as_ref(),
        _ => None,
    };
    paid_by.zip(update.txid()).is_some_and(|(known, named)| known != named)
}
