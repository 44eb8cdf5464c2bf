//! Operators' approvals of a withdrawal: who may approve, how many are needed, and what the audit reports.

use crate::support::{DJ, GUEST, Ledger, OPERATOR, adjustment, amount, at, money, user};
use cuepoint_domain::audit::{Finding, Flaw};
use cuepoint_domain::ids::{OperationId, UserId, WithdrawalId};
use cuepoint_domain::ledger::adjustment::{Adjustment, AdjustmentRefusal, AdjustmentTerms};
use cuepoint_domain::operation::{Entity, OperationMetadata, Receipt, Rejection, plans};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{Role, UserStatusChange};
use cuepoint_domain::withdrawal::{Move, Withdrawal, WithdrawalState, WithdrawalStatus, approvals_needed};

/// The second operator, who is also a DJ.
const OTHER: i64 = DJ;

/// A ledger with a withdrawal of 2.00 and two operators.
fn ledger() -> Ledger {
    let mut ledger = Ledger::new(0, 1_000);
    for operator in [OPERATOR, OTHER] {
        change_status(&mut ledger, operator, UserStatusChange::Role(Role::Operator), at(0));
    }
    ledger.withdraw(1, GUEST, 200).unwrap();
    ledger
}

fn change_status(ledger: &mut Ledger, who: i64, change: UserStatusChange, now: Timestamp) {
    let metadata = ledger.metadata(now);
    ledger.apply(&plans::change_user_status(metadata, user(who), change)).unwrap();
}

fn stored(ledger: &Ledger) -> Withdrawal {
    ledger.book.get(WithdrawalId::new(1).unwrap()).unwrap().clone()
}

/// A move by an operator.
fn judge(ledger: &mut Ledger, by: i64, to: Move, now: Timestamp) -> Result<Receipt, Rejection> {
    let metadata = OperationMetadata::by(user(by), ledger.metadata(now).operation, now);
    let plan = plans::move_withdrawal(metadata, &stored(ledger), to).unwrap();
    ledger.apply(&plan)
}

/// An approval with a limit of this many cents, and its result.
fn approve(
    ledger: &mut Ledger,
    by: i64,
    limit: Option<i128>,
    seconds: i64,
) -> (WithdrawalStatus, Vec<UserId>) {
    let to = Move::Approve { by: Some(user(by)), second_above: limit.map(amount) };
    judge(ledger, by, to, at(seconds)).unwrap();
    let stored = stored(ledger);
    (stored.state.status(), stored.approvals.iter().map(|approval| approval.by).collect())
}

fn adjust(ledger: &mut Ledger, by: i64, now: Timestamp) {
    let metadata = OperationMetadata::by(user(by), ledger.metadata(now).operation, now);
    let plan = plans::adjust(metadata, adjustment(9, GUEST, -1), &AdjustmentTerms::default()).unwrap();
    ledger.apply(&plan).unwrap();
}

#[test]
fn only_withdrawals_above_the_limit_need_two_approvals() {
    for (cents, limit, needed) in
        [(200, None, 1), (200, Some(201), 1), (200, Some(200), 1), (200, Some(199), 2)]
    {
        assert_eq!(approvals_needed(money(cents), limit.map(amount)), needed, "{cents} of {limit:?}");
    }
}

#[test]
fn the_current_limit_determines_how_many_approvals_are_needed() {
    use WithdrawalStatus::{Approved, Pending};
    let (ada, bob) = (user(OPERATOR), user(OTHER));
    type Case<'a> = (&'a [(i64, Option<i128>)], WithdrawalStatus, Vec<UserId>);
    let table: [Case<'_>; 7] = [
        (&[(OPERATOR, None)], Approved, vec![ada]),
        (&[(OPERATOR, Some(200))], Approved, vec![ada]),
        (&[(OPERATOR, Some(199))], Pending, vec![ada]),
        (&[(OPERATOR, Some(199)), (OPERATOR, Some(199))], Pending, vec![ada]),
        (&[(OPERATOR, Some(199)), (OTHER, Some(199))], Approved, vec![ada, bob]),
        (&[(OPERATOR, Some(199)), (OPERATOR, Some(500))], Approved, vec![ada]),
        (&[(OPERATOR, Some(199)), (OTHER, None)], Approved, vec![ada, bob]),
    ];
    for (approvals, status, by) in table {
        let mut ledger = ledger();
        let mut last = (Pending, Vec::new());
        for (seconds, (operator, limit)) in (5..).zip(approvals) {
            last = approve(&mut ledger, *operator, *limit, seconds);
        }
        assert_eq!(last, (status, by), "{approvals:?}");
        ledger.audit().unwrap();
    }
}

#[test]
fn a_repeated_approval_by_one_operator_changes_nothing() {
    let mut ledger = ledger();
    approve(&mut ledger, OPERATOR, Some(1), 5);
    let (before, operations) = (stored(&ledger), ledger.book.operations.len());
    approve(&mut ledger, OPERATOR, Some(1), 6);
    assert_eq!((stored(&ledger), ledger.book.operations.len()), (before, operations));
}

#[test]
fn an_approval_lapses_with_the_suspension_of_its_operator() {
    let mut ledger = ledger();
    approve(&mut ledger, OPERATOR, Some(1), 5);
    change_status(&mut ledger, OPERATOR, UserStatusChange::Suspend, at(6));
    change_status(&mut ledger, OPERATOR, UserStatusChange::Restore, at(7));
    // The approval from before the suspension no longer counts, so this one replaces it.
    approve(&mut ledger, OPERATOR, Some(1), 8);
    assert_eq!(stored(&ledger).approvals[0].at, at(8));
    assert_eq!(approve(&mut ledger, OTHER, Some(1), 9).0, WithdrawalStatus::Approved);
    ledger.audit().unwrap();
}

#[test]
fn an_operator_who_adjusts_a_wallet_cannot_decide_on_its_withdrawals_for_30_days() {
    let mut ledger = ledger();
    adjust(&mut ledger, OPERATOR, at(4));
    let over = at(4).plus(Adjustment::JUDGING_BAR);
    let by = user(OPERATOR);
    let refused = Err(Rejection::RecentAdjustment);
    let soon = over.minus(time::Duration::MICROSECOND);
    for to in [Move::Approve { by: Some(by), second_above: None }, Move::Reject { by }] {
        assert_eq!(judge(&mut ledger, OPERATOR, to, soon), refused);
    }
    approve(&mut ledger, OTHER, None, 5);
    for to in [Move::Process, Move::Review] {
        judge(&mut ledger, OPERATOR, to, at(6)).unwrap();
    }
    assert_eq!(judge(&mut ledger, OPERATOR, Move::Fail, soon), refused);
    // The provider's update is not a judgement.
    ledger.move_withdrawal(1, Move::Fail).unwrap();
    ledger.withdraw(2, GUEST, 100).unwrap();
    let rejected = plans::move_withdrawal(
        OperationMetadata::by(by, OperationId(99), over),
        ledger.book.get(WithdrawalId::new(2).unwrap()).unwrap(),
        Move::Reject { by },
    );
    ledger.apply(&rejected.unwrap()).unwrap();
    ledger.audit().unwrap();
}

#[test]
fn an_adjustment_is_limited_in_both_directions() {
    let terms = AdjustmentTerms { max_amount: Some(amount(500)) };
    for (cents, fits) in [(500, true), (-500, true), (501, false), (-501, false)] {
        let plan = plans::adjust(ledger().metadata(at(5)), adjustment(9, GUEST, cents), &terms);
        assert_eq!(plan.is_ok(), fits, "{cents}");
        assert!(fits || plan == Err(AdjustmentRefusal::AboveLimit(amount(500))), "{cents}");
    }
}

/// Withdrawals tampered with behind the ledger's back, and the audit's finding.
#[test]
fn the_audit_compares_approvals_with_their_operations() {
    type Case = (&'static str, fn(&mut Withdrawal), bool);
    let table: [Case; 6] = [
        ("an approver was replaced", |one| one.approvals[0].by = user(OTHER), true),
        ("an approval was dated back", |one| one.approvals[0].at = at(1), true),
        ("an approval was lost", |one| one.approvals.clear(), true),
        ("an approval was added", |one| one.approvals.push(one.approvals[0]), true),
        ("one approval was taken as sufficient", |one| one.state = WithdrawalState::Approved, false),
        ("its last change was dated back", |one| one.updated_at = at(4), false),
    ];
    for (name, tamper, in_approvals) in table {
        let mut ledger = ledger();
        approve(&mut ledger, OPERATOR, Some(1), 5);
        let mut stored = stored(&ledger);
        tamper(&mut stored);
        ledger.book.put(stored);
        match ledger.audit() {
            Err(Finding::Entity { flaw: Flaw::Approvals, .. }) if in_approvals => {}
            Err(Finding::Entity { flaw: Flaw::Record(_), .. }) if !in_approvals => {}
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// A server of an earlier version does not know approvals: it records none, and treats its own as sufficient.
#[test]
fn withdrawals_recorded_without_approvals_by_older_servers_pass_the_audit() {
    let mut ledger = ledger();
    approve(&mut ledger, OPERATOR, Some(1), 5);
    let mut moved = vec![judge(&mut ledger, OTHER, Move::Approve { by: None, second_above: None }, at(6))];
    moved.push(judge(&mut ledger, OTHER, Move::Process, at(7)));
    moved.push(judge(&mut ledger, OTHER, Move::Fail, at(8)));
    for receipt in moved {
        let receipt = ledger.receipt_mut(receipt.unwrap().operation);
        let Entity::Withdrawal(withdrawal) = &mut receipt.outcome.entity else { panic!("{receipt:?}") };
        withdrawal.approvals.clear();
    }
    ledger.audit().unwrap();
}
