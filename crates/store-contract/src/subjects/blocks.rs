//! Guests blocked by DJs.

use std::sync::Arc;

use cuepoint_domain::music_request::OpenRefusal;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::Store;
use cuepoint_domain::user::{ArtistType, Block};

use crate::harness::scenario::{Refused, Scenario, at, at_once};

promises! { ($) blocks as blocks_promises {
    a_blocked_guest_cannot_send_requests_to_the_dj_who_blocked_them,
    a_repeated_block_keeps_the_time_of_the_first_one,
    blocks_are_listed_newest_first,
}}
/// A blocked guest cannot make requests of that DJ until unblocked, but can of other DJs.
pub async fn a_blocked_guest_cannot_send_requests_to_the_dj_who_blocked_them(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj, other) = (scenario.guest(1_000).await, scenario.dj(100).await, scenario.dj(100).await);
    let open = async |dj| {
        let metadata = scenario.by(guest, at(2));
        scenario.request_plan(metadata, guest, dj, ArtistType::Popular, None).await.map(drop)
    };
    assert!(!scenario.store.is_blocked(dj, guest).await.unwrap());
    assert!(scenario.store.block(dj, guest, at(1)).await.unwrap().is_some());
    assert!(scenario.store.is_blocked(dj, guest).await.unwrap());
    assert!(!scenario.store.is_blocked(guest, dj).await.unwrap(), "a block has a direction");
    assert_eq!(open(dj).await, Err(Refused::Open(OpenRefusal::Blocked)));
    assert_eq!(open(other).await, Ok(()));
    assert!(scenario.store.unblock(dj, guest).await.unwrap());
    assert!(!scenario.store.unblock(dj, guest).await.unwrap());
    assert_eq!(open(dj).await, Ok(()));
}

/// A repeated block keeps the time of the first one, also under concurrency; an unknown user cannot be
/// blocked.
pub async fn a_repeated_block_keeps_the_time_of_the_first_one(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(0).await, scenario.dj(100).await);
    let name = scenario.user(guest).await.name;
    let first = Some(Block { guest, name, at: at(1) });
    assert_eq!(scenario.store.block(dj, guest, at(1)).await.unwrap(), first);
    assert_eq!(scenario.store.block(dj, guest, at(9)).await.unwrap(), first);
    let nobody = scenario.ids.next_user().await.unwrap();
    assert_eq!(scenario.store.block(dj, nobody, at(1)).await.unwrap(), None);
    let other = scenario.guest(0).await;
    let tasks = (0..20).map(|number| {
        let scenario = scenario.clone();
        async move { scenario.store.block(dj, other, at(number)).await.unwrap().unwrap() }
    });
    let answers = at_once(tasks).await;
    assert!(answers.iter().all(|block| *block == answers[0]), "{answers:?}");
}

/// A DJ's blocks are listed newest first, with names, in pages, without those of other DJs.
pub async fn blocks_are_listed_newest_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (dj, other) = (scenario.dj(100).await, scenario.dj(100).await);
    let mut blocks = Vec::new();
    for seconds in [5, 3, 3, 9, 3] {
        let guest = scenario.guest(0).await;
        blocks.push(scenario.store.block(dj, guest, at(seconds)).await.unwrap().unwrap());
    }
    scenario.store.block(other, dj, at(1)).await.unwrap();
    assert!(!scenario.store.unblock(other, blocks[0].guest).await.unwrap(), "another DJ's block");
    blocks.sort_by_key(|block| std::cmp::Reverse((block.at, block.guest)));
    let page =
        async |dj, number, size| scenario.store.blocks(dj, PageRequest::new(number, size)).await.unwrap();
    assert_eq!(page(dj, 1, 15).await, Rows { rows: blocks.clone(), total: 5 });
    assert_eq!(page(dj, 2, 2).await, Rows { rows: blocks[2..4].to_vec(), total: 5 });
    assert_eq!(page(dj, u64::MAX, 100).await, Rows::none(5));
    assert_eq!(page(other, 1, 15).await.rows.first().map(|block| block.guest), Some(dj));
}
