//! Idempotency keys: stored with the outcome of their command for seven days.

use std::sync::Arc;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::music_request::Move;
use cuepoint_domain::operation::{
    IdempotencyKey, KeyRecord, OperationMetadata, Plan, Rejection, StoredReceipt, plans,
};
use cuepoint_domain::ports::{Applied, Store};
use cuepoint_domain::timestamp::Timestamp;
use time::Duration;

use crate::harness::scenario::{Scenario, at, balance, key, money};

promises! { ($) keys as keys_promises {
    an_idempotency_key_replays_its_first_answer,
    an_idempotency_key_with_another_body_is_refused,
    idempotency_keys_with_different_names_or_users_are_independent,
    a_refusal_does_not_consume_the_idempotency_key,
    idempotency_keys_are_kept_for_seven_days,
    a_purge_deletes_expired_idempotency_keys,
    idempotency_keys_of_commands_without_effect_are_kept,
    commands_with_neither_an_idempotency_key_nor_an_effect_leave_no_trace,
}}

async fn withdrawal(
    scenario: &Scenario,
    user: UserId,
    cents: i128,
    key: IdempotencyKey,
    at: Timestamp,
) -> Plan {
    let metadata = OperationMetadata { key: Some(key), ..scenario.by(user, at) };
    scenario.withdrawal_plan(metadata, user, cents).await.unwrap()
}

/// The same command under another operation id gets the first receipt, even when the money is gone.
pub async fn an_idempotency_key_replays_its_first_answer(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(500).await;
    let key = key(guest, "k", "body");
    assert_eq!(scenario.store.find_key(&key.scope).await.unwrap(), None);
    let receipt = scenario.fresh(withdrawal(&scenario, guest, 400, key, at(1)).await).await;

    let again = withdrawal(&scenario, guest, 400, key, at(2)).await;
    assert_eq!(scenario.apply(again).await, Ok(Applied::Replayed(receipt.clone())));
    assert_eq!(scenario.balance(guest).await, balance(100, 400));
    let record = KeyRecord { key, receipt: StoredReceipt::Whole(receipt), at: at(1) };
    assert_eq!(scenario.store.find_key(&key.scope).await.unwrap(), Some(record));
}

/// A key bound to another body refuses the command, before its state or funds are checked.
pub async fn an_idempotency_key_with_another_body_is_refused(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(500).await;
    let receipt =
        scenario.fresh(withdrawal(&scenario, guest, 400, key(guest, "k", "one"), at(1)).await).await;
    let other = withdrawal(&scenario, guest, 400, key(guest, "k", "two"), at(2)).await;
    assert_eq!(scenario.apply(other).await, Err(Rejection::KeyReused));
    assert_eq!(scenario.balance(guest).await, balance(100, 400));
    let kept = scenario.store.find_key(&key(guest, "k", "one").scope).await.unwrap().unwrap();
    assert_eq!(kept.receipt, StoredReceipt::Whole(receipt));
}

/// The same key of another user, or another key of the same user, is independent.
pub async fn idempotency_keys_with_different_names_or_users_are_independent(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (one, two) = (scenario.guest(500).await, scenario.guest(500).await);
    for key in [key(one, "k", "body"), key(one, "l", "body")] {
        scenario.fresh(withdrawal(&scenario, one, 100, key, at(1)).await).await;
    }
    scenario.fresh(withdrawal(&scenario, two, 100, key(two, "k", "body"), at(1)).await).await;
    assert_eq!(scenario.balance(one).await, balance(300, 200));
    assert_eq!(scenario.balance(two).await, balance(400, 100));
}

/// A refusal uses up no key: the command can be sent again when its cause is gone.
pub async fn a_refusal_does_not_consume_the_idempotency_key(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(500).await;
    let key = key(guest, "k", "body");
    let refused = scenario.apply(withdrawal(&scenario, guest, 600, key, at(1)).await).await;
    assert_eq!(refused, Err(Rejection::InsufficientFunds { available: money(500) }));
    assert_eq!(scenario.store.find_key(&key.scope).await.unwrap(), None);
    scenario.fund(guest, 100).await;
    scenario.fresh(withdrawal(&scenario, guest, 600, key, at(2)).await).await;
}

/// A key is bound to its receipt for seven days, to the microsecond, then to the next command that uses it.
pub async fn idempotency_keys_are_kept_for_seven_days(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(500).await;
    let key = key(guest, "k", "body");
    let receipt = scenario.fresh(withdrawal(&scenario, guest, 100, key, at(0)).await).await;
    let end = at(0).plus(Duration::days(7));

    let in_time = withdrawal(&scenario, guest, 100, key, end.minus(Duration::MICROSECOND)).await;
    assert_eq!(scenario.apply(in_time).await, Ok(Applied::Replayed(receipt.clone())));
    let record = scenario.store.find_key(&key.scope).await.unwrap().unwrap();
    assert_eq!((record.at, record.receipt.whole()), (at(0), Some(&receipt)));
    assert!(!record.is_kept(end), "an expired record can still be found until it is purged");

    let next = scenario.fresh(withdrawal(&scenario, guest, 100, key, end).await).await;
    assert_ne!(next, receipt);
    let record = scenario.store.find_key(&key.scope).await.unwrap().unwrap();
    assert_eq!((record.at, record.receipt), (end, StoredReceipt::Whole(next)));
    assert_eq!(scenario.balance(guest).await, balance(300, 200));
}

/// A purge deletes the keys past their retention, and no others; operations stay known forever.
pub async fn a_purge_deletes_expired_idempotency_keys(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(500).await;
    let (old, young) = (key(guest, "old", "body"), key(guest, "young", "body"));
    let first = withdrawal(&scenario, guest, 100, old, at(0)).await;
    let receipt = scenario.fresh(first.clone()).await;
    scenario.fresh(withdrawal(&scenario, guest, 100, young, at(1)).await).await;

    scenario.store.purge_expired(at(0).plus(Duration::days(7))).await.unwrap();
    assert_eq!(scenario.store.find_key(&old.scope).await.unwrap(), None);
    assert!(scenario.store.find_key(&young.scope).await.unwrap().is_some());
    assert_eq!(scenario.apply(first).await, Ok(Applied::Replayed(receipt)));
    assert_eq!(scenario.balance(guest).await, balance(300, 200));
}

/// A keyed command that changed nothing is stored too: its retry shows the state at that time, not a later
/// one.
pub async fn idempotency_keys_of_commands_without_effect_are_kept(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(500).await, scenario.dj(100).await);
    let request = scenario.request(guest, dj, at(1)).await;
    scenario.move_request(request.id, Move::Accept, at(2)).await.unwrap();
    let accepted = scenario.stored_request(request.id).await;
    let key = key(dj, "k", "accepted");
    let plan = |seconds| {
        let metadata = OperationMetadata { key: Some(key), ..scenario.by(dj, at(seconds)) };
        plans::move_request(metadata, &accepted, Move::Accept, &scenario.requests).unwrap()
    };
    let receipt = scenario.fresh(plan(3)).await;
    scenario.move_request(request.id, Move::Play, at(4)).await.unwrap();
    assert_eq!(scenario.apply(plan(5)).await, Ok(Applied::Replayed(receipt)));
}

/// Without a key, a command that changes nothing leaves no trace: submitted again, it shows the current
/// state.
pub async fn commands_with_neither_an_idempotency_key_nor_an_effect_leave_no_trace(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(500).await, scenario.dj(100).await);
    let request = scenario.request(guest, dj, at(1)).await;
    scenario.move_request(request.id, Move::Accept, at(2)).await.unwrap();
    let accepted = scenario.stored_request(request.id).await;
    let metadata = scenario.by(dj, at(3));
    let plan = plans::move_request(metadata, &accepted, Move::Accept, &scenario.requests).unwrap();
    let first = scenario.fresh(plan.clone()).await;
    assert_eq!(crate::harness::scenario::request_of(&first), accepted);
    let second = scenario.fresh(plan.clone()).await;
    assert_eq!(second, first, "no operation was kept, so it is no replay");
    scenario.move_request(request.id, Move::Play, at(4)).await.unwrap();
    assert_eq!(
        scenario.apply(plan).await,
        Err(Rejection::Stale),
        "a command without effect must not report an outdated state"
    );
}
