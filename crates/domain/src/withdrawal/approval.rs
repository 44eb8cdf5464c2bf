//! Operators' approvals: the number that a withdrawal needs, and which of them count.

use crate::account::User;
use crate::ids::UserId;
use crate::money::Amount;
use crate::timestamp::Timestamp;
use crate::withdrawal::{Withdrawal, WithdrawalState};

/// An operator's approval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Approval {
    /// The operator, who is not the owner of the withdrawal.
    pub by: UserId,
    /// The time of the approval.
    pub at: Timestamp,
}

impl Approval {
    /// Whether its author has been an active operator ever since: the approval of an operator who was
    /// suspended or demoted no longer counts, even after a restoration.
    #[must_use]
    pub fn is_of_active_operator(&self, author: &User) -> bool {
        author.is_active_operator() && author.status_changed_at.is_none_or(|changed| changed <= self.at)
    }
}

/// The number of approvals that a withdrawal of this amount needs, given the limit above which it needs two.
#[must_use]
pub fn approvals_needed(amount: Amount, second_above: Option<Amount>) -> usize {
    if second_above.is_some_and(|limit| amount > limit) { 2 } else { 1 }
}

/// The state of a pending withdrawal after another approval, with its remaining approvals; `counting` are the
/// earlier ones that still count. `None` if nothing changes.
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
