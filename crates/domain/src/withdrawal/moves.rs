//! The state machine of a withdrawal, and the money that each transition moves.
//!
//! The OpenAPI document shows it as the life cycle of `WithdrawalStatus`. The amount stays held until the payment is
//! known to have arrived (captured) or to be impossible (released). Doubt never returns money.

use crate::ids::UserId;
use crate::ledger::{Account, OutsideAccount, Transfer, TransferKind};
use crate::money::Amount;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::withdrawal::open::hold;
use crate::withdrawal::{Withdrawal, WithdrawalState, WithdrawalStatus};

/// A transition of a withdrawal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Move {
    /// Its owner cancels it before it is sent.
    Cancel,
    /// An operator other than the owner approves it.
    Approve {
        /// The approving operator; without one, it is approved at once.
        by: Option<UserId>,
        /// The sum of its owner's recent withdrawals above which a second operator must approve as well.
        second_above: Option<Amount>,
    },
    /// An operator other than the owner rejects it.
    Reject {
        /// The rejecting operator.
        by: UserId,
    },
    /// An operator sends it by hand.
    Process,
    /// The worker submits it to the provider, for the first time or, when due, again.
    Send {
        /// The current time.
        now: Timestamp,
        /// The time of the next submission, unless an answer is known by then.
        again_at: Timestamp,
    },
    /// The provider accepted it: it is not submitted again.
    Accepted,
    /// It was sent.
    Broadcast {
        /// The transaction on the network.
        txid: Line,
    },
    /// It arrived.
    Complete {
        /// The transaction on the network; defaults to the known one, and may differ from it only in a review.
        txid: Option<Line>,
    },
    /// An operator knows that it was not and will not be sent. If the provider may have it, it must be
    /// reviewed first.
    Fail,
    /// The provider definitely refused it; a refusal after several submissions is never definite.
    Refused,
    /// It is unknown whether it was sent.
    Review,
}

/// The effect of a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// No change: the withdrawal is already in the target state.
    Unchanged,
    /// The withdrawal changes state, with its money.
    Moved(WithdrawalMove),
    /// An operator approves it; the effect depends on the other approvals, so it is decided when the plan is
    /// applied.
    Approval {
        /// The approving operator.
        by: UserId,
        /// The sum of its owner's recent withdrawals above which a second operator must approve as well.
        second_above: Option<Amount>,
    },
}

/// A withdrawal's next state and the transfer that goes with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WithdrawalMove {
    /// The next state.
    pub to: WithdrawalState,
    pub transfer: Option<Transfer>,
}

/// Why a move is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MoveRefusal {
    /// Completion requires a transaction, and none is known.
    TxidMissing,
    /// The move is not allowed from the current state.
    InvalidTransition {
        current: WithdrawalStatus,
        /// The statuses allowed next, for any actor.
        allowed: Vec<WithdrawalStatus>,
    },
}

impl Move {
    /// The resulting status.
    #[must_use]
    pub const fn to(&self) -> WithdrawalStatus {
        match self {
            Self::Cancel => WithdrawalStatus::Cancelled,
            Self::Approve { .. } => WithdrawalStatus::Approved,
            Self::Reject { .. } => WithdrawalStatus::Rejected,
            Self::Process | Self::Send { .. } | Self::Accepted => WithdrawalStatus::Processing,
            Self::Broadcast { .. } => WithdrawalStatus::Broadcast,
            Self::Complete { .. } => WithdrawalStatus::Completed,
            Self::Fail | Self::Refused => WithdrawalStatus::Failed,
            Self::Review => WithdrawalStatus::NeedsReview,
        }
    }

    /// The user who judges the withdrawal by this move, if any: approving, rejecting and failing are
    /// judgements.
    #[must_use]
    pub const fn judge(&self, made_by: Option<UserId>) -> Option<UserId> {
        match self {
            Self::Approve { by, .. } => *by,
            Self::Reject { by } => Some(*by),
            Self::Fail => made_by,
            Self::Cancel
            | Self::Process
            | Self::Send { .. }
            | Self::Accepted
            | Self::Broadcast { .. }
            | Self::Complete { .. }
            | Self::Refused
            | Self::Review => None,
        }
    }

    /// Whether the move from this state is refused while the owner owes money: an approval, and the first order to
    /// send it. Everything after the first order goes on, because the money may be on its way.
    #[must_use]
    pub const fn is_refused_in_debt(&self, from: &WithdrawalState) -> bool {
        match self {
            Self::Approve { .. } => matches!(from, WithdrawalState::Pending),
            Self::Process | Self::Send { .. } => matches!(from, WithdrawalState::Approved),
            Self::Cancel
            | Self::Reject { .. }
            | Self::Accepted
            | Self::Broadcast { .. }
            | Self::Complete { .. }
            | Self::Fail
            | Self::Refused
            | Self::Review => false,
        }
    }
}

/// The edges of the state machine, for any actor.
const fn edges(from: &WithdrawalState) -> &'static [WithdrawalStatus] {
    use WithdrawalStatus::{
        Approved, Broadcast, Cancelled, Completed, Failed, NeedsReview, Processing, Rejected,
    };
    match from {
        WithdrawalState::Pending => &[Approved, Rejected, Cancelled],
        WithdrawalState::Approved => &[Processing, Rejected, Cancelled],
        WithdrawalState::Processing { attempts: 0 | 1, .. } => &[Broadcast, Failed, NeedsReview],
        WithdrawalState::Processing { .. } => &[Broadcast, NeedsReview],
        WithdrawalState::Broadcast { .. } => &[Completed, NeedsReview],
        WithdrawalState::NeedsReview { .. } => &[Broadcast, Completed, Failed],
        WithdrawalState::Completed { .. }
        | WithdrawalState::Cancelled
        | WithdrawalState::Rejected
        | WithdrawalState::Failed { .. }
        | WithdrawalState::Unknown { .. } => &[],
    }
}

/// Whether the move requires a review first: an operator cannot know the result of a call that may be in
/// progress.
const fn needs_review_first(from: &WithdrawalState, to: &Move) -> bool {
    matches!((from, to), (WithdrawalState::Processing { attempts: 1.., .. }, Move::Fail))
}

/// Decides on a move, which the authorization matrix permits its actor: a command decides about an authorized
/// withdrawal, and the worker and the provider need no permission.
///
/// # Errors
/// [`MoveRefusal`], unless the withdrawal is already in the target state.
pub fn decide(withdrawal: &Withdrawal, to: Move) -> Result<Decision, MoveRefusal> {
    let current = withdrawal.state.status();
    let to_status = to.to();
    let onward = edges(&withdrawal.state);
    let refused = || MoveRefusal::InvalidTransition { current, allowed: onward.to_vec() };
    let next = match (&withdrawal.state, to) {
        (WithdrawalState::Pending, Move::Approve { by: Some(by), second_above }) => {
            return Ok(Decision::Approval { by, second_above });
        }
        (WithdrawalState::Processing { attempts, retry_at: Some(at) }, Move::Send { now, again_at })
            if *at <= now =>
        {
            WithdrawalState::Processing { attempts: attempts.saturating_add(1), retry_at: Some(again_at) }
        }
        (WithdrawalState::Processing { attempts, retry_at: Some(_) }, Move::Accepted) => {
            WithdrawalState::Processing { attempts: *attempts, retry_at: None }
        }
        // Another transaction may be another payment. A withdrawal that is not due or is already answered is
        // not submitted; one that was never submitted is not accepted; one in review waits for an operator.
        (WithdrawalState::Processing { .. }, Move::Send { .. })
        | (WithdrawalState::Approved, Move::Accepted)
        | (WithdrawalState::NeedsReview { .. }, Move::Refused) => return Err(refused()),
        (state, Move::Broadcast { txid } | Move::Complete { txid: Some(txid) })
            if current == to_status && state.txid() != Some(&txid) =>
        {
            return Err(refused());
        }
        (WithdrawalState::Broadcast { txid: known }, Move::Complete { txid: Some(txid) })
            if *known != txid =>
        {
            return Err(refused());
        }
        _ if current == to_status => return Ok(Decision::Unchanged),
        (from, to) if needs_review_first(from, &to) => {
            let allowed = onward.iter().copied().filter(|status| *status != to_status).collect();
            return Err(MoveRefusal::InvalidTransition { current, allowed });
        }
        _ if !onward.contains(&to_status) => return Err(refused()),
        (state, to) => reached(state, to)?,
    };
    let transfer = settlement(withdrawal, next.status());
    Ok(Decision::Moved(WithdrawalMove { to: next, transfer }))
}

/// The state that a move along an edge leads to.
fn reached(from: &WithdrawalState, to: Move) -> Result<WithdrawalState, MoveRefusal> {
    let known = || from.txid().cloned();
    Ok(match to {
        Move::Cancel => WithdrawalState::Cancelled,
        Move::Approve { .. } => WithdrawalState::Approved,
        Move::Reject { .. } => WithdrawalState::Rejected,
        Move::Process | Move::Accepted => WithdrawalState::Processing { attempts: 0, retry_at: None },
        Move::Send { again_at, .. } => WithdrawalState::Processing { attempts: 1, retry_at: Some(again_at) },
        Move::Broadcast { txid } => WithdrawalState::Broadcast { txid },
        Move::Complete { txid } => {
            WithdrawalState::Completed { txid: txid.or_else(known).ok_or(MoveRefusal::TxidMissing)? }
        }
        Move::Fail | Move::Refused => WithdrawalState::Failed { txid: known() },
        Move::Review => WithdrawalState::NeedsReview { txid: known() },
    })
}

/// The transfers of each operation that moved its money on the way to its current state, in order.
pub(crate) fn history(withdrawal: &Withdrawal) -> Vec<Vec<Transfer>> {
    let ended = settlement(withdrawal, withdrawal.state.status());
    [Some(hold(withdrawal)), ended].into_iter().flatten().map(|transfer| vec![transfer]).collect()
}

/// The transfer that ends the hold, if the next status ends it.
fn settlement(withdrawal: &Withdrawal, next: WithdrawalStatus) -> Option<Transfer> {
    let (credit, kind) = match next {
        WithdrawalStatus::Completed => (Account::Outside(OutsideAccount::Payouts), TransferKind::Capture),
        WithdrawalStatus::Cancelled | WithdrawalStatus::Rejected | WithdrawalStatus::Failed => {
            (Account::Available(withdrawal.user), TransferKind::Release)
        }
        WithdrawalStatus::Pending
        | WithdrawalStatus::Approved
        | WithdrawalStatus::Processing
        | WithdrawalStatus::Broadcast
        | WithdrawalStatus::NeedsReview
        | WithdrawalStatus::Unknown(_) => return None,
    };
    Some(Transfer { debit: Account::Held(withdrawal.user), credit, amount: withdrawal.amount, kind })
}
