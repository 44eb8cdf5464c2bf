//! The ends of gigs, and the changes that requests allow afterwards.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuepoint_domain::ids::GigId;
use cuepoint_domain::music_request::{Move, RequestStatus};
use cuepoint_domain::operation::{PlanKind, Position, Rejection, plans};
use cuepoint_domain::ports::{Erased, Store};
use cuepoint_domain::user::{DjChange, Field, ProfileChange, UserStatusChange};

use crate::harness::races::race;
use crate::harness::scenario::{Refused, Scenario, at};
use crate::subjects::gigs::{ended, opened, request_in};

promises! { ($) gig_ends as gig_ends_promises {
    gigs_end_by_time_and_with_their_dj,
    requests_of_an_ended_gig_are_only_released,
    requests_from_before_an_ended_gig_are_only_released,
    no_request_is_played_after_the_end_of_its_gig,
    ended_gigs_are_listed_until_they_are_settled,
}}

/// The work list has the gigs that were open for too long, and those of DJs who are suspended or erased.
pub async fn gigs_end_by_time_and_with_their_dj(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let [old, new, suspended, erased] =
        [scenario.dj(0).await, scenario.dj(0).await, scenario.dj(0).await, scenario.dj(0).await];
    let old = opened(&scenario, old, 1).await.id;
    let mut gone = Vec::new();
    for dj in [new, suspended, erased] {
        gone.push(opened(&scenario, dj, 100).await.id);
    }
    let change =
        plans::change_user_status(scenario.by(suspended, at(101)), suspended, UserStatusChange::Suspend);
    scenario.fresh(change).await;
    assert_eq!(scenario.erase(erased, 102).await, Erased::Done);
    let due = |seconds| {
        let store = scenario.store.clone();
        async move {
            let due = store.gigs_to_end(at(seconds), None, 100).await.unwrap();
            due.into_iter().map(|gig| gig.id).collect::<BTreeSet<GigId>>()
        }
    };
    assert_eq!(due(0).await, BTreeSet::from([gone[1], gone[2]]));
    assert_eq!(due(1).await, BTreeSet::from([old, gone[1], gone[2]]));
    for gig in due(1).await {
        let gig = scenario.stored(gig).await.unwrap();
        ended(&scenario, &gig, 103).await;
    }
    assert_eq!(due(100).await, BTreeSet::from([gone[0]]), "ended gigs are not listed");
}

/// The requests of an ended gig can be rejected and cancelled, but not accepted or played, even if the plan was made before
/// the end.
pub async fn requests_of_an_ended_gig_are_only_released(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(10).await);
    let gig = opened(&scenario, dj, 1).await;
    let pending = request_in(&scenario, &gig, guest, 2).await;
    let accepted = request_in(&scenario, &gig, guest, 2).await.id;
    scenario.move_request(accepted, Move::Accept, at(3)).await.unwrap();
    let earlier = plans::move_request(scenario.by(dj, at(3)), &pending, Move::Play, &scenario.requests);
    ended(&scenario, &gig, 4).await;
    let refused = |status| Rejection::GigEnded(status);
    assert_eq!(scenario.apply(earlier.unwrap()).await, Err(refused(RequestStatus::Pending)));
    for (id, to, status) in
        [(pending.id, Move::Accept, RequestStatus::Pending), (accepted, Move::Play, RequestStatus::Accepted)]
    {
        let answer = scenario.move_request(id, to, at(5)).await;
        assert_eq!(answer, Err(Refused::Rejected(refused(status))), "{to:?}");
    }
    scenario.move_request(pending.id, Move::Cancel, at(5)).await.unwrap();
    scenario.move_request(accepted, Move::Reject, at(5)).await.unwrap();
}

/// Once a gig has ended, requests from before it are treated like its own requests, even while a later gig is open.
/// Requests from after its end can be played.
pub async fn requests_from_before_an_ended_gig_are_only_released(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj, other) = (scenario.guest(1_000).await, scenario.dj(10).await, scenario.dj(10).await);
    let pending = scenario.request(guest, dj, at(1)).await.id;
    let accepted = scenario.request(guest, dj, at(1)).await.id;
    let elsewhere = scenario.request(guest, other, at(1)).await.id;
    let gig = opened(&scenario, dj, 2).await;
    scenario.move_request(accepted, Move::Accept, at(3)).await.unwrap();
    ended(&scenario, &gig, 4).await;
    let is_refused = |seconds| {
        let scenario = scenario.clone();
        async move {
            for (id, to, status) in [
                (pending, Move::Accept, RequestStatus::Pending),
                (pending, Move::Play, RequestStatus::Pending),
                (accepted, Move::Play, RequestStatus::Accepted),
            ] {
                let answer = scenario.move_request(id, to, at(seconds)).await;
                assert_eq!(answer, Err(Refused::Rejected(Rejection::GigEnded(status))), "{to:?}");
            }
        }
    };
    is_refused(5).await;
    opened(&scenario, dj, 6).await;
    is_refused(7).await;
    scenario.move_request(pending, Move::Cancel, at(8)).await.unwrap();
    scenario.move_request(accepted, Move::Reject, at(8)).await.unwrap();
    scenario.move_request(elsewhere, Move::Play, at(8)).await.unwrap();
    let next = opened(&scenario, other, 9).await;
    ended(&scenario, &next, 10).await;
    let profile = ProfileChange {
        dj: DjChange { online: Field::Set(true), ..DjChange::default() },
        ..ProfileChange::default()
    };
    scenario.fresh(plans::change_profile(scenario.by(other, at(11)), other, profile)).await;
    let later = scenario.request(guest, other, at(12)).await.id;
    scenario.move_request(later, Move::Play, at(13)).await.unwrap();
}

/// A play that races the end of the gig comes before it, or is refused.
pub async fn no_request_is_played_after_the_end_of_its_gig(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(10_000).await;
    for _ in 0..20 {
        let dj = scenario.dj(10).await;
        let before = scenario.request(guest, dj, at(1)).await;
        let gig = opened(&scenario, dj, 1).await;
        let request = request_in(&scenario, &gig, guest, 2).await;
        let play = |request| {
            plans::move_request(scenario.by(dj, at(3)), request, Move::Play, &scenario.requests).unwrap()
        };
        let end = plans::end_gig(scenario.by(dj, at(3)), &gig);
        let answers = race(&scenario, [play(&request), play(&before), end]).await;
        let [played, played_before, ended] = <[_; 3]>::try_from(answers).unwrap();
        ended.unwrap();
        let operations = scenario.store.operations(Some(dj), Position::START, 100).await.unwrap().operations;
        let last = operations.last().unwrap().kind.unwrap();
        assert_eq!(last, PlanKind::EndGig, "{played:?} {played_before:?}");
        for refusal in [played, played_before].into_iter().filter_map(Result::err) {
            assert_eq!(refusal, Rejection::GigEnded(RequestStatus::Pending));
        }
    }
}

/// Ended gigs are listed until they are settled.
pub async fn ended_gigs_are_listed_until_they_are_settled(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let mut gigs = Vec::new();
    for _ in 0..3 {
        let dj = scenario.dj(0).await;
        gigs.push(opened(&scenario, dj, 1).await);
    }
    scenario.store.settle_gig(gigs[0].id).await.unwrap();
    assert!(!scenario.stored(gigs[0].id).await.unwrap().settled, "an open gig is never settled");
    for gig in &gigs[..2] {
        ended(&scenario, gig, 2).await;
    }
    let unsettled = |after, limit| {
        let store = scenario.store.clone();
        async move {
            let gigs = store.unsettled_gigs(after, limit).await.unwrap();
            gigs.into_iter().map(|gig| gig.id).collect::<Vec<GigId>>()
        }
    };
    let mut ids: Vec<GigId> = gigs.iter().map(|gig| gig.id).collect();
    ids.pop();
    ids.sort_unstable();
    assert_eq!(unsettled(None, 100).await, ids);
    assert_eq!(unsettled(None, 1).await, ids[..1]);
    assert_eq!(unsettled(Some(ids[0]), 100).await, ids[1..]);
    scenario.store.settle_gig(ids[0]).await.unwrap();
    assert_eq!(unsettled(None, 100).await, ids[1..]);
    assert!(scenario.stored(ids[0]).await.unwrap().settled);
}
