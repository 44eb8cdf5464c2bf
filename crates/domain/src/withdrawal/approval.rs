//! Operators' approvals: whether a withdrawal needs any, how many, and which of them count.

use time::Duration;

use crate::ids::UserId;
use crate::money::{Amount, Money};
use crate::timestamp::Timestamp;
use crate::user::User;
use crate::withdrawal::{Withdrawal, WithdrawalState};

/// The distance in time within which withdrawals of one owner are added up, so that several small ones need the same
/// approvals as a large one.
pub const SUM_WITHIN: Duration = Duration::hours(24);

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

/// The sum of this withdrawal and its owner's others that were created less than [`SUM_WITHIN`] before or after it
/// and may be paid. `all` are withdrawals of the owner, with or without this one.
#[must_use]
pub fn sum_24h<'a>(withdrawal: &Withdrawal, all: impl IntoIterator<Item = &'a Withdrawal>) -> Money {
    let created_at = withdrawal.created_at;
    let (after, before) = (created_at.minus(SUM_WITHIN), created_at.plus(SUM_WITHIN));
    let near = all.into_iter().filter(|other| {
        other.id != withdrawal.id
            && other.user == withdrawal.user
            && after < other.created_at
            && other.created_at < before
            && other.state.status().counts_towards_limits()
    });
    near.fold(withdrawal.amount.money(), |sum, other| {
        sum.checked_add(other.amount.money()).unwrap_or(Money::from_minor(i128::MAX))
    })
}

/// The time after a change of the owner's e-mail address, or a reset of the password, in which every withdrawal needs
/// an operator: a thief may have taken over the login.
pub const WATCHED_AFTER_LOGIN_CHANGE: Duration = Duration::hours(48);

/// Whether a new withdrawal of this owner with this [`sum_24h`] is approved without an operator.
#[must_use]
pub(crate) fn needs_no_operator(withdrawal: &Withdrawal, sum: Money, owner: &User, below: Amount) -> bool {
    let is_watched = owner
        .login_changed_at
        .is_some_and(|changed| withdrawal.created_at < changed.plus(WATCHED_AFTER_LOGIN_CHANGE));
    sum < below.money() && !is_watched
}

/// The number of approvals that a withdrawal with this [`sum_24h`] needs, given the limit above which it needs two.
#[must_use]
pub fn approvals_needed(sum: Money, second_above: Option<Amount>) -> usize {
    if second_above.is_some_and(|limit| sum > limit.money()) { 2 } else { 1 }
}

/// The state of a pending withdrawal after another approval, with its remaining approvals; `counting` are the
/// earlier ones that still count, and `needed` is their required number. `None` if nothing changes.
pub(crate) fn approve(
    withdrawal: &Withdrawal,
    counting: Vec<Approval>,
    approval: Approval,
    needed: usize,
) -> Option<(WithdrawalState, Vec<Approval>)> {
    let mut approvals = counting;
    if !approvals.iter().any(|earlier| earlier.by == approval.by) {
        approvals.push(approval);
    }
    let is_enough = approvals.len() >= needed;
    let state = if is_enough { WithdrawalState::Approved } else { WithdrawalState::Pending };
    let is_changed = state != withdrawal.state || approvals != withdrawal.approvals;
    is_changed.then_some((state, approvals))
}
