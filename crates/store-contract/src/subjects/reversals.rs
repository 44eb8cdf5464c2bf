//! Charge-backs: the money of a confirmed top-up is reversed.

use std::sync::Arc;

use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{Balance, EntryKind};
use cuepoint_domain::music_request::Move;
use cuepoint_domain::operation::{Actor, OperationMetadata, Rejection, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::Store;
use cuepoint_domain::security_log::{SecurityEventFilter, SecurityEventKind};
use cuepoint_domain::topup::{ReversalRefusal, Topup, TopupStatus};
use cuepoint_domain::user::ArtistType;

use crate::harness::races::one_of_sixteen_is_applied;
use crate::harness::scenario::{Scenario, at, balance, line, money, topup_of};
use crate::subjects::ledger::entries;

promises! { ($) reversals as reversals_promises {
    reversals_debit_the_available_balance_and_then_create_debt,
    a_topup_can_be_reversed_only_once,
    only_confirmed_topups_can_be_reversed,
    a_guest_in_debt_can_make_only_requests_without_a_fee,
    a_reversal_by_an_operator_is_recorded_in_the_security_log,
}}

/// Reverses a top-up in its stored state.
async fn reverse(scenario: &Scenario, topup: &Topup, seconds: i64) -> Topup {
    let stored = scenario.stored_topup(topup.id).await;
    let plan = plans::reverse_topup(scenario.metadata(Actor::System, at(seconds)), &stored).unwrap();
    topup_of(&scenario.fresh(plan).await)
}

fn owing(balance: Balance, owed: i128) -> Balance {
    Balance { owed: money(owed), ..balance }
}

/// A guest who owes money cannot make a request with a fee, but can make one without.
pub async fn a_guest_in_debt_can_make_only_requests_without_a_fee(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(0).await;
    let topup = scenario.confirmed_topup(guest, 1_000).await;
    let (dj, free) = (scenario.dj(1_000).await, scenario.dj(0).await);
    scenario.request(guest, dj, at(1)).await;
    reverse(&scenario, &topup, 2).await;
    let request = async |dj| {
        let (metadata, artist) = (scenario.by(guest, at(3)), ArtistType::Popular);
        let plan = scenario.request_plan(metadata, guest, dj, artist, None).await.unwrap();
        scenario.apply(plan).await.map(drop)
    };
    assert_eq!(request(dj).await, Err(Rejection::WalletOwes { owed: money(1_000) }));
    assert_eq!(request(free).await, Ok(()));
}

/// A reversal debits the available balance and leaves held money; the rest is owed, and later top-ups pay it.
pub async fn reversals_debit_the_available_balance_and_then_create_debt(store: Arc<dyn Store>) {
    // The amount held at the reversal, the amount paid to a DJ before it, and the remaining balance.
    for (held, spent, left) in [
        (0, 0, balance(0, 0)),
        (300, 0, owing(balance(0, 300), 300)),
        (0, 400, owing(balance(0, 0), 400)),
        (600, 400, owing(balance(0, 600), 1_000)),
    ] {
        let scenario = Scenario::new(Arc::clone(&store)).with_commission(1_000);
        let guest = scenario.guest(0).await;
        let topup = scenario.confirmed_topup(guest, 1_000).await;
        let djs = [scenario.dj(held).await, scenario.dj(spent).await];
        let [waits, played] =
            [scenario.request(guest, djs[0], at(1)).await, scenario.request(guest, djs[1], at(1)).await];
        scenario.move_request(played.id, Move::Play, at(2)).await.unwrap();
        let earned = scenario.balance(djs[1]).await;

        let reversed = reverse(&scenario, &topup, 3).await;
        assert_eq!((reversed.status, reversed.updated_at), (TopupStatus::Reversed, at(3)));
        assert_eq!(scenario.stored_topup(topup.id).await, reversed);
        assert_eq!(scenario.balance(guest).await, left);
        assert_eq!(scenario.balance(djs[1]).await, earned, "the payee keeps the money");
        let newest = entries(&scenario, guest).await.pop().unwrap();
        assert_eq!((newest.kind, newest.reference), (EntryKind::Chargeback, EntityRef::Topup(topup.id)));
        scenario.audit().await;

        scenario.move_request(waits.id, Move::Reject, at(4)).await.unwrap();
        let pays = left.owed.minor().min(held);
        let (available, owed) = (held - pays, left.owed.minor() - pays);
        assert_eq!(
            scenario.balance(guest).await,
            owing(balance(available, 0), owed),
            "the release pays first"
        );
        scenario.fund(guest, 100).await;
        let pays = owed.min(100);
        assert_eq!(scenario.balance(guest).await, owing(balance(available + 100 - pays, 0), owed - pays));
        scenario.audit().await;
    }
}

/// A second reversal changes nothing, whether decided before or after the first one.
pub async fn a_topup_can_be_reversed_only_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(0).await;
    let topup = scenario.confirmed_topup(guest, 500).await;
    scenario.fund(guest, 200).await;
    one_of_sixteen_is_applied(&scenario, || {
        plans::reverse_topup(scenario.metadata(Actor::System, at(1)), &topup).unwrap()
    })
    .await;
    let reversed = scenario.stored_topup(topup.id).await;
    assert_eq!(reverse(&scenario, &topup, 2).await, reversed);
    assert_eq!(scenario.balance(guest).await, balance(200, 0));
    assert_eq!(entries(&scenario, guest).await.len(), 3);
    scenario.audit().await;
}

/// Only a confirmed top-up is reversed.
pub async fn only_confirmed_topups_can_be_reversed(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(0).await;
    let topup = scenario.pending_topup(guest, 500, 0).await;
    let refused =
        |topup: &Topup| plans::reverse_topup(scenario.metadata(Actor::System, at(1)), topup).unwrap_err();
    let allowed = vec![TopupStatus::Confirmed, TopupStatus::Failed];
    assert_eq!(refused(&topup), ReversalRefusal { current: TopupStatus::Pending, allowed });
    let failed = plans::settle_topup(scenario.metadata(Actor::System, at(1)), &topup, false);
    let failed = topup_of(&scenario.fresh(failed).await);
    assert_eq!(refused(&failed), ReversalRefusal { current: TopupStatus::Failed, allowed: Vec::new() });
    assert_eq!(scenario.balance(guest).await, Balance::default());
}

/// An operator's reversal is an event about the wallet's owner.
pub async fn a_reversal_by_an_operator_is_recorded_in_the_security_log(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, operator) = (scenario.guest(0).await, scenario.guest(0).await);
    let topup = scenario.confirmed_topup(guest, 500).await;
    let metadata = OperationMetadata { reason: Some(line("a stolen card")), ..scenario.by(operator, at(1)) };
    scenario.fresh(plans::reverse_topup(metadata, &topup).unwrap()).await;
    let seen = events(&scenario, guest).await;
    let detail = format!("reverse_topup: top-up {} confirmed → reversed: a stolen card", topup.id);
    assert_eq!(seen, [(Some(operator), detail)]);
}

/// The operators' events about a user.
pub(crate) async fn events(scenario: &Scenario, user: UserId) -> Vec<(Option<UserId>, String)> {
    let filter = SecurityEventFilter { user: Some(user), kind: Some(SecurityEventKind::OperatorAction) };
    let rows = scenario.store.events(filter, PageRequest::new(1, 100)).await.unwrap().rows;
    rows.into_iter().map(|(_, event)| (event.actor, event.detail.unwrap().as_str().to_owned())).collect()
}
