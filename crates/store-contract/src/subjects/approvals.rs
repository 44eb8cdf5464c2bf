//! Approvals of withdrawals by operators, and the right to judge one.

use std::sync::Arc;

use cuepoint_domain::ids::{UserId, WithdrawalId};
use cuepoint_domain::ledger::adjustment::Adjustment;
use cuepoint_domain::operation::{OperationMetadata, Rejection, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Applied, Store};
use cuepoint_domain::security_log::SecurityEventFilter;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{Role, UserStatusChange};
use cuepoint_domain::withdrawal::{Move, WithdrawalFilter, WithdrawalStatus};
use time::Duration;

use crate::harness::scenario::{Refused, Scenario, amount, at, at_once, balance, key, line, withdrawal_of};

promises! { ($) approvals as approvals_promises {
    a_withdrawal_above_the_limit_needs_two_approvals,
    only_two_of_many_concurrent_approvals_are_counted,
    plans_of_suspended_or_demoted_operators_change_nothing,
    an_approval_lapses_when_its_operator_becomes_ineligible,
    operators_cannot_approve_or_reject_withdrawals_from_wallets_they_adjusted,
    a_rejection_is_refused_after_a_concurrent_adjustment_by_the_same_operator,
}}

/// A fixture that requires two operators above 1.00.
fn four_eyes(store: Arc<dyn Store>) -> Scenario {
    let mut scenario = Scenario::new(store);
    scenario.withdrawals.second_approval_above = Some(amount(100));
    scenario
}

impl Scenario {
    /// An operator's approval, expected to be applied.
    async fn approve(&self, id: WithdrawalId, by: UserId, now: Timestamp) -> Applied {
        let second_above = self.withdrawals.second_approval_above;
        self.move_withdrawal(id, &Move::Approve { by: Some(by), second_above }, now).await.unwrap()
    }

    /// The status and the approvers of a withdrawal.
    async fn approved(&self, id: WithdrawalId) -> (WithdrawalStatus, Vec<UserId>) {
        let stored = self.stored_withdrawal(id).await;
        (stored.state.status(), stored.approvals.iter().map(|approval| approval.by).collect())
    }

    /// A withdrawal of this many cents, expected to succeed.
    async fn withdrawn(&self, user: UserId, cents: i128) -> WithdrawalId {
        withdrawal_of(&self.withdraw(user, cents, at(1)).await.unwrap()).id
    }
}

/// Above the limit the first approval leaves the withdrawal pending, a second one by the same operator
/// changes nothing, and one by another operator approves it; both are stored with their times, in lists and
/// receipts too. Up to the limit one approval is enough.
pub async fn a_withdrawal_above_the_limit_needs_two_approvals(store: Arc<dyn Store>) {
    use WithdrawalStatus::{Approved, Pending};
    let scenario = four_eyes(store);
    let (guest, ada, bob) =
        (scenario.guest(1_000).await, scenario.operator().await, scenario.operator().await);
    let small = scenario.withdrawn(guest, 100).await;
    scenario.approve(small, ada, at(2)).await;
    assert_eq!(scenario.approved(small).await, (Approved, vec![ada]));

    let large = scenario.withdrawn(guest, 101).await;
    let opened = scenario.stored_withdrawal(large).await;
    let second_above = scenario.withdrawals.second_approval_above;
    let approve = |by, seconds| {
        let key = Some(key(by, &format!("approve {seconds}"), "body"));
        let metadata =
            OperationMetadata { reason: Some(line("checked")), key, ..scenario.by(by, at(seconds)) };
        (metadata, Move::Approve { by: Some(by), second_above })
    };
    let (metadata, first) = approve(ada, 3);
    let first = plans::move_withdrawal(metadata, &opened, first).unwrap();
    let receipt = scenario.fresh(first.clone()).await;
    let once = scenario.stored_withdrawal(large).await;
    assert_eq!((scenario.approved(large).await, once.updated_at), ((Pending, vec![ada]), opened.updated_at));
    assert_eq!(once.approvals[0].at, at(3));
    assert_eq!(withdrawal_of(&receipt), once);
    let filter = WithdrawalFilter { user: None, status: Some(Pending) };
    let listed = scenario.store.withdrawals(&filter, PageRequest::new(1, 10)).await.unwrap();
    assert_eq!(listed.rows, std::slice::from_ref(&once));

    let (metadata, again) = approve(ada, 4);
    let again = plans::move_withdrawal(metadata, &once, again).unwrap();
    assert_eq!(withdrawal_of(&scenario.fresh(again).await), once);
    assert_eq!(scenario.apply(first).await, Ok(Applied::Replayed(receipt)));
    let (metadata, stale) = approve(bob, 5);
    let stale = plans::move_withdrawal(metadata, &opened, stale).unwrap();
    assert_eq!(scenario.apply(stale).await, Err(Rejection::Stale), "it was approved since it was loaded");

    let (metadata, second) = approve(bob, 6);
    let second = plans::move_withdrawal(metadata, &once, second).unwrap();
    let receipt = scenario.fresh(second.clone()).await;
    let twice = scenario.stored_withdrawal(large).await;
    assert_eq!(scenario.approved(large).await, (Approved, vec![ada, bob]));
    assert_eq!((&withdrawal_of(&receipt), twice.approvals[1].at), (&twice, at(6)));
    assert_eq!(scenario.apply(second).await, Ok(Applied::Replayed(receipt)));
    assert_eq!(scenario.store.due_payouts(at(9), 9).await.unwrap().len(), 2);
    // Each approval is an event; an unchanged withdrawal leaves none.
    let filter = SecurityEventFilter { user: Some(guest), kind: None };
    let events = scenario.store.events(filter, PageRequest::new(1, 10)).await.unwrap();
    let noted: Vec<_> = events.rows.into_iter().map(|(_, event)| (event.actor, event.detail)).collect();
    let detail = |change| Some(line(&format!("approve_withdrawal: withdrawal {large} {change}: checked")));
    assert_eq!(noted, [(Some(bob), detail("pending → approved")), (Some(ada), detail("still pending"))]);
    scenario.move_withdrawal(large, &Move::Process, at(7)).await.unwrap();
    assert_eq!(
        scenario.approved(large).await,
        (WithdrawalStatus::Processing, vec![ada, bob]),
        "they are kept"
    );
    scenario.audit().await;
}

/// Of many concurrent approvals exactly two are counted, and the withdrawal is approved once.
pub async fn only_two_of_many_concurrent_approvals_are_counted(store: Arc<dyn Store>) {
    let scenario = four_eyes(store);
    let guest = scenario.guest(10_000).await;
    let mut operators = Vec::new();
    for _ in 0..4 {
        operators.push(scenario.operator().await);
    }
    for round in 0..10 {
        let id = scenario.withdrawn(guest, 200).await;
        let racers = &operators[..if round % 2 == 0 { 2 } else { 4 }];
        at_once(racers.iter().chain(racers).map(|operator| {
            let (scenario, operator) = (scenario.clone(), *operator);
            async move { scenario.approve(id, operator, at(2)).await }
        }))
        .await;
        let (status, mut approvals) = scenario.approved(id).await;
        approvals.sort_unstable();
        approvals.dedup();
        assert_eq!((status, approvals.len()), (WithdrawalStatus::Approved, 2));
        assert!(racers.len() > 2 || approvals == racers);
    }
    scenario.audit().await;
}

/// An earlier approval counts only while its operator could still give it: not after they were suspended or
/// demoted, even if restored, nor after they adjusted the wallet. Once the limit is lifted, one approval is
/// enough again.
///
/// Attack API5: an approval by an operator who is then suspended or demoted.
pub async fn an_approval_lapses_when_its_operator_becomes_ineligible(store: Arc<dyn Store>) {
    use UserStatusChange::{Restore, Role as Give, Suspend};
    use WithdrawalStatus::{Approved, Pending};
    let mut scenario = four_eyes(store);
    let (guest, bob) = (scenario.guest(10_000).await, scenario.operator().await);
    let lives: [&[UserStatusChange]; 5] = [
        &[Suspend],
        &[Suspend, Restore],
        &[Give(Role::Auditor)],
        &[Give(Role::Member)],
        &[Give(Role::Member), Give(Role::Operator)],
    ];
    for changes in lives {
        let (ada, id) = (scenario.operator().await, scenario.withdrawn(guest, 200).await);
        scenario.approve(id, ada, at(2)).await;
        for change in changes {
            scenario.change_status(bob, ada, *change, at(3)).await;
        }
        scenario.approve(id, bob, at(4)).await;
        assert_eq!(scenario.approved(id).await, (Pending, vec![bob]), "{changes:?}");
        scenario.approve(id, ada, at(5)).await;
        assert_eq!(scenario.approved(id).await, (Approved, vec![bob, ada]), "{changes:?}");
    }
    let (ada, id) = (scenario.operator().await, scenario.withdrawn(guest, 200).await);
    scenario.approve(id, ada, at(2)).await;
    scenario.fresh(scenario.adjust_plan(scenario.by(ada, at(3)), guest, -1).await).await;
    scenario.approve(id, bob, at(4)).await;
    assert_eq!(scenario.approved(id).await, (Pending, vec![bob]));
    scenario.withdrawals.second_approval_above = None;
    scenario.approve(id, bob, at(5)).await;
    assert_eq!(scenario.approved(id).await, (Approved, vec![bob]));
    scenario.audit().await;
}

/// An operator who adjusted a wallet, in either direction, cannot approve, reject or fail its withdrawals for
/// thirty days, to the microsecond; they can send them and judge those of other wallets, and other operators
/// judge them.
pub async fn operators_cannot_approve_or_reject_withdrawals_from_wallets_they_adjusted(
    store: Arc<dyn Store>,
) {
    let scenario = Scenario::new(store);
    let (guest, other) = (scenario.guest(1_000).await, scenario.guest(1_000).await);
    let (ada, bob) = (scenario.guest(0).await, scenario.guest(0).await);
    for (operator, cents, seconds) in [(ada, -5, 10), (bob, 5, 20)] {
        scenario.fresh(scenario.adjust_plan(scenario.by(operator, at(seconds)), guest, cents).await).await;
    }
    scenario.fresh(scenario.adjust_plan(scenario.by(bob, at(30)), other, 5).await).await;
    let over = at(10).plus(Adjustment::JUDGING_BAR);
    let just_before = over.minus(Duration::MICROSECOND);
    for (by, wallet, since, adjusted) in [
        (ada, guest, at(10).minus(Duration::MICROSECOND), true),
        (ada, guest, at(10), false),
        (bob, guest, at(10), true),
        (ada, other, at(0), false),
        (guest, guest, at(0), false),
    ] {
        assert_eq!(scenario.store.has_adjusted(by, wallet, since).await.unwrap(), adjusted);
    }

    let (id, barred) = (scenario.withdrawn(guest, 100).await, Err(Rejection::RecentAdjustment));
    let judge = async |by, to: Move, now| {
        let stored = scenario.stored_withdrawal(id).await;
        scenario.apply(plans::move_withdrawal(scenario.by(by, now), &stored, to).unwrap()).await
    };
    let approve = |by| Move::Approve { by: Some(by), second_above: None };
    for now in [at(11), just_before] {
        assert_eq!(judge(ada, approve(ada), now).await, barred);
        assert_eq!(judge(ada, Move::Reject { by: ada }, now).await, barred);
    }
    let others = scenario.withdrawn(other, 100).await;
    scenario.approve(others, ada, at(40)).await;
    judge(ada, approve(ada), over).await.unwrap();
    assert_eq!(judge(ada, approve(ada), just_before).await, barred, "also where nothing would change");
    judge(ada, Move::Process, at(42)).await.unwrap();
    judge(ada, Move::Review, at(43)).await.unwrap();
    assert_eq!(judge(ada, Move::Fail, just_before).await, barred);
    judge(ada, Move::Complete { txid: Some(line("f00d")) }, at(44)).await.unwrap();
    scenario.audit().await;
}

/// A rejection and an adjustment by the same operator at once: if the adjustment is applied first, the
/// rejection has no effect.
///
/// Attack API5: deciding about a withdrawal while adjusting its wallet.
pub async fn a_rejection_is_refused_after_a_concurrent_adjustment_by_the_same_operator(
    store: Arc<dyn Store>,
) {
    let scenario = Scenario::new(store);
    let operator = scenario.guest(0).await;
    for _ in 0..20 {
        let guest = scenario.guest(100).await;
        let id = scenario.withdrawn(guest, 100).await;
        let adjust = scenario.adjust_plan(scenario.by(operator, at(2)), guest, 7).await;
        let reject = Move::Reject { by: operator };
        let (rejected, adjusted) =
            tokio::join!(scenario.move_withdrawal(id, &reject, at(2)), scenario.apply(adjust));
        adjusted.unwrap();
        let entries = scenario.store.entries(guest, PageRequest::new(1, 10)).await.unwrap();
        let newest = entries.rows[0].kind.name();
        match rejected {
            Ok(_) => {
                assert_eq!(newest, "adjustment", "the rejection came first");
                assert_eq!(scenario.balance(guest).await, balance(107, 0));
            }
            Err(Refused::Rejected(Rejection::RecentAdjustment)) => {
                assert_eq!(scenario.approved(id).await, (WithdrawalStatus::Pending, vec![]));
                assert_eq!(scenario.balance(guest).await, balance(7, 100));
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    scenario.audit().await;
}

/// An operator who is dismissed between the decision and the application of a plan changes nothing.
pub async fn plans_of_suspended_or_demoted_operators_change_nothing(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (chief, guest) = (scenario.operator().await, scenario.guest(100).await);
    let id = scenario.withdrawn(guest, 100).await;
    for change in [UserStatusChange::Suspend, UserStatusChange::Role(Role::Auditor)] {
        let dismissed = scenario.operator().await;
        let metadata = || OperationMetadata { as_operator: true, ..scenario.by(dismissed, at(5)) };
        let stored = scenario.stored_withdrawal(id).await;
        let approve = Move::Approve { by: Some(dismissed), second_above: None };
        let plans = [
            plans::move_withdrawal(metadata(), &stored, approve).unwrap(),
            scenario.adjust_plan(metadata(), guest, 7).await,
            plans::change_user_status(metadata(), guest, UserStatusChange::Role(Role::Operator)),
        ];
        scenario.change_status(chief, dismissed, change, at(4)).await;
        for plan in plans {
            assert_eq!(scenario.apply(plan).await, Err(Rejection::NotAnOperator));
        }
    }
    assert_eq!(scenario.approved(id).await, (WithdrawalStatus::Pending, vec![]));
    assert_eq!(scenario.balance(guest).await, balance(0, 100));
    let metadata = OperationMetadata { as_operator: true, ..scenario.by(chief, at(6)) };
    scenario.fresh(scenario.adjust_plan(metadata, guest, 7).await).await;
    assert_eq!(scenario.balance(guest).await, balance(7, 100));
    scenario.audit().await;
}
