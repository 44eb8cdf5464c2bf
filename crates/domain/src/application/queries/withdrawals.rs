//! Withdrawals, as their owners and staff see them.

use std::sync::Arc;

use crate::application::{Authorized, Environment, Failure, Loadable as _};
use crate::authorization::{Principal, permission};
use crate::ids::WithdrawalId;
use crate::page::{PageRequest, Rows};
use crate::withdrawal::{Withdrawal, WithdrawalFilter, WithdrawalStatus, WithdrawalTerms};

/// Reads withdrawals.
#[derive(Clone)]
pub struct WithdrawalQueries {
    pub(in crate::application) env: Arc<Environment>,
}

impl WithdrawalQueries {
    /// The withdrawal terms of this deployment.
    ///
    /// # Errors
    /// [`Failure::Denied`].
    pub fn terms(&self, principal: &Principal) -> Result<&WithdrawalTerms, Failure> {
        Authorized::<_, permission::UseWithdrawal>::own(principal)?;
        Ok(&self.env.terms.withdrawals)
    }

    /// The principal's own withdrawal.
    ///
    /// # Errors
    /// [`Failure::NotFound`] for all others.
    pub async fn own(&self, principal: &Principal, id: WithdrawalId) -> Result<Withdrawal, Failure> {
        let withdrawal = Withdrawal::load(&self.env, id).await?;
        let ownership = withdrawal.ownership(principal);
        let own = Authorized::<_, permission::UseWithdrawal>::reveal(withdrawal, ownership, principal)?;
        Ok(own.into_inner())
    }

    /// A page of the principal's own withdrawals.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn list(&self, principal: &Principal, page: PageRequest) -> Result<Rows<Withdrawal>, Failure> {
        let owner = Authorized::<_, permission::UseWithdrawal>::own(principal)?;
        Ok(self.env.withdrawals.withdrawals(&WithdrawalFilter::of(*owner), page).await?)
    }

    /// A page of all users' withdrawals, with one status or all.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn list_all(
        &self,
        principal: &Principal,
        status: Option<WithdrawalStatus>,
        page: PageRequest,
    ) -> Result<Rows<Withdrawal>, Failure> {
        Authorized::<(), permission::ReadWithdrawals>::all(principal)?;
        Ok(self.env.withdrawals.withdrawals(&WithdrawalFilter { user: None, status }, page).await?)
    }
}
