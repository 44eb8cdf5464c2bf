//! Approvals of operators: how many a withdrawal needs, and which of them count.

use crate::account::User;
use crate::ids::UserId;
use crate::money::Amount;
use crate::timestamp::Timestamp;
use crate::withdrawal::{Withdrawal, WithdrawalState};

/// The approval of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Approval {
    /// The operator, who is not the owner of the withdrawal.
    pub by: UserId,
    /// When they gave it.
    pub at: Timestamp,
}

impl Approval {
    /// Whether its author was an active operator from then on without interruption: the approval of somebody who was
    /// suspended or demoted counts for nothing, also after they were restored.
    #[must_use]
    pub fn is_of_active_operator(&self, author: &User) -> bool {
        author.is_active_operator() && author.standing_at.is_none_or(|changed| changed <= self.at)
    }
}

/// How many operators have to approve a withdrawal of this amount, if two have to above a limit.
#[must_use]
pub fn approvals_needed(amount: Amount, second_above: Option<Amount>) -> usize {
    if second_above.is_some_and(|limit| amount > limit) { 2 } else { 1 }
}

/// Where a pending withdrawal stands after one more approval, with the approvals that it keeps; `counting` are the
/// earlier ones that still count. `None` where nothing changes.
pub(crate) fn approve(
    withdrawal: &Withdrawal,
    counting: Vec<Approval>,
    approval: Approval,
    second_above: Option<Amount>,
) -> Option<(WithdrawalState, Vec<Approval>)> {
    let mut approvals = counting;
    if !approvals.iter().any(|earlier| earlier.by == approval.by) {
        approvals.push(approval);
    }
    let is_enough = approvals.len() >= approvals_needed(withdrawal.amount, second_above);
    let state = if is_enough { WithdrawalState::Approved } else { WithdrawalState::Pending };
    let is_changed = state != withdrawal.state || approvals != withdrawal.approvals;
    is_changed.then_some((state, approvals))
}
