//! Approvals of withdrawals by operators, and the right to judge one.

use std::sync::Arc;

use cuepoint_domain::account::security_log::EventFilter;
use cuepoint_domain::account::{AccountStatusChange, Role};
use cuepoint_domain::ids::{UserId, WithdrawalId};
use cuepoint_domain::ledger::adjustment::Adjustment;
use cuepoint_domain::ledger::plans;
use cuepoint_domain::ledger::{OperationMetadata, Rejection};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Applied, Store};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::{Move, WithdrawalFilter, WithdrawalStatus};
use time::Duration;

use crate::world::{Refused, World, amount, at, at_once, balance, key, line, withdrawal_of};

/// A fixture that requires two operators above 1.00.
fn four_eyes(store: Arc<dyn Store>) -> World {
    let mut world = World::new(store);
    world.withdrawals.second_approval_above = Some(amount(100));
    world
}

impl World {
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
pub async fn two_operators_approve_what_is_above_the_limit(store: Arc<dyn Store>) {
    use WithdrawalStatus::{Approved, Pending};
    let world = four_eyes(store);
    let (guest, ada, bob) = (world.guest(1_000).await, world.operator().await, world.operator().await);
    let small = world.withdrawn(guest, 100).await;
    world.approve(small, ada, at(2)).await;
    assert_eq!(world.approved(small).await, (Approved, vec![ada]));

    let large = world.withdrawn(guest, 101).await;
    let opened = world.stored_withdrawal(large).await;
    let second_above = world.withdrawals.second_approval_above;
    let approve = |by, seconds| {
        let key = Some(key(by, &format!("approve {seconds}"), "body"));
        let metadata = OperationMetadata { reason: Some(line("checked")), key, ..world.by(by, at(seconds)) };
        (metadata, Move::Approve { by: Some(by), second_above })
    };
    let (metadata, first) = approve(ada, 3);
    let first = plans::move_withdrawal(metadata, &opened, first).unwrap();
    let receipt = world.fresh(first.clone()).await;
    let once = world.stored_withdrawal(large).await;
    assert_eq!((world.approved(large).await, once.updated_at), ((Pending, vec![ada]), opened.updated_at));
    assert_eq!(once.approvals[0].at, at(3));
    assert_eq!(withdrawal_of(&receipt), once);
    let filter = WithdrawalFilter { user: None, status: Some(Pending) };
    let listed = world.store.withdrawals(&filter, PageRequest::new(1, 10)).await.unwrap();
    assert_eq!(listed.rows, std::slice::from_ref(&once));

    let (metadata, again) = approve(ada, 4);
    let again = plans::move_withdrawal(metadata, &once, again).unwrap();
    assert_eq!(withdrawal_of(&world.fresh(again).await), once);
    assert_eq!(world.apply(first).await, Ok(Applied::Replayed(receipt)));
    let (metadata, stale) = approve(bob, 5);
    let stale = plans::move_withdrawal(metadata, &opened, stale).unwrap();
    assert_eq!(world.apply(stale).await, Err(Rejection::Stale), "it was approved since it was loaded");

    let (metadata, second) = approve(bob, 6);
    let second = plans::move_withdrawal(metadata, &once, second).unwrap();
    let receipt = world.fresh(second.clone()).await;
    let twice = world.stored_withdrawal(large).await;
    assert_eq!(world.approved(large).await, (Approved, vec![ada, bob]));
    assert_eq!((&withdrawal_of(&receipt), twice.approvals[1].at), (&twice, at(6)));
    assert_eq!(world.apply(second).await, Ok(Applied::Replayed(receipt)));
    assert_eq!(world.store.due_payouts(at(9), 9).await.unwrap().len(), 2);
    // Each approval is an event; an unchanged withdrawal leaves none.
    let filter = EventFilter { user: Some(guest), kind: None };
    let events = world.store.events(filter, PageRequest::new(1, 10)).await.unwrap();
    let noted: Vec<_> = events.rows.into_iter().map(|(_, event)| (event.actor, event.detail)).collect();
    let detail = Some(line("approve_withdrawal: checked"));
    assert_eq!(noted, [(Some(bob), detail.clone()), (Some(ada), detail)]);
    world.move_withdrawal(large, &Move::Process, at(7)).await.unwrap();
    assert_eq!(world.approved(large).await, (WithdrawalStatus::Processing, vec![ada, bob]), "they are kept");
    world.audit().await;
}

/// Of many concurrent approvals exactly two are counted, and the withdrawal is approved once.
pub async fn approvals_at_once_are_counted_once_each(store: Arc<dyn Store>) {
    let world = four_eyes(store);
    let guest = world.guest(10_000).await;
    let mut operators = Vec::new();
    for _ in 0..4 {
        operators.push(world.operator().await);
    }
    for round in 0..10 {
        let id = world.withdrawn(guest, 200).await;
        let racers = &operators[..if round % 2 == 0 { 2 } else { 4 }];
        at_once(racers.iter().chain(racers).map(|operator| {
            let (world, operator) = (world.clone(), *operator);
            async move { world.approve(id, operator, at(2)).await }
        }))
        .await;
        let (status, mut approvals) = world.approved(id).await;
        approvals.sort_unstable();
        approvals.dedup();
        assert_eq!((status, approvals.len()), (WithdrawalStatus::Approved, 2));
        assert!(racers.len() > 2 || approvals == racers);
    }
    world.audit().await;
}

/// An earlier approval counts only while its operator could still give it: not after they were suspended or
/// demoted, even if restored, nor after they adjusted the wallet. Once the limit is lifted, one approval is
/// enough again.
pub async fn an_earlier_approval_counts_while_it_could_be_given_anew(store: Arc<dyn Store>) {
    use AccountStatusChange::{Restore, Role as Give, Suspend};
    use WithdrawalStatus::{Approved, Pending};
    let mut world = four_eyes(store);
    let (guest, bob) = (world.guest(10_000).await, world.operator().await);
    let lives: [&[AccountStatusChange]; 5] = [
        &[Suspend],
        &[Suspend, Restore],
        &[Give(Role::Auditor)],
        &[Give(Role::Member)],
        &[Give(Role::Member), Give(Role::Operator)],
    ];
    for changes in lives {
        let (ada, id) = (world.operator().await, world.withdrawn(guest, 200).await);
        world.approve(id, ada, at(2)).await;
        for change in changes {
            world.stand(bob, ada, *change, at(3)).await;
        }
        world.approve(id, bob, at(4)).await;
        assert_eq!(world.approved(id).await, (Pending, vec![bob]), "{changes:?}");
        world.approve(id, ada, at(5)).await;
        assert_eq!(world.approved(id).await, (Approved, vec![bob, ada]), "{changes:?}");
    }
    let (ada, id) = (world.operator().await, world.withdrawn(guest, 200).await);
    world.approve(id, ada, at(2)).await;
    world.fresh(world.adjust_plan(world.by(ada, at(3)), guest, -1).await).await;
    world.approve(id, bob, at(4)).await;
    assert_eq!(world.approved(id).await, (Pending, vec![bob]));
    world.withdrawals.second_approval_above = None;
    world.approve(id, bob, at(5)).await;
    assert_eq!(world.approved(id).await, (Approved, vec![bob]));
    world.audit().await;
}

/// An operator who adjusted a wallet, in either direction, cannot approve, reject or fail its withdrawals for
/// thirty days, to the microsecond; they can send them and judge those of other wallets, and other operators
/// judge them.
pub async fn who_adjusted_a_wallet_judges_none_of_its_withdrawals(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (guest, other) = (world.guest(1_000).await, world.guest(1_000).await);
    let (ada, bob) = (world.guest(0).await, world.guest(0).await);
    for (operator, cents, seconds) in [(ada, -5, 10), (bob, 5, 20)] {
        world.fresh(world.adjust_plan(world.by(operator, at(seconds)), guest, cents).await).await;
    }
    world.fresh(world.adjust_plan(world.by(bob, at(30)), other, 5).await).await;
    let over = at(10).plus(Adjustment::JUDGING_BAR);
    let just_before = over.minus(Duration::MICROSECOND);
    for (by, wallet, since, adjusted) in [
        (ada, guest, at(10).minus(Duration::MICROSECOND), true),
        (ada, guest, at(10), false),
        (bob, guest, at(10), true),
        (ada, other, at(0), false),
        (guest, guest, at(0), false),
    ] {
        assert_eq!(world.store.has_adjusted(by, wallet, since).await.unwrap(), adjusted);
    }

    let (id, barred) = (world.withdrawn(guest, 100).await, Err(Rejection::RecentAdjustment));
    let judge = async |by, to: Move, now| {
        let stored = world.stored_withdrawal(id).await;
        world.apply(plans::move_withdrawal(world.by(by, now), &stored, to).unwrap()).await
    };
    let approve = |by| Move::Approve { by: Some(by), second_above: None };
    for now in [at(11), just_before] {
        assert_eq!(judge(ada, approve(ada), now).await, barred);
        assert_eq!(judge(ada, Move::Reject { by: ada }, now).await, barred);
    }
    let others = world.withdrawn(other, 100).await;
    world.approve(others, ada, at(40)).await;
    judge(ada, approve(ada), over).await.unwrap();
    assert_eq!(judge(ada, approve(ada), just_before).await, barred, "also where nothing would change");
    judge(ada, Move::Process, at(42)).await.unwrap();
    judge(ada, Move::Review, at(43)).await.unwrap();
    assert_eq!(judge(ada, Move::Fail, just_before).await, barred);
    judge(ada, Move::Complete { txid: Some(line("f00d")) }, at(44)).await.unwrap();
    world.audit().await;
}

/// A rejection and an adjustment by the same operator at once: if the adjustment is applied first, the
/// rejection has no effect.
pub async fn an_adjustment_at_the_same_time_counts_where_it_came_first(store: Arc<dyn Store>) {
    let world = World::new(store);
    let operator = world.guest(0).await;
    for _ in 0..20 {
        let guest = world.guest(100).await;
        let id = world.withdrawn(guest, 100).await;
        let adjust = world.adjust_plan(world.by(operator, at(2)), guest, 7).await;
        let reject = Move::Reject { by: operator };
        let (rejected, adjusted) =
            tokio::join!(world.move_withdrawal(id, &reject, at(2)), world.apply(adjust));
        adjusted.unwrap();
        let entries = world.store.entries(guest, PageRequest::new(1, 10)).await.unwrap();
        let newest = entries.rows[0].kind.name();
        match rejected {
            Ok(_) => {
                assert_eq!(newest, "adjustment", "the rejection came first");
                assert_eq!(world.balance(guest).await, balance(107, 0));
            }
            Err(Refused::Rejected(Rejection::RecentAdjustment)) => {
                assert_eq!(world.approved(id).await, (WithdrawalStatus::Pending, vec![]));
                assert_eq!(world.balance(guest).await, balance(7, 100));
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    world.audit().await;
}

/// An operator who is dismissed between the decision and the application of a plan changes nothing.
pub async fn a_plan_of_a_dismissed_operator_changes_nothing(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (chief, guest) = (world.operator().await, world.guest(100).await);
    let id = world.withdrawn(guest, 100).await;
    for change in [AccountStatusChange::Suspend, AccountStatusChange::Role(Role::Auditor)] {
        let dismissed = world.operator().await;
        let metadata = || OperationMetadata { as_operator: true, ..world.by(dismissed, at(5)) };
        let stored = world.stored_withdrawal(id).await;
        let approve = Move::Approve { by: Some(dismissed), second_above: None };
        let plans = [
            plans::move_withdrawal(metadata(), &stored, approve).unwrap(),
            world.adjust_plan(metadata(), guest, 7).await,
            plans::change_account_status(metadata(), guest, AccountStatusChange::Role(Role::Operator)),
        ];
        world.stand(chief, dismissed, change, at(4)).await;
        for plan in plans {
            assert_eq!(world.apply(plan).await, Err(Rejection::NotAnOperator));
        }
    }
    assert_eq!(world.approved(id).await, (WithdrawalStatus::Pending, vec![]));
    assert_eq!(world.balance(guest).await, balance(0, 100));
    let metadata = OperationMetadata { as_operator: true, ..world.by(chief, at(6)) };
    world.fresh(world.adjust_plan(metadata, guest, 7).await).await;
    assert_eq!(world.balance(guest).await, balance(7, 100));
    world.audit().await;
}
