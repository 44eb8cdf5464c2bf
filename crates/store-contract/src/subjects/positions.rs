//! Positions of operations: 1, 2, 3 … in the order of commits, without gaps.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuepoint_domain::ids::OperationId;
use cuepoint_domain::music_request::Move;
use cuepoint_domain::operation::{PlanKind, Position, PositionedOperation, StoredReceipt, plans};
use cuepoint_domain::ports::{Applied, Store};
use cuepoint_domain::topup::Charge;

use crate::harness::scenario::{Scenario, amount, at, at_once, request_of};

promises! { ($) positions as positions_promises {
    operations_are_listed_in_the_order_of_their_positions,
    reads_start_after_the_given_position_and_keep_to_the_limit,
    refused_and_repeated_plans_take_no_position,
    readers_see_every_concurrent_operation_once,
    operations_are_listed_for_every_user_involved,
    a_reader_following_one_user_misses_no_operation,
    commits_are_announced_to_waiting_readers,
}}

async fn after(store: &dyn Store, position: Position, limit: u32) -> Vec<PositionedOperation> {
    store.operations(None, position, limit).await.unwrap().operations
}

/// The newest position.
async fn newest(store: &dyn Store) -> i64 {
    store.operations(None, Position::START, 1).await.unwrap().newest.get()
}

fn numbers(operations: &[PositionedOperation]) -> Vec<i64> {
    operations.iter().map(|operation| operation.position.get()).collect()
}

/// Each applied operation is listed once, in the order of application, with its kind and receipt.
pub async fn operations_are_listed_in_the_order_of_their_positions(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let store = &*scenario.store;
    assert_eq!(newest(store).await, 0);
    assert_eq!(after(store, Position::START, 100).await, []);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(300).await);
    let request = scenario.request(guest, dj, at(1)).await;
    let accepted = scenario.move_request(request.id, Move::Accept, at(2)).await.unwrap();
    let played = scenario.move_request(request.id, Move::Play, at(3)).await.unwrap();
    let all = after(store, Position::START, 100).await;
    assert_eq!(numbers(&all), [1, 2, 3, 4, 5]);
    assert_eq!(newest(store).await, 5);
    let kinds = all.iter().map(|operation| operation.kind.unwrap());
    let kinds: Vec<PlanKind> = kinds.collect();
    let moved = PlanKind::MoveRequest;
    assert_eq!(kinds, [PlanKind::OpenTopup, PlanKind::Profile, PlanKind::OpenRequest, moved, moved]);
    assert_eq!(all[2].receipt.whole().map(request_of), Some(request));
    assert_eq!(all[3].receipt, StoredReceipt::Whole(accepted.receipt().clone()));
    assert_eq!(all[4].receipt, StoredReceipt::Whole(played.receipt().clone()));
}

/// A read begins after the given position and is as long as its limit.
pub async fn reads_start_after_the_given_position_and_keep_to_the_limit(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(0).await;
    for _ in 0..7 {
        scenario.fund(guest, 1).await;
    }
    let mut seen = Vec::new();
    let mut last = Position::START;
    loop {
        let page = after(&*scenario.store, last, 3).await;
        let Some(newest) = page.last() else { break };
        assert!(page.len() <= 3);
        last = newest.position;
        seen.extend(numbers(&page));
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(after(&*scenario.store, Position::new(i64::MAX).unwrap(), 3).await, []);
}

/// A refused plan and a repeated operation take no position.
pub async fn refused_and_repeated_plans_take_no_position(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(0).await;
    let topup = scenario.ids.next_topup().await.unwrap();
    let plan = plans::open_topup(scenario.by(guest, at(0)), topup, guest, amount(1), Charge::Confirmed);
    scenario.fresh(plan.clone()).await;
    assert!(matches!(scenario.apply(plan).await, Ok(Applied::Replayed(_))));
    assert!(scenario.withdraw(guest, 100, at(1)).await.is_err());
    scenario.fund(guest, 1).await;
    assert_eq!(numbers(&after(&*scenario.store, Position::START, 100).await), [1, 2]);
}

/// Whoever follows the operations while they are committed sees each of them once, in order.
pub async fn readers_see_every_concurrent_operation_once(store: Arc<dyn Store>) {
    const GUESTS: usize = 8;
    const EACH: usize = 25;
    let scenario = Scenario::new(store);
    let mut guests = Vec::new();
    for _ in 0..GUESTS {
        guests.push(scenario.guest(0).await);
    }
    let follower = tokio::spawn({
        let store = Arc::clone(&scenario.store);
        async move {
            let mut seen = Vec::new();
            let mut last = Position::START;
            while seen.len() < GUESTS * EACH {
                for operation in after(&*store, last, 10).await {
                    assert_eq!(operation.position, last.next());
                    last = operation.position;
                    seen.push(operation.receipt.operation());
                }
            }
            seen
        }
    });
    let topups = guests.into_iter().map(|guest| {
        let scenario = scenario.clone();
        async move {
            let mut made = Vec::new();
            for _ in 0..EACH {
                let id = scenario.ids.next_topup().await.unwrap();
                let plan =
                    plans::open_topup(scenario.by(guest, at(0)), id, guest, amount(1), Charge::Confirmed);
                made.push(scenario.fresh(plan).await.operation);
            }
            made
        }
    });
    let made: BTreeSet<OperationId> = at_once(topups).await.into_iter().flatten().collect();
    let seen = follower.await.unwrap();
    assert_eq!(seen.len(), made.len());
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), made);
}

/// A user is shown the operations with an event that concerns them: a request as its guest or its DJ, and the
/// own money.
pub async fn operations_are_listed_for_every_user_involved(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(300).await);
    let stranger = scenario.guest(0).await;
    let request = scenario.request(guest, dj, at(1)).await;
    scenario.move_request(request.id, Move::Play, at(2)).await.unwrap();
    scenario.withdraw(dj, 100, at(3)).await.unwrap();
    scenario.fresh(scenario.adjust_plan(scenario.by(dj, at(4)), guest, -1).await).await;
    scenario.fund(stranger, 1).await;
    let concerning = async |user, after, limit| {
        let after = Position::new(after).unwrap();
        let page = scenario.store.operations(Some(user), after, limit).await.unwrap();
        let all = self::after(&*scenario.store, Position::START, 100).await;
        assert!(page.operations.iter().all(|operation| all.contains(operation)));
        assert_eq!(page.newest.get(), 7);
        numbers(&page.operations)
    };
    // 1: the guest's top-up, 2: the DJ's prices, which are no event, 3 and 4: the request.
    assert_eq!(concerning(guest, 0, 100).await, [1, 3, 4, 6]);
    assert_eq!(concerning(dj, 0, 100).await, [3, 4, 5]);
    assert_eq!(concerning(stranger, 0, 100).await, [7]);
    assert_eq!(concerning(guest, 1, 100).await, [3, 4, 6]);
    assert_eq!(concerning(dj, 0, 2).await, [3, 4]);
    assert_eq!(concerning(dj, 4, 2).await, [5]);
}

/// Whoever follows the operations that concern one user while they are committed misses none.
pub async fn a_reader_following_one_user_misses_no_operation(store: Arc<dyn Store>) {
    const EACH: usize = 50;
    const ALL: i64 = 100;
    let scenario = Scenario::new(store);
    let (guest, other) = (scenario.guest(0).await, scenario.guest(0).await);
    let follower = tokio::spawn({
        let store = Arc::clone(&scenario.store);
        async move {
            let mut seen = 0;
            let mut last = Position::START;
            while seen < EACH {
                let page = store.operations(Some(guest), last, 10).await.unwrap();
                seen += page.operations.len();
                let is_full = page.operations.len() == 10;
                let newest = page.operations.last().map(|operation| operation.position);
                last = newest.filter(|_| is_full).unwrap_or(page.newest);
                assert!(last.get() < ALL || seen >= EACH, "{seen} of {EACH} were seen");
            }
        }
    });
    let topups = [guest, other].map(|user| {
        let scenario = scenario.clone();
        async move {
            for _ in 0..EACH {
                scenario.fund(user, 1).await;
            }
        }
    });
    at_once(topups).await;
    follower.await.unwrap();
}

/// A waiting reader learns of the next commit, and immediately of commits since its last wait.
pub async fn commits_are_announced_to_waiting_readers(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(0).await;
    let store = &*scenario.store;
    scenario.fund(guest, 1).await;
    let first = store.announced_after(0).await;
    assert!(first > 0);
    let (second, ()) = tokio::join!(store.announced_after(first), async {
        scenario.fund(guest, 1).await;
    });
    assert!(second > first);
    scenario.fund(guest, 1).await;
    assert!(store.announced_after(second).await > second);
}
