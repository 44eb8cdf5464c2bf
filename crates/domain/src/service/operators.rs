//! What operators do with other people's money: each act has a reason, which is kept with it.

use std::sync::Arc;

use crate::access::{Action, Caller, Whose};
use crate::adjustment::{Adjustment, AdjustmentRefusal, AdjustmentTerms, Correction};
use crate::ids::{RequestId, UserId, WithdrawalId};
use crate::ledger::Rejection;
use crate::money::Amount;
use crate::music_request::{Move as RequestMove, MusicRequest, RequestTerms};
use crate::page::{PageRequest, Rows};
use crate::plans;
use crate::ports::{Applied, ApplyError, MusicRequests, Wallets, Withdrawals};
use crate::service::desk::{Command, Desk, Obstacle};
use crate::service::expiry::Expiry;
use crate::service::profiles::FindError;
use crate::service::requests::{MoveRequestError, whose};
use crate::text::Line;
use crate::withdrawal::{Move, MoveRefusal, Withdrawal, WithdrawalFilter, WithdrawalStatus};

/// What an operator does with a withdrawal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OperatorMove {
    /// Lets it go on.
    Approve,
    /// Refuses it.
    Reject,
    /// Begins to send it.
    Process,
    /// Has sent it.
    Broadcast {
        /// The transaction on the network.
        txid: Line,
    },
    /// Has seen it arrive.
    Complete {
        /// The transaction on the network; the known one when left out.
        txid: Option<Line>,
    },
    /// Knows that it was never sent, and never will be.
    Fail,
    /// Does not know whether it was sent.
    Review,
}

/// Why an operator does not move a withdrawal.
#[derive(Debug)]
pub enum OperatorMoveError {
    /// A completed payment names its transaction, and none is known.
    TxidMissing,
    /// It does not stand where the move starts.
    InvalidTransition {
        /// Where it stands.
        current: WithdrawalStatus,
        /// Where it could go instead, by whoever may move it there.
        allowed: Vec<WithdrawalStatus>,
    },
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

/// Why an operator may not judge a withdrawal.
#[derive(Debug)]
pub enum JudgeError {
    /// They adjusted its owner's wallet within [`Adjustment::BARS_JUDGING_FOR`].
    RecentAdjustment,
    /// See [`FindError`]; denied is one's own.
    Find(FindError),
}

/// Why a balance is not corrected.
#[derive(Debug)]
pub enum AdjustError {
    /// There is no such person.
    NoSuchUser,
    /// It is more than this, which one adjustment may be.
    AboveLimit(Amount),
    /// The person has not that much available.
    InsufficientFunds,
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

impl OperatorMove {
    /// What the caller has to be allowed to do for it.
    #[must_use]
    pub const fn action(&self) -> Action {
        match self {
            Self::Approve | Self::Reject | Self::Fail => Action::JudgeWithdrawal,
            Self::Process | Self::Broadcast { .. } | Self::Complete { .. } | Self::Review => {
                Action::SendWithdrawal
            }
        }
    }

    fn by(self, operator: UserId, second_above: Option<Amount>) -> Move {
        match self {
            Self::Approve => Move::Approve { by: Some(operator), second_above },
            Self::Reject => Move::Reject { by: operator },
            Self::Process => Move::Process,
            Self::Broadcast { txid } => Move::Broadcast { txid },
            Self::Complete { txid } => Move::Complete { txid },
            Self::Fail => Move::Fail,
            Self::Review => Move::Review,
        }
    }
}

impl From<Obstacle> for OperatorMoveError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<MoveRefusal> for OperatorMoveError {
    fn from(refusal: MoveRefusal) -> Self {
        match refusal {
            MoveRefusal::NotTheirs => Self::Obstacle(Obstacle::Denied),
            MoveRefusal::TxidMissing => Self::TxidMissing,
            MoveRefusal::InvalidTransition { current, allowed } => {
                Self::InvalidTransition { current, allowed }
            }
        }
    }
}

impl<E: Into<FindError>> From<E> for JudgeError {
    fn from(error: E) -> Self {
        Self::Find(error.into())
    }
}

impl From<AdjustmentRefusal> for AdjustError {
    fn from(refusal: AdjustmentRefusal) -> Self {
        match refusal {
            AdjustmentRefusal::AboveLimit(most) => Self::AboveLimit(most),
        }
    }
}

impl From<Obstacle> for AdjustError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<ApplyError> for AdjustError {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Rejected(Rejection::InsufficientFunds { .. }) => Self::InsufficientFunds,
            other => Self::Obstacle(other.into()),
        }
    }
}

/// The use cases of operators.
#[derive(Clone)]
pub struct Operators {
    pub(super) desk: Desk,
    pub(super) withdrawals: Arc<dyn Withdrawals>,
    pub(super) requests: Arc<dyn MusicRequests>,
    pub(super) wallets: Arc<dyn Wallets>,
    pub(super) expiry: Expiry,
    pub(super) terms: RequestTerms,
    pub(super) adjustments: AdjustmentTerms,
    pub(super) second_approval_above: Option<Amount>,
}

impl Operators {
    /// A page of everybody's withdrawals, of one status or all.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn withdrawals(
        &self,
        caller: &Caller,
        status: Option<WithdrawalStatus>,
        page: PageRequest,
    ) -> Result<Rows<Withdrawal>, FindError> {
        caller.may(Action::ReadWithdrawals, Whose::Others)?;
        Ok(self.withdrawals.withdrawals(&WithdrawalFilter { user: None, status }, page).await?)
    }

    /// A withdrawal that the caller may approve, reject or fail. An adjustment that comes later is still found when the
    /// plan is applied.
    ///
    /// # Errors
    /// [`JudgeError`].
    pub async fn judged(&self, caller: &Caller, id: WithdrawalId) -> Result<Withdrawal, JudgeError> {
        let withdrawal = self.found(caller, Action::JudgeWithdrawal, id).await?;
        let since = self.desk.now().minus(Adjustment::BARS_JUDGING_FOR);
        if self.wallets.has_adjusted(caller.user, withdrawal.user, since).await? {
            return Err(JudgeError::RecentAdjustment);
        }
        Ok(withdrawal)
    }

    /// A withdrawal that the caller may send, or say how that went.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn sent(&self, caller: &Caller, id: WithdrawalId) -> Result<Withdrawal, FindError> {
        self.found(caller, Action::SendWithdrawal, id).await
    }

    async fn found(
        &self,
        caller: &Caller,
        action: Action,
        id: WithdrawalId,
    ) -> Result<Withdrawal, FindError> {
        let withdrawal = self.withdrawals.withdrawal(id).await?.ok_or(FindError::NotFound)?;
        caller.may(action, Whose::of(withdrawal.user, caller))?;
        Ok(withdrawal)
    }

    /// Moves a withdrawal that [`Operators::judged`] or [`Operators::sent`] found. An approval leaves it pending where a
    /// second operator has to approve it as well.
    ///
    /// # Errors
    /// [`OperatorMoveError`].
    pub async fn move_withdrawal(
        &self,
        command: &Command,
        reason: Line,
        withdrawal: Withdrawal,
        to: OperatorMove,
    ) -> Result<Applied, OperatorMoveError> {
        command.may(to.action(), Whose::of(withdrawal.user, &command.caller))?;
        let id = withdrawal.id;
        let load = || self.withdrawals.withdrawal(id);
        let to = to.by(command.caller.user, self.second_approval_above);
        let decide = |origin, withdrawal: &_| Ok(plans::move_withdrawal(origin, withdrawal, to.clone())?);
        self.desk.change(self.desk.operator_origin(command, Some(reason)), withdrawal, load, decide).await
    }

    /// A music request whose fee the caller may give back, as it is stored.
    ///
    /// # Errors
    /// [`FindError`]; denied is either party.
    pub async fn request(&self, caller: &Caller, id: RequestId) -> Result<MusicRequest, FindError> {
        let request = self.requests.request(id).await?.ok_or(FindError::NotFound)?;
        caller.may(Action::RefundRequest, whose(&request, caller))?;
        Ok(request)
    }

    /// Gives the fee of a played request back that [`Operators::request`] found.
    ///
    /// # Errors
    /// [`MoveRequestError`].
    pub async fn refund(
        &self,
        command: &Command,
        reason: Line,
        request: MusicRequest,
    ) -> Result<Applied, MoveRequestError> {
        command.may(Action::RefundRequest, whose(&request, &command.caller))?;
        let id = request.id;
        let load = || self.requests.request(id);
        let decide =
            |origin, request: &_| Ok(plans::move_request(origin, request, RequestMove::Refund, &self.terms)?);
        self.desk.change(self.desk.operator_origin(command, Some(reason)), request, load, decide).await
    }

    /// Corrects what a person has available. Short of funds, the person's own overdue fees are given back first.
    ///
    /// # Errors
    /// [`AdjustError`].
    pub async fn adjust(
        &self,
        command: &Command,
        reason: Line,
        user: UserId,
        correction: Correction,
    ) -> Result<Applied, AdjustError> {
        command.may(Action::AdjustBalance, Whose::of(user, &command.caller))?;
        if self.wallets.balance(user).await.map_err(Obstacle::from)?.is_none() {
            return self.desk.refuse(command.key, AdjustError::NoSuchUser).await;
        }
        let id = self.desk.ids.next_adjustment().await.map_err(Obstacle::from)?;
        let adjustment = Adjustment { id, user, correction, reason };
        match plans::adjust(self.desk.operator_origin(command, None), adjustment, &self.adjustments) {
            Ok(plan) => Ok(self.expiry.apply_with_own_funds(user, plan).await?),
            Err(refusal) => self.desk.refuse(command.key, refusal.into()).await,
        }
    }
}
