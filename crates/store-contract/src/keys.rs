//! Idempotency keys: stored with the outcome of their command for seven days.

use std::sync::Arc;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::plans;
use cuepoint_domain::ledger::{IdempotencyKey, KeyRecord, OperationMetadata, Plan, Rejection, StoredReceipt};
use cuepoint_domain::music_request::Move;
use cuepoint_domain::ports::{Applied, Store};
use cuepoint_domain::timestamp::Timestamp;
use time::Duration;

use crate::world::{World, at, balance, key, money};

async fn withdrawal(world: &World, user: UserId, cents: i128, key: IdempotencyKey, at: Timestamp) -> Plan {
    let metadata = OperationMetadata { key: Some(key), ..world.by(user, at) };
    world.withdrawal_plan(metadata, user, cents).await.unwrap()
}

/// The same command under another operation id gets the first receipt, even when the money is gone.
pub async fn a_key_replays_its_first_answer(store: Arc<dyn Store>) {
    let world = World::new(store);
    let guest = world.guest(500).await;
    let key = key(guest, "k", "body");
    assert_eq!(world.store.find_key(&key.scope).await.unwrap(), None);
    let receipt = world.fresh(withdrawal(&world, guest, 400, key, at(1)).await).await;

    let again = withdrawal(&world, guest, 400, key, at(2)).await;
    assert_eq!(world.apply(again).await, Ok(Applied::Replayed(receipt.clone())));
    assert_eq!(world.balance(guest).await, balance(100, 400));
    let record = KeyRecord { key, receipt: StoredReceipt::Whole(receipt), at: at(1) };
    assert_eq!(world.store.find_key(&key.scope).await.unwrap(), Some(record));
}

/// A key bound to another body refuses the command, before its state or funds are checked.
pub async fn a_key_with_another_body_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let guest = world.guest(500).await;
    let receipt = world.fresh(withdrawal(&world, guest, 400, key(guest, "k", "one"), at(1)).await).await;
    let other = withdrawal(&world, guest, 400, key(guest, "k", "two"), at(2)).await;
    assert_eq!(world.apply(other).await, Err(Rejection::KeyReused));
    assert_eq!(world.balance(guest).await, balance(100, 400));
    let kept = world.store.find_key(&key(guest, "k", "one").scope).await.unwrap().unwrap();
    assert_eq!(kept.receipt, StoredReceipt::Whole(receipt));
}

/// The same key of another user, or another key of the same user, is independent.
pub async fn keys_of_different_scopes_are_different(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (one, two) = (world.guest(500).await, world.guest(500).await);
    for key in [key(one, "k", "body"), key(one, "l", "body")] {
        world.fresh(withdrawal(&world, one, 100, key, at(1)).await).await;
    }
    world.fresh(withdrawal(&world, two, 100, key(two, "k", "body"), at(1)).await).await;
    assert_eq!(world.balance(one).await, balance(300, 200));
    assert_eq!(world.balance(two).await, balance(400, 100));
}

/// A refusal uses up no key: the command can be sent again when its cause is gone.
pub async fn a_refusal_uses_up_no_key(store: Arc<dyn Store>) {
    let world = World::new(store);
    let guest = world.guest(500).await;
    let key = key(guest, "k", "body");
    let refused = world.apply(withdrawal(&world, guest, 600, key, at(1)).await).await;
    assert_eq!(refused, Err(Rejection::InsufficientFunds { available: money(500) }));
    assert_eq!(world.store.find_key(&key.scope).await.unwrap(), None);
    world.fund(guest, 100).await;
    world.fresh(withdrawal(&world, guest, 600, key, at(2)).await).await;
}

/// A key is bound to its receipt for seven days, to the microsecond, then to the next command that uses it.
pub async fn a_key_is_kept_for_seven_days(store: Arc<dyn Store>) {
    let world = World::new(store);
    let guest = world.guest(500).await;
    let key = key(guest, "k", "body");
    let receipt = world.fresh(withdrawal(&world, guest, 100, key, at(0)).await).await;
    let end = at(0).plus(Duration::days(7));

    let in_time = withdrawal(&world, guest, 100, key, end.minus(Duration::MICROSECOND)).await;
    assert_eq!(world.apply(in_time).await, Ok(Applied::Replayed(receipt.clone())));
    let record = world.store.find_key(&key.scope).await.unwrap().unwrap();
    assert_eq!((record.at, record.receipt.whole()), (at(0), Some(&receipt)));
    assert!(!record.is_kept(end), "a record past its time can still be found until it is tidied away");

    let next = world.fresh(withdrawal(&world, guest, 100, key, end).await).await;
    assert_ne!(next, receipt);
    let record = world.store.find_key(&key.scope).await.unwrap().unwrap();
    assert_eq!((record.at, record.receipt), (end, StoredReceipt::Whole(next)));
    assert_eq!(world.balance(guest).await, balance(300, 200));
}

/// A purge deletes the keys past their retention, and no others; operations stay known forever.
pub async fn tidying_deletes_keys_past_their_time(store: Arc<dyn Store>) {
    let world = World::new(store);
    let guest = world.guest(500).await;
    let (old, young) = (key(guest, "old", "body"), key(guest, "young", "body"));
    let first = withdrawal(&world, guest, 100, old, at(0)).await;
    let receipt = world.fresh(first.clone()).await;
    world.fresh(withdrawal(&world, guest, 100, young, at(1)).await).await;

    world.store.purge_expired(at(0).plus(Duration::days(7))).await.unwrap();
    assert_eq!(world.store.find_key(&old.scope).await.unwrap(), None);
    assert!(world.store.find_key(&young.scope).await.unwrap().is_some());
    assert_eq!(world.apply(first).await, Ok(Applied::Replayed(receipt)));
    assert_eq!(world.balance(guest).await, balance(300, 200));
}

/// A keyed command that changed nothing is stored too: its retry shows the state at that time, not a later
/// one.
pub async fn a_key_is_kept_where_nothing_changed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (guest, dj) = (world.guest(500).await, world.dj(100).await);
    let request = world.request(guest, dj, at(1)).await;
    world.move_request(request.id, Move::Accept, at(2)).await.unwrap();
    let accepted = world.stored_request(request.id).await;
    let key = key(dj, "k", "accepted");
    let plan = |seconds| {
        let metadata = OperationMetadata { key: Some(key), ..world.by(dj, at(seconds)) };
        plans::move_request(metadata, &accepted, Move::Accept, &world.requests).unwrap()
    };
    let receipt = world.fresh(plan(3)).await;
    world.move_request(request.id, Move::Play, at(4)).await.unwrap();
    assert_eq!(world.apply(plan(5)).await, Ok(Applied::Replayed(receipt)));
}

/// Without a key, a command that changes nothing leaves no trace: submitted again, it shows the current
/// state.
pub async fn an_unchanged_thing_leaves_no_trace(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (guest, dj) = (world.guest(500).await, world.dj(100).await);
    let request = world.request(guest, dj, at(1)).await;
    world.move_request(request.id, Move::Accept, at(2)).await.unwrap();
    let accepted = world.stored_request(request.id).await;
    let metadata = world.by(dj, at(3));
    let plan = plans::move_request(metadata, &accepted, Move::Accept, &world.requests).unwrap();
    let first = world.fresh(plan.clone()).await;
    assert_eq!(crate::world::request_of(&first), accepted);
    let second = world.fresh(plan.clone()).await;
    assert_eq!(second, first, "no operation was kept, so it is no replay");
    world.move_request(request.id, Move::Play, at(4)).await.unwrap();
    assert_eq!(
        world.apply(plan).await,
        Err(Rejection::Stale),
        "nobody is told that it stands where it does not"
    );
}
