//! Gigs, the codes of DJs, and the requests of a gig.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuepoint_domain::gig::most_played::Play;
use cuepoint_domain::gig::{AssignedCode, DjCode, Gig, GigChange, GigRecord, GuestLimit, NewGig, QueueOrder};
use cuepoint_domain::ids::{GigId, RatingId, RequestId, UserId};
use cuepoint_domain::music_request::{
    Addressee, Move, MusicRequest, NewRequest, RequestRating, Stars, Voice,
};
use cuepoint_domain::operation::{Entity, Plan, Receipt, Rejection, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Applied, ApplyError, Erased, GigRequests, IdsInGig, Store};
use cuepoint_domain::privacy::personal_data::{ExportList, ExportRecord};
use cuepoint_domain::text::{GigTitle, ShortMessage};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{ArtistType, DjChange, Field, Locate};

use crate::harness::scenario::{Scenario, at, at_once, line, request_of};

promises! { ($) gigs as gigs_promises {
    an_opened_gig_reads_back_with_its_code,
    only_one_of_several_gigs_opened_at_once_is_open,
    the_newest_code_of_a_dj_is_the_current_one,
    requests_of_a_gig_include_open_ones_from_before_it,
    plays_of_a_dj_are_read_newest_first_and_without_refunded_ones,
    open_gigs_are_found_by_code_and_latitude,
    dedications_are_kept_for_thirty_days,
    an_erasure_removes_dedications_and_the_texts_of_gigs,
    gigs_and_dedications_are_exported,
}}

const CODES: [&str; 3] = ["K7TW3M", "B2C3D4", "ZZZZZ2"];

fn code(number: usize) -> DjCode {
    DjCode::new(CODES[number]).unwrap()
}

/// A code of this DJ that no other fixture of the test has.
fn code_of(dj: UserId) -> DjCode {
    DjCode::of_number(u64::try_from(dj.get()).unwrap())
}

fn new_gig(title: &str) -> NewGig {
    NewGig {
        title: GigTitle::new(title).unwrap(),
        venue: Some(line("Blue Room")),
        city: Some(line("Berlin")),
        place: Locate { latitude: Field::Set(Some(52.52)), longitude: Field::Set(Some(13.405)) },
        message: Some(ShortMessage::new("No slow songs").unwrap()),
        queue_order: QueueOrder::Arrival,
        max_open_per_guest: GuestLimit::new(100).unwrap(),
        members_only: true,
        asks_kind: true,
        prices: DjChange::default(),
        new_code: false,
    }
}

fn record_of(receipt: &Receipt) -> GigRecord {
    match receipt.outcome.entity {
        Entity::GigRecord(record) => record,
        ref other => panic!("no gig: {other:?}"),
    }
}

/// The plan of a gig as it is decided now.
async fn opening(scenario: &Scenario, dj: UserId, code: DjCode, now: Timestamp) -> Plan {
    let (code, is_new) = match scenario.store.code_of(dj).await.unwrap() {
        Some(previous) if previous.code == code => (previous, false),
        previous => (AssignedCode::following(previous.as_ref(), code, dj, now), true),
    };
    let id = scenario.ids.next_gig().await.unwrap();
    plans::open_gig(scenario.by(dj, now), id, code, is_new, new_gig("Friday")).unwrap()
}

/// A gig opened under the DJ's code of the fixture.
pub(crate) async fn opened(scenario: &Scenario, dj: UserId, seconds: i64) -> Gig {
    opened_under(scenario, dj, code_of(dj), seconds).await
}

/// A gig opened under this code.
pub(crate) async fn opened_under(scenario: &Scenario, dj: UserId, code: DjCode, seconds: i64) -> Gig {
    let plan = opening(scenario, dj, code, at(seconds)).await;
    let record = record_of(&scenario.fresh(plan).await);
    scenario.stored(record.id.gig()).await.unwrap()
}

pub(crate) async fn ended(scenario: &Scenario, gig: &Gig, seconds: i64) -> Gig {
    scenario.fresh(plans::end_gig(scenario.by(gig.dj, at(seconds)), gig)).await;
    scenario.stored(gig.id).await.unwrap()
}

/// A new request to a DJ, which can have a dedication.
pub(crate) fn song(dj: UserId, message: Option<&str>) -> NewRequest {
    NewRequest {
        dj,
        song_title: line("Blue Monday"),
        artist_name: line("New Order"),
        artist_type: ArtistType::Popular,
        music_url: None,
        fee: None,
        message: message.map(|message| ShortMessage::new(message).unwrap()),
    }
}

/// A request in a gig, with a dedication.
pub(crate) async fn request_in(scenario: &Scenario, gig: &Gig, guest: UserId, seconds: i64) -> MusicRequest {
    let dj = scenario.user(gig.dj).await;
    let new = song(gig.dj, Some("for Grace"));
    let id = scenario.ids.next_request().await.unwrap();
    let to = Addressee { gig: Some(gig.request_terms()), ..Addressee::of(Some(&dj)) };
    let metadata = scenario.by(guest, at(seconds));
    let plan = plans::open_request(metadata, id, guest, to, new, &scenario.requests).unwrap();
    request_of(&scenario.fresh(plan).await)
}

async fn requests_of(scenario: &Scenario, gig: &Gig, which: GigRequests) -> Vec<RequestId> {
    let requests = scenario.store.gig_requests(gig, which, at(0)).await.unwrap();
    requests.into_iter().map(|request| request.id).collect()
}

/// All fields of a gig read back, in each of its reads, and a change of each.
pub async fn an_opened_gig_reads_back_with_its_code(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let dj = scenario.dj(100).await;
    assert_eq!(scenario.store.open_gig(dj).await.unwrap(), None);
    let gig = opened(&scenario, dj, 1).await;
    let details = &gig.details;
    assert_eq!((gig.dj, gig.code, gig.opened_at, gig.ended_at), (dj, code_of(dj), at(1), None));
    assert_eq!((details.title.as_str(), details.queue_order), ("Friday", QueueOrder::Arrival));
    assert_eq!(scenario.store.open_gig(dj).await.unwrap().as_ref(), Some(&gig));
    let change = GigChange {
        title: Field::Set(GigTitle::new("Saturday").unwrap()),
        venue: Field::Set(None),
        place: Locate { latitude: Field::Set(None), longitude: Field::Set(None) },
        message: Field::Set(None),
        queue_order: Field::Set(QueueOrder::Rounds),
        members_only: Field::Set(false),
        asks_kind: Field::Set(false),
        ..GigChange::default()
    };
    scenario.fresh(plans::change_gig(scenario.by(dj, at(2)), &gig, &change).unwrap()).await;
    let changed = scenario.store.open_gig(dj).await.unwrap().unwrap();
    assert_eq!(changed.details.title.as_str(), "Saturday");
    assert_eq!((gig.details.asks_kind, changed.details.asks_kind), (true, false));
    assert_eq!((&changed.details.venue, changed.details.coordinates), (&None, None));
    assert_eq!(changed.details.city, gig.details.city);
    let first = ended(&scenario, &changed, 3).await;
    let second = opened(&scenario, dj, 4).await;
    let page = scenario.store.gigs(dj, PageRequest::new(1, 1)).await.unwrap();
    assert_eq!((page.rows, page.total), (vec![second], 2));
    let page = scenario.store.gigs(dj, PageRequest::new(2, 1)).await.unwrap();
    assert_eq!(page.rows, [first]);
}

/// Of several gigs that one DJ opens at once, one is open, and the others name it.
pub async fn only_one_of_several_gigs_opened_at_once_is_open(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let dj = scenario.dj(100).await;
    let first = opened(&scenario, dj, 1).await;
    ended(&scenario, &first, 2).await;
    let mut decided = Vec::new();
    for _ in 0..5 {
        decided.push(opening(&scenario, dj, code_of(dj), at(3)).await);
    }
    let store = &scenario.store;
    let answers = at_once(decided.into_iter().map(|plan| {
        let store = store.clone();
        async move { store.apply(plan).await }
    }))
    .await;
    let open = scenario.store.open_gig(dj).await.unwrap().unwrap().id;
    let applied = answers.iter().filter(|answer| matches!(answer, Ok(Applied::Fresh(_)))).count();
    let refused = |answer: &&Result<_, _>| matches!(answer, Err(ApplyError::Rejected(Rejection::GigOpen(gig))) if *gig == open);
    assert_eq!((applied, answers.iter().filter(refused).count()), (1, 4), "{answers:?}");
}

/// A code stays the same until a new one replaces it, and no code is assigned to another DJ.
pub async fn the_newest_code_of_a_dj_is_the_current_one(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let dj = scenario.dj(100).await;
    assert_eq!(scenario.store.code_of(dj).await.unwrap(), None);
    for (number, seconds) in [(0, 10), (0, 20), (1, 5), (2, 6)] {
        let plan = opening(&scenario, dj, code(number), at(seconds)).await;
        let record = record_of(&scenario.fresh(plan).await);
        assert_eq!(record.code, code(number));
        let current = scenario.store.code_of(dj).await.unwrap().unwrap();
        assert_eq!((current.code, current.dj), (code(number), dj), "at {seconds}");
        let gig = scenario.stored(record.id.gig()).await.unwrap();
        ended(&scenario, &gig, seconds + 1).await;
    }
    for number in 0..3 {
        assert_eq!(scenario.store.assigned(code(number)).await.unwrap().unwrap().dj, dj);
    }
    assert_eq!(scenario.store.assigned(DjCode::of_number(7)).await.unwrap(), None);
}

/// A gig has its own requests, and the open ones that its DJ received without a gig before its end.
pub async fn requests_of_a_gig_include_open_ones_from_before_it(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj, other) = (scenario.guest(1_000).await, scenario.dj(10).await, scenario.dj(10).await);
    let before = scenario.request(guest, dj, at(1)).await.id;
    let rejected = scenario.request(guest, dj, at(1)).await.id;
    scenario.move_request(rejected, Move::Reject, at(2)).await.unwrap();
    let second = scenario.request(guest, dj, at(2)).await.id;
    scenario.request(guest, other, at(1)).await;
    let gig = opened(&scenario, dj, 3).await;
    let open = request_in(&scenario, &gig, guest, 4).await.id;
    let played = request_in(&scenario, &gig, guest, 5).await.id;
    scenario.move_request(played, Move::Play, at(6)).await.unwrap();
    let cancelled = request_in(&scenario, &gig, guest, 7).await.id;
    scenario.move_request(cancelled, Move::Cancel, at(8)).await.unwrap();
    for (which, expected) in [
        (GigRequests::Open, vec![before, second, open]),
        (GigRequests::OpenAndPlayed { most: 2, most_without_gig: 2 }, vec![before, second, open, played]),
        // The lowest id of those without the gig.
        (GigRequests::OpenAndPlayed { most: 9, most_without_gig: 1 }, vec![before, open, played]),
        (GigRequests::OpenAndPlayed { most: 9, most_without_gig: 0 }, vec![open, played]),
        (GigRequests::OpenAndPlayed { most: 0, most_without_gig: 9 }, vec![before, second]),
    ] {
        let expected = Vec::from_iter(BTreeSet::from_iter(expected));
        assert_eq!(requests_of(&scenario, &gig, which).await, expected, "{which:?}");
    }
    let own = |guest, limit| {
        let (store, gig) = (scenario.store.clone(), gig.clone());
        async move {
            let own = store.requests_of_guest(&gig, guest, at(0), limit).await.unwrap();
            own.into_iter().map(|request| request.id).collect::<Vec<_>>()
        }
    };
    assert_eq!(own(guest, 50).await, [cancelled, played, open, second, before], "newest first");
    assert_eq!((own(guest, 2).await, own(other, 50).await), (vec![cancelled, played], Vec::new()));
    let ids = Vec::from_iter(BTreeSet::from([open, played]));
    let expected = IdsInGig { ids, cancelled: 1 };
    assert_eq!(scenario.store.ids_in_gig(gig.id).await.unwrap(), expected, "by id");
    let expected = Vec::from_iter(BTreeSet::from([open, played, cancelled]));
    let asked = [expected[2], RequestId::LAST, expected[0], expected[1]];
    let found = scenario.store.requests_of(&asked).await.unwrap();
    assert!(found.iter().map(|request| request.id).eq(expected), "by id");
    let gig = ended(&scenario, &gig, 10).await;
    let again = opened(&scenario, dj, 12).await;
    let last = request_in(&scenario, &again, guest, 13).await.id;
    let [found, others] = [&gig, &again].map(|gig| requests_of(&scenario, gig, GigRequests::Open));
    assert_eq!(found.await, [before, second, open], "not those made after the end");
    assert_eq!(others.await, [before, second, last]);
    let own = scenario.store.requests_of_guest(&gig, guest, at(0), 50).await.unwrap();
    let expected = [cancelled, played, open, second, before];
    assert!(own.iter().map(|request| request.id).eq(expected), "not those made after the end");
}

/// The plays of a DJ's requests, with and without a gig, by the time of the request.
pub async fn plays_of_a_dj_are_read_newest_first_and_without_refunded_ones(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj, other) = (scenario.guest(1_000).await, scenario.dj(10).await, scenario.dj(10).await);
    let plays = |of, created_after, limit| {
        let store = scenario.store.clone();
        async move {
            let plays = store.plays(of, at(created_after), limit).await.unwrap();
            let song = |play: &Play| {
                (play.song.title.as_str() == "Blue Monday") && play.song.artist.as_str() == "New Order"
            };
            assert!(plays.iter().all(song), "{plays:?}");
            plays.into_iter().map(|play| play.at).collect::<Vec<_>>()
        }
    };
    let mut requests = Vec::new();
    for (seconds, to) in [(1, dj), (2, dj), (3, dj), (4, dj), (5, dj), (5, other)] {
        requests.push(scenario.request(guest, to, at(seconds)).await.id);
    }
    let [first, second, refunded, accepted, rejected, others] = requests[..] else { panic!("{requests:?}") };
    scenario.move_request(accepted, Move::Accept, at(10)).await.unwrap();
    scenario.move_request(rejected, Move::Reject, at(10)).await.unwrap();
    // The second request is played before the first one.
    for (request, seconds) in [(second, 11), (first, 12), (refunded, 13), (others, 14)] {
        scenario.move_request(request, Move::Play, at(seconds)).await.unwrap();
    }
    scenario.move_request(refunded, Move::Refund, at(15)).await.unwrap();
    let gig = opened(&scenario, dj, 20).await;
    let in_gig = request_in(&scenario, &gig, guest, 21).await.id;
    scenario.move_request(in_gig, Move::Play, at(22)).await.unwrap();
    assert_eq!(plays(dj, 0, 100).await, [at(22), at(11), at(12)]);
    assert_eq!(plays(dj, 0, 2).await, [at(22), at(11)]);
    assert_eq!(plays(dj, 1, 100).await, [at(22), at(11)], "only requests created after the time");
    assert_eq!(plays(other, 0, 100).await, [at(14)]);
    assert_eq!(plays(guest, 0, 100).await, []);
}

/// The ratings of requests, the codes of recent gigs, and the places of open ones.
pub async fn open_gigs_are_found_by_code_and_latitude(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj, other) = (scenario.guest(1_000).await, scenario.dj(10).await, scenario.dj(10).await);
    let (gig, gone) = (opened(&scenario, dj, 1).await, opened(&scenario, other, 1).await);
    let played = request_in(&scenario, &gig, guest, 2).await.id;
    scenario.move_request(played, Move::Play, at(3)).await.unwrap();
    let played = scenario.stored_request(played).await;
    let stars = Stars::new(4).unwrap();
    let rate = plans::rate_request(scenario.by(guest, at(4)), &played, None, stars).unwrap();
    scenario.fresh(rate).await;
    let unrated = request_in(&scenario, &gig, guest, 5).await.id;
    let found = scenario.store.ratings(&BTreeSet::from([played.id, unrated])).await.unwrap();
    let rating = RequestRating { id: RatingId::of(played.id), stars, rated_at: at(4) };
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [(played.id, rating)]);
    assert_eq!(scenario.store.ratings_in_gig(gig.id).await.unwrap(), [(Voice::of(&played), rating)]);
    assert_eq!(scenario.store.ratings_in_gig(gone.id).await.unwrap(), []);
    let latitude = gig.details.coordinates.unwrap().latitude();
    let between = |south: f64, north: f64| {
        let store = scenario.store.clone();
        async move {
            let gigs = store.open_gigs_between(south, north, 100).await.unwrap();
            gigs.into_iter().map(|gig| gig.id).collect::<BTreeSet<GigId>>()
        }
    };
    assert_eq!(between(latitude, latitude).await, BTreeSet::from([gig.id, gone.id]));
    assert_eq!(between(latitude + 0.1, 90.0).await, BTreeSet::new());
    ended(&scenario, &gone, 6).await;
    assert_eq!(between(-90.0, 90.0).await, BTreeSet::from([gig.id]));
    let codes = |ended_after, limit| {
        let store = scenario.store.clone();
        async move { store.recent_codes(at(ended_after), limit).await.unwrap() }
    };
    assert_eq!(codes(6, 100).await, BTreeSet::from([gig.code]));
    assert_eq!(codes(5, 100).await, BTreeSet::from([gig.code, gone.code]));
    assert_eq!(codes(5, 0).await, BTreeSet::new());
}

/// The dedications of these requests, by their ids.
async fn dedications(scenario: &Scenario, requests: &[RequestId]) -> Vec<RequestId> {
    let of = requests.iter().copied().collect();
    let found = scenario.store.dedications(&of).await.unwrap();
    assert!(found.values().all(|message| message.as_str() == "for Grace"));
    let found: BTreeSet<RequestId> = found.into_keys().collect();
    found.into_iter().collect()
}

/// A purge removes the dedications of requests that are 30 days old.
pub async fn dedications_are_kept_for_thirty_days(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(0).await);
    let gig = opened(&scenario, dj, 1).await;
    let (old, new) =
        (request_in(&scenario, &gig, guest, 2).await.id, request_in(&scenario, &gig, guest, 3).await.id);
    assert_eq!(dedications(&scenario, &[old, new]).await, [old, new]);
    assert_eq!(dedications(&scenario, &[new]).await, [new]);
    let days = |seconds| at(seconds).plus(MusicRequest::DEDICATION_RETENTION);
    scenario.store.purge_expired(days(1)).await.unwrap();
    assert_eq!(dedications(&scenario, &[old, new]).await, [old, new]);
    scenario.store.purge_expired(days(2)).await.unwrap();
    assert_eq!(dedications(&scenario, &[old, new]).await, [new]);
}

/// An erasure of the guest removes the dedications, and one of the DJ the texts and places of gigs. Codes stay.
pub async fn an_erasure_removes_dedications_and_the_texts_of_gigs(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (departing, staying) = (scenario.guest(0).await, scenario.guest(0).await);
    let (dj, other) = (scenario.dj(0).await, scenario.dj(0).await);
    let (gig, others) = (opened(&scenario, dj, 1).await, opened(&scenario, other, 1).await);
    let gone = request_in(&scenario, &gig, departing, 2).await.id;
    let kept = request_in(&scenario, &gig, staying, 2).await.id;
    assert_eq!(scenario.erase(departing, 3).await, Erased::Done);
    assert_eq!(dedications(&scenario, &[gone, kept]).await, [kept]);
    assert_eq!(scenario.erase(dj, 4).await, Erased::Done);
    let erased = scenario.stored(gig.id).await.unwrap();
    let details = &erased.details;
    assert_eq!(details.title.as_str(), "Erased");
    assert_eq!(
        (&details.venue, &details.city, details.coordinates, &details.message),
        (&None, &None, None, &None)
    );
    assert_eq!(scenario.stored(others.id).await.unwrap(), others);
    assert_eq!(scenario.store.assigned(gig.code).await.unwrap().unwrap().dj, dj);
    let change = GigChange { city: Field::Set(Some(line("Berlin"))), ..GigChange::default() };
    let late = plans::change_gig(scenario.by(dj, at(5)), &erased, &change).unwrap();
    assert!(scenario.apply(late).await.is_err(), "an erased DJ's gig gets no new texts");
    let ended = ended(&scenario, &erased, 6).await;
    assert_eq!(ended.ended_at, Some(at(6)), "the service ends it");
}

/// A DJ exports their gigs, and a guest their requests with gig and dedication.
pub async fn gigs_and_dedications_are_exported(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(100).await, scenario.dj(0).await);
    let plain = scenario.request(guest, dj, at(1)).await;
    let first = opened(&scenario, dj, 2).await;
    let dedicated = request_in(&scenario, &first, guest, 3).await;
    let first = ended(&scenario, &first, 4).await;
    let second = opened(&scenario, dj, 5).await;
    let records = |user, list| {
        let store = scenario.store.clone();
        async move { store.records(user, list, None, 100).await.unwrap() }
    };
    let gigs = [second, first].map(ExportRecord::Gig);
    assert_eq!(records(dj, ExportList::Gigs).await, gigs);
    let message = Some(ShortMessage::new("for Grace").unwrap());
    let made = [ExportRecord::RequestMade(dedicated, message), ExportRecord::RequestMade(plain, None)];
    assert_eq!(records(guest, ExportList::RequestsMade).await, made);
    assert_eq!(records(guest, ExportList::Gigs).await, []);
}
