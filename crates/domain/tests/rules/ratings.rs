//! Ratings of requests: which ones, for how long, and what the DJ's ratings become.

use crate::support::{DJ, Ledger, at, money, terms, user};
use cuepoint_domain::ids::{GigId, RatingId, RequestId};
use cuepoint_domain::music_request::{Move, MoveRefusal, MusicRequest, RequestRating, RequestStatus, Stars};
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::operation::{Rejection, plans};
use cuepoint_domain::timestamp::Timestamp;
use time::Duration;

fn stars(number: u8) -> Stars {
    Stars::new(number).unwrap()
}

/// A ledger with a request that was played at 2 seconds, for this fee.
fn played(fee: i128) -> (Ledger, MusicRequest) {
    let mut ledger = Ledger::new(fee, 5_000);
    let request = ledger.open(1, &terms(0)).unwrap();
    ledger.step(1, Move::Play, &terms(0)).unwrap();
    let played = ledger.book.get(request.id).unwrap().clone();
    (ledger, played)
}

fn rated(ledger: &mut Ledger, request: &MusicRequest, number: u8, now: Timestamp) -> Result<(), Rejection> {
    let earlier = ledger.book.get(RatingId::of(request.id)).copied();
    let plan = plans::rate_request(ledger.metadata(now), request, earlier, stars(number)).unwrap();
    ledger.apply(&plan).map(drop)
}

fn ratings(ledger: &Ledger) -> (i64, i64) {
    let rating = ledger.book.get(user(DJ)).unwrap().dj.as_ref().unwrap().rating;
    (rating.stars, rating.count)
}

#[test]
fn a_rating_has_one_to_five_stars() {
    for (number, is_valid) in [(0, false), (1, true), (5, true), (6, false), (u8::MAX, false)] {
        assert_eq!(Stars::new(number).is_some(), is_valid, "{number}");
    }
}

#[test]
fn played_requests_can_be_rated_for_seven_days() {
    let (mut ledger, request) = played(100);
    let end = at(2).plus(RequestRating::WITHIN);
    let last = end.minus(Duration::MICROSECOND);
    assert_eq!(rated(&mut ledger, &request, 5, last), Ok(()));
    let metadata = ledger.metadata(end);
    let late = plans::rate_request(metadata, &request, None, stars(5));
    let refusal = MoveRefusal::InvalidTransition { current: RequestStatus::Played, allowed: Vec::new() };
    assert_eq!(late, Err(refusal));
}

#[test]
fn only_paid_played_requests_can_be_rated() {
    let (mut ledger, request) = played(100);
    let open = ledger.open(2, &terms(0)).unwrap();
    let free = MusicRequest { fee: money(0), ..request.clone() };
    ledger.step(1, Move::Refund, &terms(0)).unwrap();
    let refunded = ledger.book.get(request.id).unwrap().clone();
    for (request, current) in [
        (&open, RequestStatus::Pending),
        (&free, RequestStatus::Played),
        (&refunded, RequestStatus::Refunded),
    ] {
        let decided = plans::rate_request(ledger.metadata(at(3)), request, None, stars(1));
        assert_eq!(decided, Err(MoveRefusal::InvalidTransition { current, allowed: Vec::new() }));
    }
}

#[test]
fn a_new_rating_replaces_the_previous_one() {
    let (mut ledger, request) = played(100);
    for (number, seconds, expected) in [(2, 3, (2, 1)), (5, 4, (5, 1)), (1, 5, (1, 1)), (1, 6, (1, 1))] {
        rated(&mut ledger, &request, number, at(seconds)).unwrap();
        assert_eq!(ratings(&ledger), expected, "{number} stars");
    }
    let rating = ledger.book.get(RatingId::of(request.id)).unwrap();
    assert_eq!(rating.rated_at, at(5), "the same stars change nothing");
    ledger.audit().unwrap();
}

/// A guest sells ratings by requests at the lowest fee, and an accomplice gets the money back.
#[test]
fn many_ratings_of_a_guest_count_once() {
    let (mut ledger, request) = played(1);
    for number in 1..=8 {
        let next = MusicRequest { id: RequestId::new(number).unwrap(), ..request.clone() };
        rated(&mut ledger, &next, 5, at(2 + number)).unwrap();
        assert_eq!(ratings(&ledger), (5, 1));
    }
}

#[test]
fn the_newest_rating_of_each_guest_and_gig_counts() {
    let (mut ledger, request) = played(100);
    let made = |number, guest, gig: Option<i64>| MusicRequest {
        id: RequestId::new(number).unwrap(),
        requester: user(guest),
        gig: gig.and_then(GigId::new),
        ..request.clone()
    };
    for (request, stars, seconds, expected) in [
        (made(1, 7, Some(1)), 5, 3, (5, 1)),
        (made(2, 7, Some(1)), 1, 4, (1, 1)),
        (made(3, 8, Some(1)), 3, 5, (4, 2)),
        (made(4, 7, Some(2)), 4, 6, (8, 3)),
        (made(5, 7, None), 2, 7, (10, 4)),
        (made(6, 7, None), 5, 8, (13, 4)),
        // A changed rating is the newest one.
        (made(1, 7, Some(1)), 4, 9, (16, 4)),
        // The clock of another server was behind.
        (made(7, 7, Some(1)), 1, 8, (16, 4)),
        (made(8, 7, Some(1)), 1, 10, (13, 4)),
    ] {
        rated(&mut ledger, &request, stars, at(seconds)).unwrap();
        assert_eq!(ratings(&ledger), expected, "{} at {seconds}", request.id);
    }
    ledger.audit().unwrap();
}

#[test]
fn only_one_of_two_concurrent_first_ratings_is_applied() {
    let (mut ledger, request) = played(100);
    let first = plans::rate_request(ledger.metadata(at(3)), &request, None, stars(4)).unwrap();
    let second = plans::rate_request(ledger.metadata(at(3)), &request, None, stars(2)).unwrap();
    ledger.apply(&first).unwrap();
    assert_eq!(ledger.apply(&second), Err(Rejection::Stale));
    assert_eq!(ratings(&ledger), (4, 1));
}

#[test]
fn ratings_require_feature_level_2() {
    let (mut ledger, request) = played(100);
    ledger.book.feature_level = FeatureLevel::Level1;
    assert_eq!(rated(&mut ledger, &request, 5, at(3)), Err(Rejection::NotFinalized));
    ledger.book.feature_level = FeatureLevel::Level2;
    assert_eq!(rated(&mut ledger, &request, 5, at(3)), Ok(()));
}
