//! Judgements of withdrawals: whether a new one needs an operator, and whether an approval is enough.

use crate::entity_ref::EntityKind;
use crate::operation::expectations::{expect, expect_new, present};
use crate::operation::feature_level::FeatureLevel;
use crate::operation::{Book, Changes, Entity, Plan, Rejection, WithdrawalJudgement};
use crate::withdrawal::{
    Approval, Withdrawal, WithdrawalState, approvals_needed, approve, needs_no_operator, sum_24h,
};

/// The withdrawal after the judgement. `changes` records the withdrawal if it differs.
pub(super) fn judge(
    book: &Book,
    plan: &Plan,
    judgement: &WithdrawalJudgement,
    changes: &mut Changes,
) -> Result<Withdrawal, Rejection> {
    match judgement {
        WithdrawalJudgement::Open { withdrawal: new, auto_approve_below } => {
            expect_new(book, &Entity::Withdrawal(new.clone()))?;
            let sum = sum_24h(new, book.withdrawals_of(new.user));
            let is_approved = needs_no_operator(new, sum, present(book, new.user)?, *auto_approve_below);
            let state = if is_approved { WithdrawalState::Approved } else { WithdrawalState::Pending };
            let opened = Withdrawal { state, ..new.clone() };
            changes.opened = Some(opened.clone().into());
            Ok(opened)
        }
        WithdrawalJudgement::Approve { before, by, second_above } => {
            expect(book, &Entity::Withdrawal(before.clone()))?;
            let counting = counting(book, plan, before)?;
            // Clocks of servers differ: no approval is dated before the previous one.
            let at = before.approvals.last().map_or(plan.metadata.at, |last| last.at.max(plan.metadata.at));
            let approval = Approval { by: *by, at };
            let sum = sum_24h(before, book.withdrawals_of(before.user));
            let needed = approvals_needed(sum, *second_above);
            if needed > 1 && book.feature_level < FeatureLevel::SECOND_APPROVALS {
                return Err(Rejection::NotFinalized);
            }
            let Some((state, approvals)) = approve(before, counting, approval, needed) else {
                return Ok(before.clone());
            };
            let is_moved = state != before.state;
            let updated_at =
                if is_moved { plan.metadata.at.max(before.updated_at) } else { before.updated_at };
            let approved = Withdrawal { state, approvals, updated_at, ..before.clone() };
            changes.moved = Some(approved.clone().into());
            Ok(approved)
        }
    }
}

/// The earlier approvals by operators who could still approve.
fn counting(book: &Book, plan: &Plan, withdrawal: &Withdrawal) -> Result<Vec<Approval>, Rejection> {
    let mut counting = Vec::new();
    for earlier in &withdrawal.approvals {
        let author = book.get(earlier.by).ok_or(Rejection::Missing(EntityKind::User))?;
        if earlier.is_of_active_operator(author)
            && !book.has_adjusted(earlier.by, withdrawal.user, plan.adjustments_since())
        {
            counting.push(*earlier);
        }
    }
    Ok(counting)
}
