//! How a withdrawal is given to the payout provider, and what the provider's words come to.
//!
//! The provider takes a withdrawal's reference as its idempotency key, so the same order may be sent until an answer
//! comes. Without an answer the amount stays held until an operator finds out: doubt never gives money back. So a refusal
//! counts only while the order was sent once: that of a later sending may mean that an earlier one was carried out. A
//! reference never repeats, unlike a row id after a restore, so that an answer about one withdrawal cannot be taken for
//! an answer about another.

use time::Duration;

use crate::provider_message::Contradiction;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::withdrawal::{Move, Withdrawal, WithdrawalState};

/// What a deployment decides about giving withdrawals to the provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PayoutTerms {
    /// How often a withdrawal is sent without an answer before an operator has to look at it.
    pub max_attempts: u32,
    /// How long an answer may take before it is sent again; longer than a call to the provider lasts, which the
    /// configuration ensures.
    pub retry_after: Duration,
}

/// When a withdrawal waits to be given to the provider.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NextSend {
    /// It never was.
    AtOnce,
    /// It was, without an answer so far.
    At(Timestamp),
}

impl NextSend {
    /// Whether the moment has come.
    #[must_use]
    pub fn is_due(self, now: Timestamp) -> bool {
        match self {
            Self::AtOnce => true,
            Self::At(at) => at <= now,
        }
    }

    /// The moment, unless it has come already.
    #[must_use]
    pub const fn at(self) -> Option<Timestamp> {
        match self {
            Self::AtOnce => None,
            Self::At(at) => Some(at),
        }
    }
}

/// The move by which the worker takes a withdrawal up: it sends it, or gives up; `None` when it is not due.
#[must_use]
pub fn next_send(withdrawal: &Withdrawal, terms: &PayoutTerms, now: Timestamp) -> Option<Move> {
    let due = withdrawal.state.next_send().is_some_and(|next| next.is_due(now));
    let tried_enough = withdrawal.state.attempts() >= terms.max_attempts;
    due.then(|| {
        if tried_enough { Move::Review } else { Move::Send { now, again_at: now.plus(terms.retry_after) } }
    })
}

/// What the provider says of a withdrawal, in its answer or in a later call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PayoutUpdate {
    /// It has it, and will say more.
    Accepted,
    /// It sent it as this transaction.
    Broadcast {
        /// The transaction on the network.
        txid: Line,
    },
    /// It arrived.
    Completed {
        /// The transaction on the network.
        txid: Line,
    },
    /// Nothing was sent and nothing ever will be.
    Refused,
}

impl PayoutUpdate {
    /// What the word is called, in the provider's answers and in the log.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Broadcast { .. } => "broadcast",
            Self::Completed { .. } => "completed",
            Self::Refused => "refused",
        }
    }

    /// The transaction that it names.
    #[must_use]
    pub const fn txid(&self) -> Option<&Line> {
        match self {
            Self::Broadcast { txid } | Self::Completed { txid } => Some(txid),
            Self::Accepted | Self::Refused => None,
        }
    }
}

/// What a word comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PayoutUpdateDecision {
    /// The withdrawal takes this step; after it the word is heard again, until it is known.
    Move(Move),
    /// It was known already, or something later is.
    Known,
    /// The withdrawal waits for an operator, who alone decides.
    ForOperator,
    /// It contradicts what happened: nothing changes, and an operator has to look at it.
    Contradiction(Contradiction),
    /// The withdrawal has a status of a newer version, which alone can decide; the provider has to send the message
    /// again.
    Unknown,
}

/// What the provider's word comes to, in whatever order its words arrive and however often.
#[must_use]
pub fn decide_update(withdrawal: &Withdrawal, word: &PayoutUpdate) -> PayoutUpdateDecision {
    if names_another_transaction(&withdrawal.state, word) {
        return PayoutUpdateDecision::Contradiction(Contradiction::TxidMismatch);
    }
    match (&withdrawal.state, word) {
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

        // One of the earlier sendings may have got through.
        (WithdrawalState::Processing { attempts: 2.., .. }, PayoutUpdate::Refused) => {
            PayoutUpdateDecision::Move(Move::Review)
        }
        (WithdrawalState::Processing { .. }, PayoutUpdate::Refused) => {
            PayoutUpdateDecision::Move(Move::Refused)
        }
        // It was sent and then was not: nobody knows, so the amount stays held.
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

/// Whether the word names another transaction than the one by which the withdrawal is, or may be, paid.
fn names_another_transaction(state: &WithdrawalState, word: &PayoutUpdate) -> bool {
    let paid_by = match state {
        WithdrawalState::Broadcast { txid } | WithdrawalState::Completed { txid } => Some(txid),
        WithdrawalState::NeedsReview { txid } => txid.as_ref(),
        _ => None,
    };
    paid_by.zip(word.txid()).is_some_and(|(known, named)| known != named)
}
