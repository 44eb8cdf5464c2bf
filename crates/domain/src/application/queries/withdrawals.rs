//! Withdrawals, as their owners and staff see them.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::{Authorized, Loadable as _};
use crate::authorization::{Principal, permission};
use crate::ids::{UserId, WithdrawalId};
use crate::money::Money;
use crate::page::{PageRequest, Rows};
use crate::withdrawal::{
    Withdrawal, WithdrawalFilter, WithdrawalReview, WithdrawalState, WithdrawalStatus, WithdrawalTerms,
    approvals_needed,
};

/// A withdrawal, as operators review it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReviewedWithdrawal {
    pub withdrawal: Withdrawal,
    /// The facts beside it.
    pub review: WithdrawalReview,
    /// The number of approvals that it needs before it can be sent, the given ones included; 0 unless it is pending.
    pub approvals_needed: usize,
}

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

    /// The principal's own withdrawal, and their debt.
    ///
    /// # Errors
    /// [`Failure::NotFound`] for all others.
    pub async fn own(&self, principal: &Principal, id: WithdrawalId) -> Result<(Withdrawal, Money), Failure> {
        let withdrawal = Withdrawal::load(&self.env, id).await?.reveal(principal)?;
        let owed = self.owed(withdrawal.user).await?;
        Ok((withdrawal, owed))
    }

    /// A page of the principal's own withdrawals, with one status or all, and their debt.
    pub async fn list(
        &self,
        principal: &Principal,
        status: Option<WithdrawalStatus>,
        page: PageRequest,
    ) -> Result<(Rows<Withdrawal>, Money), Failure> {
        let owner = Authorized::<_, permission::UseWithdrawal>::own(principal)?;
        let filter = WithdrawalFilter { user: Some(*owner), status };
        let rows = self.env.withdrawals.withdrawals(&filter, page).await?;
        Ok((rows, self.owed(*owner).await?))
    }

    /// A page of all users' withdrawals, with one status or all.
    pub async fn list_all(
        &self,
        principal: &Principal,
        status: Option<WithdrawalStatus>,
        page: PageRequest,
    ) -> Result<Rows<ReviewedWithdrawal>, Failure> {
        Authorized::<(), permission::ReadWithdrawals>::all(principal)?;
        let filter = WithdrawalFilter { user: None, status };
        let Rows { rows, total } = self.env.withdrawals.withdrawals(&filter, page).await?;
        Ok(Rows { rows: self.reviewed(rows).await?, total })
    }

    /// A withdrawal of any user.
    ///
    /// # Errors
    /// [`Failure::NotFound`] if there is none.
    pub async fn of_any_user(
        &self,
        principal: &Principal,
        id: WithdrawalId,
    ) -> Result<ReviewedWithdrawal, Failure> {
        Authorized::<(), permission::ReadWithdrawals>::all(principal)?;
        let withdrawal = Withdrawal::load(&self.env, id).await?;
        self.reviewed(vec![withdrawal]).await?.pop().ok_or(Failure::NotFound)
    }

    async fn reviewed(&self, withdrawals: Vec<Withdrawal>) -> Result<Vec<ReviewedWithdrawal>, Failure> {
        if withdrawals.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<WithdrawalId> = withdrawals.iter().map(|withdrawal| withdrawal.id).collect();
        let mut reviews = self.env.withdrawals.reviews(&ids).await?;
        let second_above = self.env.terms.withdrawals.second_approval_above;
        let reviewed = withdrawals.into_iter().map(|withdrawal| {
            let review = reviews.remove(&withdrawal.id).ok_or(Failure::Broken("a withdrawal is gone"))?;
            let approvals_needed = match withdrawal.state {
                WithdrawalState::Pending => approvals_needed(review.sum_24h, second_above),
                _ => 0,
            };
            Ok(ReviewedWithdrawal { withdrawal, review, approvals_needed })
        });
        reviewed.collect()
    }

    async fn owed(&self, owner: UserId) -> Result<Money, Failure> {
        Ok(self.env.wallets.balance(owner).await?.ok_or(Failure::UnknownPrincipal)?.owed)
    }
}
