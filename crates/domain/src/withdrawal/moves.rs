//! Every move of a withdrawal's life, and the money that goes with it.
//!
//! The table is the second one of part 5 of the HTTP contract: the amount stays held until it is known that the
//! payment arrived (captured) or that it never will (released); doubt never gives money back.

use crate::ids::UserId;
use crate::ledger::{Account, OutsideAccount, Transfer, TransferKind};
use crate::money::Amount;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::withdrawal::open::hold;
use crate::withdrawal::{Withdrawal, WithdrawalState, WithdrawalStatus};

/// What is to become of a withdrawal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Move {
    /// Its owner takes it back.
    Cancel {
        /// Who says so.
        by: UserId,
    },
    /// An operator, who is not the owner, lets it go on; `None` is the rule for small amounts.
    Approve {
        /// Who says so.
        by: Option<UserId>,
        /// Above this a second operator has to say so as well.
        second_above: Option<Amount>,
    },
    /// An operator, who is not the owner, refuses it.
    Reject {
        /// Who says so.
        by: UserId,
    },
    /// An operator sends it by hand.
    Process,
    /// The worker gives it to the provider, for the first time or, when that is due, again.
    Send {
        /// The present moment.
        now: Timestamp,
        /// When it is given to the provider again, unless an answer is known by then.
        again_at: Timestamp,
    },
    /// The provider has it: it is not given to the provider again.
    Accepted,
    /// It was sent.
    Broadcast {
        /// The transaction on the network.
        txid: Line,
    },
    /// It arrived.
    Complete {
        /// The transaction on the network; the known one when left out.
        txid: Option<Line>,
    },
    /// An operator knows that it was not and will not be sent. If the provider may have it, a review comes first.
    Fail,
    /// The provider definitely refused it; no refusal of an order that was sent more than once is definite.
    Refused,
    /// Nobody knows whether it was sent.
    Review,
}

/// What a move comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The withdrawal stands there already: nothing changes.
    Unchanged,
    /// The withdrawal goes there, with its money.
    Moved(WithdrawalMove),
    /// An operator approves it; what that comes to is judged when the plan is applied, because it depends on who else
    /// did.
    Approval {
        /// Who approves it.
        by: UserId,
        /// Above this a second operator has to approve it as well.
        second_above: Option<Amount>,
    },
}

/// A withdrawal's next state and the transfer that goes with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WithdrawalMove {
    /// The next state.
    pub to: WithdrawalState,
    /// The money that moves, if any does.
    pub transfer: Option<Transfer>,
}

/// Why a move is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MoveRefusal {
    /// It is not this person's to make: only the owner cancels, and nobody judges their own withdrawal.
    NotTheirs,
    /// A completed payment names its transaction, and none is known.
    TxidMissing,
    /// The withdrawal does not stand where the move starts.
    InvalidTransition {
        /// Where it stands.
        current: WithdrawalStatus,
        /// Where it could go instead, by whoever may move it there.
        allowed: Vec<WithdrawalStatus>,
    },
}

impl Move {
    /// Where it leads.
    #[must_use]
    pub const fn to(&self) -> WithdrawalStatus {
        match self {
            Self::Cancel { .. } => WithdrawalStatus::Cancelled,
            Self::Approve { .. } => WithdrawalStatus::Approved,
            Self::Reject { .. } => WithdrawalStatus::Rejected,
            Self::Process | Self::Send { .. } | Self::Accepted => WithdrawalStatus::Processing,
            Self::Broadcast { .. } => WithdrawalStatus::Broadcast,
            Self::Complete { .. } => WithdrawalStatus::Completed,
            Self::Fail | Self::Refused => WithdrawalStatus::Failed,
            Self::Review => WithdrawalStatus::NeedsReview,
        }
    }

    /// Who judges the withdrawal by it, where it is made by this person: approving, rejecting and failing are judgements.
    #[must_use]
    pub const fn judge(&self, made_by: Option<UserId>) -> Option<UserId> {
        match self {
            Self::Approve { by, .. } => *by,
            Self::Reject { by } => Some(*by),
            Self::Fail => made_by,
            Self::Cancel { .. }
            | Self::Process
            | Self::Send { .. }
            | Self::Accepted
            | Self::Broadcast { .. }
            | Self::Complete { .. }
            | Self::Refused
            | Self::Review => None,
        }
    }

    fn is_theirs(&self, withdrawal: &Withdrawal) -> bool {
        match self {
            Self::Cancel { by } => *by == withdrawal.user,
            Self::Approve { by: Some(by), .. } | Self::Reject { by } => withdrawal.is_judged_by(*by),
            Self::Approve { by: None, .. }
            | Self::Process
            | Self::Send { .. }
            | Self::Accepted
            | Self::Broadcast { .. }
            | Self::Complete { .. }
            | Self::Fail
            | Self::Refused
            | Self::Review => true,
        }
    }
}

/// The edges of the machine, whoever takes them.
const fn edges(from: &WithdrawalState) -> &'static [WithdrawalStatus] {
    use WithdrawalStatus::{
        Approved, Broadcast, Cancelled, Completed, Failed, NeedsReview, Processing, Rejected,
    };
    match from {
        WithdrawalState::Pending => &[Approved, Rejected, Cancelled],
        WithdrawalState::Approved => &[Processing, Rejected],
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

/// Whether the move waits for a review: an operator cannot know what becomes of a call that may be under way.
const fn needs_review_first(from: &WithdrawalState, to: &Move) -> bool {
    matches!((from, to), (WithdrawalState::Processing { attempts: 1.., .. }, Move::Fail))
}

/// What a move comes to. That the mover is an operator, the provider or the worker was checked before.
///
/// # Errors
/// [`MoveRefusal`], the first that applies in its order, a move to where it stands already aside.
pub fn decide(withdrawal: &Withdrawal, to: Move) -> Result<Decision, MoveRefusal> {
    let current = withdrawal.state.status();
    if !to.is_theirs(withdrawal) {
        return Err(MoveRefusal::NotTheirs);
    }
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
        // Another transaction may be another payment. A withdrawal that is not due or has its answer is not sent; one that was never sent is not accepted; one in
        // review waits for an operator.
        (WithdrawalState::Processing { .. }, Move::Send { .. })
        | (WithdrawalState::Approved, Move::Accepted)
        | (WithdrawalState::NeedsReview { .. }, Move::Refused) => return Err(refused()),
        (state, Move::Broadcast { txid } | Move::Complete { txid: Some(txid) })
            if current == to_status && state.txid() != Some(&txid) =>
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
        Move::Cancel { .. } => WithdrawalState::Cancelled,
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

/// The transfers of each operation that moved its money on the way to where it stands, in their order.
pub(crate) fn history(withdrawal: &Withdrawal) -> Vec<Vec<Transfer>> {
    let ended = settlement(withdrawal, withdrawal.state.status());
    [Some(hold(withdrawal)), ended].into_iter().flatten().map(|transfer| vec![transfer]).collect()
}

/// The transfer that ends the hold, where the next status ends it.
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
