//! Clearing: recent income cannot be withdrawn.

use std::sync::Arc;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::music_request::Move;
use cuepoint_domain::operation::{Plan, Rejection, plans};
use cuepoint_domain::ports::Store;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::Charge;
use cuepoint_domain::user::User;
use cuepoint_domain::withdrawal::{Limit, WithdrawalTerms};
use time::Duration;

use crate::harness::scenario::{Refused, Scenario, amount, at, at_once, balance, topup_of};

promises! { ($) clearing as clearing_promises {
    income_clears_exactly_after_the_clearing_time,
    earnings_are_clearing_but_refunds_and_adjustments_are_not,
    a_charge_back_of_one_topup_leaves_the_other_clearing,
    income_that_paid_a_debt_is_clearing,
    concurrent_topups_and_withdrawals_leave_the_income_in_the_wallet,
    a_withdrawal_can_require_a_verified_email_address,
}}

/// The clearing time.
const TIME: Duration = Duration::hours(72);

fn scenario(store: Arc<dyn Store>) -> Scenario {
    let mut scenario = Scenario::new(store);
    scenario.withdrawals = WithdrawalTerms { clearing_time: Some(TIME), ..scenario.withdrawals };
    scenario
}

async fn topup(scenario: &Scenario, user: UserId, cents: i128, now: Timestamp) -> Plan {
    let id = scenario.ids.next_topup().await.unwrap();
    plans::open_topup(scenario.by(user, now), id, user, amount(cents), Charge::Confirmed)
}

/// Withdraws an amount, or returns the amount that could be withdrawn.
async fn withdraw(scenario: &Scenario, user: UserId, cents: i128, now: Timestamp) -> Result<(), i128> {
    match scenario.withdraw(user, cents, now).await {
        Ok(_) => Ok(()),
        Err(Refused::Rejected(Rejection::LimitExceeded(Limit::Cleared(most)))) => Err(most.minor()),
        Err(other) => panic!("{other:?}"),
    }
}

/// The times and amounts of a user's income after a time.
async fn income(scenario: &Scenario, user: UserId, after: Timestamp) -> Vec<(Timestamp, i128)> {
    let income = scenario.store.income(user, after, None).await.unwrap();
    income.into_iter().map(|one| (one.at, one.amount.minor())).collect()
}

/// A top-up can be withdrawn when the clearing time ends, and not a microsecond earlier. A new top-up does not block older
/// money.
pub async fn income_clears_exactly_after_the_clearing_time(store: Arc<dyn Store>) {
    let scenario = scenario(store);
    let guest = scenario.guest(0).await;
    scenario.fresh(topup(&scenario, guest, 1_000, at(0)).await).await;
    let cleared = at(0).plus(TIME);
    let before = cleared.minus(Duration::MICROSECOND);
    assert_eq!(income(&scenario, guest, before.minus(TIME)).await, [(at(0), 1_000)]);
    assert_eq!(withdraw(&scenario, guest, 100, before).await, Err(0));
    assert_eq!(income(&scenario, guest, at(0)).await, []);
    assert_eq!(withdraw(&scenario, guest, 100, cleared).await, Ok(()));
    scenario.fresh(topup(&scenario, guest, 300, cleared).await).await;
    assert_eq!(withdraw(&scenario, guest, 901, cleared.plus(Duration::HOUR)).await, Err(900));
    assert_eq!(withdraw(&scenario, guest, 900, cleared.plus(Duration::HOUR)).await, Ok(()));
    assert_eq!(withdraw(&scenario, guest, 100, cleared.plus(Duration::HOUR)).await, Err(0));
    let until = async |until| scenario.store.income(guest, at(0), Some(until)).await.unwrap().len();
    assert_eq!((until(cleared.minus(Duration::MICROSECOND)).await, until(cleared).await), (0, 1));
    let nobody = scenario.ids.next_user().await.unwrap();
    assert_eq!(income(&scenario, nobody, at(0)).await, []);
}

/// The DJ's share of a played request is clearing. The refunded fee of a guest and an operator's adjustment are not.
pub async fn earnings_are_clearing_but_refunds_and_adjustments_are_not(store: Arc<dyn Store>) {
    let scenario = scenario(store).with_commission(1_000);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(500).await);
    let later = at(0).plus(TIME);
    let played = scenario.request(guest, dj, later).await;
    scenario.move_request(played.id, Move::Play, later).await.unwrap();
    assert_eq!(income(&scenario, dj, at(0)).await, [(later, 450)]);
    assert_eq!(withdraw(&scenario, dj, 100, later).await, Err(0));
    scenario.move_request(played.id, Move::Refund, later).await.unwrap();
    let operator = scenario.operator().await;
    scenario.fresh(scenario.adjust_plan(scenario.by(operator, later), guest, 100).await).await;
    assert_eq!(income(&scenario, guest, at(0)).await, []);
    assert_eq!(withdraw(&scenario, guest, 1_100, later).await, Ok(()));
}

/// Of two recent top-ups, one is charged back: the other one is still clearing.
pub async fn a_charge_back_of_one_topup_leaves_the_other_clearing(store: Arc<dyn Store>) {
    let scenario = scenario(store);
    let guest = scenario.guest(0).await;
    let stolen = topup_of(&scenario.fresh(topup(&scenario, guest, 700, at(1)).await).await);
    scenario.fresh(topup(&scenario, guest, 300, at(2)).await).await;
    scenario.fresh(plans::reverse_topup(scenario.by(guest, at(3)), &stolen).unwrap()).await;
    assert_eq!(scenario.balance(guest).await, balance(300, 0));
    assert_eq!(withdraw(&scenario, guest, 100, at(4)).await, Err(0));
    assert_eq!(withdraw(&scenario, guest, 300, at(2).plus(TIME)).await, Ok(()));
}

/// A guest who spent 300 of a stolen card owes them, and pays the debt with the next top-up. All of that top-up is clearing:
/// older money that was returned since cannot be withdrawn in its place.
pub async fn income_that_paid_a_debt_is_clearing(store: Arc<dyn Store>) {
    let scenario = scenario(store);
    let (guest, dj) = (scenario.guest(0).await, scenario.dj(300).await);
    let stolen = topup_of(&scenario.fresh(topup(&scenario, guest, 300, at(0)).await).await);
    let played = scenario.request(guest, dj, at(0)).await;
    scenario.move_request(played.id, Move::Play, at(0)).await.unwrap();
    let later = at(0).plus(TIME);
    scenario.fresh(plans::reverse_topup(scenario.by(guest, later), &stolen).unwrap()).await;
    scenario.fresh(topup(&scenario, guest, 500, later).await).await;
    assert_eq!(income(&scenario, guest, at(0)).await, [(later, 500)]);
    let operator = scenario.operator().await;
    scenario.fresh(scenario.adjust_plan(scenario.by(operator, later), guest, 400).await).await;
    assert_eq!(scenario.balance(guest).await, balance(600, 0));
    assert_eq!(withdraw(&scenario, guest, 101, later).await, Err(100));
    assert_eq!(withdraw(&scenario, guest, 100, later).await, Ok(()));
}

/// Only the older money can be withdrawn, in one group or several.
pub async fn concurrent_topups_and_withdrawals_leave_the_income_in_the_wallet(store: Arc<dyn Store>) {
    let scenario = scenario(store);
    let guest = scenario.guest(1_000).await;
    let now = at(0).plus(TIME);
    let mut plans = Vec::new();
    for _ in 0..20 {
        plans.push(topup(&scenario, guest, 100, now).await);
        plans.push(scenario.withdrawal_plan(scenario.by(guest, now), guest, 100).await.unwrap());
    }
    let answers = at_once(plans.into_iter().map(|plan| {
        let scenario = scenario.clone();
        async move { scenario.apply(plan).await }
    }))
    .await;
    let withdrawn = answers.iter().skip(1).step_by(2).filter(|answer| answer.is_ok()).count();
    assert_eq!(withdrawn, 10);
    assert_eq!(scenario.balance(guest).await, balance(2_000, 1_000));
}

/// A deployment can refuse withdrawals of users without a verified e-mail address.
pub async fn a_withdrawal_can_require_a_verified_email_address(store: Arc<dyn Store>) {
    let mut scenario = Scenario::new(store);
    scenario.withdrawals.requires_verified_email = true;
    let verified = User { email_verified: true, ..scenario.stranger(false, at(0)).await };
    scenario.register(&verified).await;
    scenario.fund(verified.id, 1_000).await;
    let guest = scenario.guest(1_000).await;
    let refused = scenario.withdraw(guest, 100, at(1)).await;
    assert!(matches!(refused, Err(Refused::Rejected(Rejection::EmailUnverified))), "{refused:?}");
    assert!(scenario.withdraw(verified.id, 100, at(1)).await.is_ok());
}
