//! Withdrawals by those whose money it is.

use std::sync::Arc;

use crate::access::{Action, Caller, Denied, Whose};
use crate::address::DestinationRefusal;
use crate::ids::WithdrawalId;
use crate::ledger::Rejection;
use crate::page::{PageRequest, Rows};
use crate::plans;
use crate::ports::{Applied, ApplyError, Withdrawals as WithdrawalReads};
use crate::service::desk::{Command, Desk, Obstacle};
use crate::service::expiry::Expiry;
use crate::service::profiles::FindError;
use crate::withdrawal::{
    Limit, Move, MoveRefusal, NewWithdrawal, OpenRefusal, Withdrawal, WithdrawalFilter, WithdrawalStatus,
    WithdrawalTerms,
};

/// Why a withdrawal is not made.
#[derive(Debug)]
pub enum OpenWithdrawalError {
    /// Nothing can be sent there.
    Destination(DestinationRefusal),
    /// It would pass a limit.
    LimitExceeded(Limit),
    /// The caller has not that much.
    InsufficientFunds,
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

/// Why a withdrawal is not cancelled.
#[derive(Debug)]
pub enum CancelWithdrawalError {
    /// It does not wait for an operator any more.
    InvalidTransition {
        /// Where it stands.
        current: WithdrawalStatus,
        /// Where it could go instead, by whoever may move it there.
        allowed: Vec<WithdrawalStatus>,
    },
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

impl From<Obstacle> for OpenWithdrawalError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<OpenRefusal> for OpenWithdrawalError {
    fn from(refusal: OpenRefusal) -> Self {
        match refusal {
            OpenRefusal::Destination(refusal) => Self::Destination(refusal),
            OpenRefusal::Limit(limit) => Self::LimitExceeded(limit),
        }
    }
}

impl From<ApplyError> for OpenWithdrawalError {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Rejected(Rejection::InsufficientFunds { .. }) => Self::InsufficientFunds,
            ApplyError::Rejected(Rejection::LimitExceeded(limit)) => Self::LimitExceeded(limit),
            other => Self::Obstacle(other.into()),
        }
    }
}

impl From<Obstacle> for CancelWithdrawalError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<MoveRefusal> for CancelWithdrawalError {
    fn from(refusal: MoveRefusal) -> Self {
        match refusal {
            MoveRefusal::InvalidTransition { current, allowed } => {
                Self::InvalidTransition { current, allowed }
            }
            MoveRefusal::NotTheirs => Self::Obstacle(Obstacle::Denied),
            MoveRefusal::TxidMissing => {
                Self::Obstacle(Obstacle::Broken("a cancellation needs no transaction"))
            }
        }
    }
}

/// The use cases of withdrawals.
#[derive(Clone)]
pub struct Withdrawals {
    pub(super) desk: Desk,
    pub(super) withdrawals: Arc<dyn WithdrawalReads>,
    pub(super) expiry: Expiry,
    pub(super) terms: WithdrawalTerms,
}

impl Withdrawals {
    /// The terms in force.
    ///
    /// # Errors
    /// [`Denied`].
    pub fn terms(&self, caller: &Caller) -> Result<&WithdrawalTerms, Denied> {
        caller.may(Action::UseWithdrawal, Whose::Own)?;
        Ok(&self.terms)
    }

    /// Makes a withdrawal, its amount held. Short of funds, the caller's own overdue fees are given back first.
    ///
    /// # Errors
    /// [`OpenWithdrawalError`].
    pub async fn open(&self, command: &Command, new: NewWithdrawal) -> Result<Applied, OpenWithdrawalError> {
        command.may(Action::UseWithdrawal, Whose::Own)?;
        let id = self.desk.ids.next_withdrawal().await.map_err(Obstacle::from)?;
        let origin = self.desk.origin(command, self.desk.ids.operation());
        match plans::open_withdrawal(origin, id, command.caller.user, new, &self.terms) {
            Ok(plan) => self
                .expiry
                .apply_with_own_funds(command.caller.user, plan)
                .await
                .map_err(OpenWithdrawalError::from),
            Err(refusal) => self.desk.refuse(command.key, refusal.into()).await,
        }
    }

    /// The caller's own withdrawal.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn own(&self, caller: &Caller, id: WithdrawalId) -> Result<Withdrawal, FindError> {
        let withdrawal = self.withdrawals.withdrawal(id).await?.ok_or(FindError::NotFound)?;
        let whose = Whose::of(withdrawal.user, caller);
        caller.may(Action::UseWithdrawal, whose).map_err(|Denied| FindError::NotFound)?;
        Ok(withdrawal)
    }

    /// A page of the caller's own withdrawals.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn list(&self, caller: &Caller, page: PageRequest) -> Result<Rows<Withdrawal>, FindError> {
        caller.may(Action::UseWithdrawal, Whose::Own)?;
        Ok(self.withdrawals.withdrawals(&WithdrawalFilter::of(caller.user), page).await?)
    }

    /// Takes back a withdrawal that [`Withdrawals::own`] found.
    ///
    /// # Errors
    /// [`CancelWithdrawalError`].
    pub async fn cancel(
        &self,
        command: &Command,
        withdrawal: Withdrawal,
    ) -> Result<Applied, CancelWithdrawalError> {
        command.may(Action::UseWithdrawal, Whose::of(withdrawal.user, &command.caller))?;
        let origin = self.desk.origin(command, self.desk.ids.operation());
        let id = withdrawal.id;
        let load = || self.withdrawals.withdrawal(id);
        let to = Move::Cancel { by: command.caller.user };
        let decide = |origin, withdrawal: &_| Ok(plans::move_withdrawal(origin, withdrawal, to.clone())?);
        self.desk.change(origin, withdrawal, load, decide).await
    }
}
