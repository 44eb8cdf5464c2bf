//! Ratings of played requests, and the ratings of the DJ that follow from them.

use std::sync::Arc;

use cuepoint_domain::ids::{RatingId, UserId};
use cuepoint_domain::music_request::{Move, MusicRequest, RequestRating, Stars};
use cuepoint_domain::operation::{Plan, Rejection, plans};
use cuepoint_domain::ports::{Applied, Erased, Store};
use cuepoint_domain::privacy::personal_data::{ExportList, ExportRecord};

use crate::harness::races::{fresh, race};
use crate::harness::scenario::{Scenario, at, at_once};
use crate::subjects::gigs::{ended, opened, request_in};

promises! { ($) ratings as ratings_promises {
    only_the_newest_rating_of_a_guest_counts,
    each_gig_gives_a_guest_a_voice,
    concurrent_ratings_of_a_guest_count_once,
    only_one_of_several_concurrent_first_ratings_of_a_request_counts,
    a_rating_survives_a_refund_and_an_erasure,
    ratings_are_exported_only_to_the_guest_who_gave_them,
}}

async fn played(scenario: &Scenario, guest: UserId, dj: UserId) -> MusicRequest {
    let request = scenario.request(guest, dj, at(1)).await;
    scenario.move_request(request.id, Move::Play, at(2)).await.unwrap();
    scenario.stored_request(request.id).await
}

async fn stored(scenario: &Scenario, request: &MusicRequest) -> Option<RequestRating> {
    scenario.stored(RatingId::of(request.id)).await
}

/// The plan of a rating as it is decided now.
async fn plan(scenario: &Scenario, request: &MusicRequest, stars: u8, seconds: i64) -> Plan {
    let (metadata, earlier) = (scenario.by(request.requester, at(seconds)), stored(scenario, request).await);
    plans::rate_request(metadata, request, earlier, Stars::new(stars).unwrap()).unwrap()
}

/// The sum of the DJ's stars and the number of their ratings.
async fn ratings_of(scenario: &Scenario, dj: UserId) -> (i64, i64) {
    let rating = scenario.user(dj).await.dj.unwrap().rating;
    (rating.stars, rating.count)
}

/// A rating reads back, counts for its DJ, and is replaced by a later one of the same guest, of any request.
pub async fn only_the_newest_rating_of_a_guest_counts(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(100).await);
    let (one, other) = (played(&scenario, guest, dj).await, played(&scenario, guest, dj).await);
    assert_eq!(stored(&scenario, &one).await, None);
    for (request, stars, seconds, sums) in
        [(&one, 4, 3, (4, 1)), (&other, 5, 4, (5, 1)), (&one, 1, 5, (1, 1)), (&one, 1, 6, (1, 1))]
    {
        let plan = plan(&scenario, request, stars, seconds).await;
        scenario.apply(plan).await.unwrap();
        assert_eq!(ratings_of(&scenario, dj).await, sums, "{stars} stars at {seconds}");
    }
    let rating = |request: &MusicRequest, stars, seconds| {
        let (id, stars) = (RatingId::of(request.id), Stars::new(stars).unwrap());
        Some(RequestRating { id, stars, rated_at: at(seconds) })
    };
    assert_eq!(stored(&scenario, &one).await, rating(&one, 1, 5), "the same stars change nothing");
    assert_eq!(stored(&scenario, &other).await, rating(&other, 5, 4));
    let late = plan(&scenario, &other, 2, 4).await;
    scenario.fresh(late).await;
    assert_eq!(ratings_of(&scenario, dj).await, (1, 1), "it is older than the one that counts");
}

/// Each guest has one voice in each gig and one outside gigs.
pub async fn each_gig_gives_a_guest_a_voice(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, other) = (scenario.guest(1_000).await, scenario.guest(1_000).await);
    let dj = scenario.dj(100).await;
    let outside = played(&scenario, guest, dj).await;
    let mut rated = vec![(outside, 5, (5, 1))];
    for (begins, sums) in [(10, [(9, 2), (7, 2), (8, 3)]), (20, [(12, 4), (10, 4), (11, 5)])] {
        let gig = opened(&scenario, dj, begins).await;
        for ((guest, stars), sums) in [(guest, 4), (guest, 2), (other, 1)].into_iter().zip(sums) {
            let request = request_in(&scenario, &gig, guest, begins + 1).await.id;
            scenario.move_request(request, Move::Play, at(begins + 2)).await.unwrap();
            rated.push((scenario.stored_request(request).await, stars, sums));
        }
        ended(&scenario, &gig, begins + 5).await;
    }
    for (seconds, (request, stars, sums)) in (30..).zip(&rated) {
        let plan = plan(&scenario, request, *stars, seconds).await;
        scenario.fresh(plan).await;
        assert_eq!(ratings_of(&scenario, dj).await, *sums, "{stars} stars at {seconds}");
    }
}

/// Concurrent ratings of several requests of a guest are all applied, and one counts.
pub async fn concurrent_ratings_of_a_guest_count_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(100).await);
    let mut decided = Vec::new();
    for stars in 1..=5 {
        let request = played(&scenario, guest, dj).await;
        decided.push(plan(&scenario, &request, stars, 3).await);
    }
    let answers = race(&scenario, decided).await;
    assert_eq!(fresh(&answers), 5, "{answers:?}");
    assert_eq!(
        ratings_of(&scenario, dj).await,
        (5, 1),
        "of those at one time, the one of the newest request"
    );
}

/// Of several first ratings of one request that are decided at once, one is applied, and the others are stale.
pub async fn only_one_of_several_concurrent_first_ratings_of_a_request_counts(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(100).await);
    let request = played(&scenario, guest, dj).await;
    let mut decided = Vec::new();
    for stars in 1..=5 {
        decided.push(plan(&scenario, &request, stars, 3).await);
    }
    let store = &scenario.store;
    let answers = at_once(decided.into_iter().map(|plan| {
        let store = store.clone();
        async move { store.apply(plan).await }
    }))
    .await;
    let applied: Vec<_> = answers.iter().filter(|answer| matches!(answer, Ok(Applied::Fresh(_)))).collect();
    assert_eq!(applied.len(), 1, "{answers:?}");
    let stale = |answer: &&Result<_, _>| {
        matches!(answer, Err(cuepoint_domain::ports::ApplyError::Rejected(Rejection::Stale)))
    };
    assert_eq!(answers.iter().filter(stale).count(), 4, "{answers:?}");
    let rating = stored(&scenario, &request).await.unwrap();
    assert_eq!(ratings_of(&scenario, dj).await, (i64::from(rating.stars.get()), 1));
}

/// A refund of the request and an erasure of its guest leave the rating as it is.
pub async fn a_rating_survives_a_refund_and_an_erasure(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, departing, dj) =
        (scenario.guest(100).await, scenario.guest(100).await, scenario.dj(100).await);
    let refunded = played(&scenario, guest, dj).await;
    let left = played(&scenario, departing, dj).await;
    for request in [&refunded, &left] {
        let plan = plan(&scenario, request, 3, 3).await;
        scenario.fresh(plan).await;
    }
    scenario.move_request(refunded.id, Move::Refund, at(4)).await.unwrap();
    assert_eq!(scenario.erase(departing, 5).await, Erased::Done);
    for request in [&refunded, &left] {
        assert!(stored(&scenario, request).await.is_some());
    }
    assert_eq!(ratings_of(&scenario, dj).await, (6, 2));
}

/// The ratings that a guest has given are listed by the request, newest first, and for nobody else.
pub async fn ratings_are_exported_only_to_the_guest_who_gave_them(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(100).await);
    let mut expected = Vec::new();
    for stars in 1..=3 {
        let request = played(&scenario, guest, dj).await;
        let plan = plan(&scenario, &request, stars, 3).await;
        scenario.fresh(plan).await;
        expected
            .insert(0, ExportRecord::Rating(stored(&scenario, &request).await.unwrap(), request.created_at));
    }
    played(&scenario, guest, dj).await;
    for limit in [1, 2, 100] {
        let mut listed: Vec<ExportRecord> = Vec::new();
        loop {
            let after = listed.last().map(ExportRecord::key);
            let page = scenario.store.records(guest, ExportList::Ratings, after, limit).await.unwrap();
            if page.is_empty() {
                break;
            }
            listed.extend(page);
        }
        assert_eq!(listed, expected, "by {limit}");
    }
    assert_eq!(scenario.store.records(dj, ExportList::Ratings, None, 100).await.unwrap(), []);
}
