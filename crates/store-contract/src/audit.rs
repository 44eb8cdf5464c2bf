//! The ledger audit: a consistent ledger passes, also while it is in use.

use std::sync::Arc;

use cuepoint_domain::ledger::{Auditor, Progress, Summary};
use cuepoint_domain::music_request::Move;
use cuepoint_domain::ports::Store;
use futures_util::future::join_all;

use crate::world::{World, at};

/// A ledger without wallets, and one of empty wallets, are consistent.
pub async fn an_empty_ledger_is_sound(store: Arc<dyn Store>) {
    let world = World::new(store);
    assert_eq!(world.audit().await, Summary::default());
    world.guest(0).await;
    assert_eq!(world.audit().await, Summary { wallets: 1, ..Summary::default() });
}

/// Every wallet, entry, posting and entity is shown, and the ledger sums to zero.
pub async fn a_sound_ledger_passes(store: Arc<dyn Store>) {
    let world = World::new(store).with_commission(1_000);
    let (guest, dj) = (world.guest(1_000).await, world.dj(300).await);
    for (seconds, end) in [(1, Move::Play), (2, Move::Reject), (3, Move::Cancel), (4, Move::Play)] {
        let request = world.request(guest, dj, at(seconds)).await;
        world.move_request(request.id, end, at(seconds)).await.unwrap();
        if seconds == 4 {
            world.move_request(request.id, Move::Refund, at(5)).await.unwrap();
        }
    }
    let withdrawn = world.withdraw(dj, 100, at(6)).await.unwrap();
    assert_eq!(world.balance(dj).await, crate::world::balance(170, 100), "{withdrawn:?}");
    // Guest: a top-up, four holds, two captures, two releases, a refund. DJ: two earnings, a reversal, a
    // hold. Postings: the top-up, two commissions, one of them returned.
    let summary = Summary { wallets: 2, entries: 14, postings: 4, entities: 6 };
    assert_eq!(world.audit().await, summary);
    // An adjustment is an entity as well, though no list shows it.
    world.fresh(world.adjust_plan(world.by(guest, at(7)), guest, -1).await).await;
    assert_eq!(world.audit().await, Summary { entries: 15, postings: 5, entities: 7, ..summary });
}

/// The progress of an audit reaches the announced total and never exceeds it.
pub async fn a_self_check_says_how_far_it_is(store: Arc<dyn Store>) {
    let world = World::new(store);
    for guest in [world.guest(1_000).await, world.guest(0).await] {
        world.fund(guest, 100).await;
    }
    let (sender, told) = std::sync::mpsc::channel();
    let mut auditor = Auditor::new().reporting(move |progress| sender.send(progress).unwrap());
    world.store.show(&mut auditor).await.unwrap();
    auditor.finish().unwrap();
    let told: Vec<Progress> = told.into_iter().collect();
    assert!(told.iter().all(|progress| progress.expected == 6), "{told:?}");
    assert!(told.windows(2).all(|two| two[0].done <= two[1].done), "{told:?}");
    assert_eq!(told.last().map(|progress| progress.done), Some(6));
}

/// An audit that runs while money moves reports no inconsistency.
pub async fn a_ledger_in_use_is_never_accused(store: Arc<dyn Store>) {
    let world = World::new(store).with_commission(1_000);
    let dj = world.dj(10).await;
    let mut guests = Vec::new();
    for _ in 0..4 {
        guests.push(world.guest(1_000).await);
    }
    let traffic: Vec<_> = guests
        .into_iter()
        .map(|guest| {
            let world = world.clone();
            tokio::spawn(async move {
                for second in 0..25 {
                    let request = world.request(guest, dj, at(second)).await;
                    let end = if second % 2 == 0 { Move::Play } else { Move::Cancel };
                    world.move_request(request.id, end, at(second)).await.unwrap();
                }
            })
        })
        .collect();
    let traffic = tokio::spawn(join_all(traffic));
    while !traffic.is_finished() {
        world.audit().await;
    }
    assert!(traffic.await.unwrap().into_iter().all(|task| task.is_ok()));
    assert_eq!(world.audit().await.wallets, 5);
}
