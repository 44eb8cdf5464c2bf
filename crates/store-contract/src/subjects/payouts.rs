//! Payouts and top-ups: due payouts, and steps that are applied once under concurrency.

use std::sync::Arc;

use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::operation::{Actor, plans};
use cuepoint_domain::ports::Store;
use cuepoint_domain::topup::{Charge, TopupStatus};
use cuepoint_domain::withdrawal::{Move, WithdrawalState};

use crate::harness::races::{fresh, one_of_sixteen_is_applied, race};
use crate::harness::scenario::{Scenario, amount, at, balance, line, topup_of, withdrawal_of};

promises! { ($) payouts as payouts_promises {
    due_payouts_are_listed_unsent_first_then_by_retry_time,
    a_payout_is_leased_by_one_server,
    concurrent_status_updates_credit_a_topup_at_most_once,
}}

/// The move of a worker that sends at `now`, and again at `again_at`.
fn send(now: i64, again_at: i64) -> Move {
    Move::Send { now: at(now), again_at: at(again_at) }
}

/// Only due withdrawals are listed: those never sent first, by id, then those to be sent again, by time, then
/// by id.
pub async fn due_payouts_are_listed_unsent_first_then_by_retry_time(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, operator) = (scenario.guest(10_000).await, scenario.guest(0).await);
    let approve = Move::Approve { by: Some(operator), second_above: None };
    let lives: [&[Move]; 12] = [
        &[],
        std::slice::from_ref(&approve),
        &[approve.clone(), send(10, 40)],
        &[approve.clone(), send(10, 30)],
        &[approve.clone(), send(10, 20), send(20, 40)],
        std::slice::from_ref(&approve),
        &[approve.clone(), send(10, 41)],
        &[approve.clone(), send(10, 30), Move::Accepted],
        &[approve.clone(), Move::Process],
        &[approve.clone(), send(10, 30), Move::Broadcast { txid: line("f00d") }],
        &[approve.clone(), send(10, 30), Move::Refused],
        &[approve.clone(), send(10, 30), Move::Review],
    ];
    let mut made = Vec::new();
    for moves in lives {
        let withdrawal = withdrawal_of(&scenario.withdraw(guest, 100, at(0)).await.unwrap());
        for to in moves {
            scenario.move_withdrawal(withdrawal.id, to, at(10)).await.unwrap();
        }
        made.push(scenario.stored_withdrawal(withdrawal.id).await);
    }
    let expected: Vec<_> = [1, 5, 3, 2, 4].map(|place: usize| made[place].clone()).to_vec();
    let due = async |limit| scenario.store.due_payouts(at(40), limit).await.unwrap();
    assert_eq!(due(100).await, expected);
    assert_eq!(due(3).await, expected[..3]);
    assert_eq!(due(0).await, []);
    let ids: Vec<WithdrawalId> =
        scenario.store.due_payouts(at(29), 100).await.unwrap().iter().map(|one| one.id).collect();
    assert_eq!(ids, [made[1].id, made[5].id]);
}

/// Of many workers that claim a withdrawal concurrently one succeeds, and sends it alone.
pub async fn a_payout_is_leased_by_one_server(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, operator) = (scenario.guest(100).await, scenario.guest(0).await);
    let made = withdrawal_of(&scenario.withdraw(guest, 100, at(0)).await.unwrap());
    scenario
        .move_withdrawal(made.id, &Move::Approve { by: Some(operator), second_above: None }, at(1))
        .await
        .unwrap();
    for (round, now) in (1..=3).zip([10, 20, 30]) {
        let due = scenario.store.due_payouts(at(now), 10).await.unwrap();
        let [due] = due.as_slice() else { panic!("{due:?}") };
        one_of_sixteen_is_applied(&scenario, || {
            plans::move_withdrawal(scenario.metadata(Actor::System, at(now)), due, send(now, now + 10))
                .unwrap()
        })
        .await;
        assert_eq!(
            scenario.stored_withdrawal(made.id).await.state,
            WithdrawalState::Processing { attempts: round, retry_at: Some(at(now + 10)) }
        );
    }
    assert_eq!(scenario.balance(guest).await, balance(0, 100));
}

/// Concurrent contradictory status updates about a top-up have one winner, and credit it at most once.
pub async fn concurrent_status_updates_credit_a_topup_at_most_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(0).await;
    let id = scenario.ids.next_topup().await.unwrap();
    let plan = plans::open_topup(scenario.by(guest, at(0)), id, guest, amount(500), Charge::Pending);
    let pending = topup_of(&scenario.fresh(plan).await);
    let plans = (0..16).map(|number| {
        plans::settle_topup(scenario.metadata(Actor::System, at(1)), &pending, number % 2 == 0)
    });
    let answers = race(&scenario, plans).await;
    assert_eq!(fresh(&answers), 1, "{answers:?}");
    let cents = if scenario.stored_topup(id).await.status == TopupStatus::Confirmed { 500 } else { 0 };
    assert_eq!(scenario.balance(guest).await, balance(cents, 0));
}
