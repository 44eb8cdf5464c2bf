//! Gigs: how they open, change and end, what they set of their DJ, and what their requests get.

use crate::support::{DJ, GUEST, Ledger, at, line, money, request, terms, user};
use cuepoint_domain::gig::{
    AssignedCode, DjCode, Gig, GigChange, GigRecord, GigRefusal, GigStatus, GuestLimit, NewGig, QueueOrder,
};
use cuepoint_domain::ids::{GigId, RequestId};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{
    Addressee, Agreement, GigRequestTerms, Move, MusicRequest, NewRequest, OpenRefusal, RequestState,
    RequestStatus, RequestTerms, judge, open,
};
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::operation::{Addition, Entity, Plan, Receipt, Rejection, plans};
use cuepoint_domain::text::{GigTitle, ShortMessage};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{DjChange, DjProfile, Field, Locate, ProfileRefusal, Standing, User};

fn code() -> AssignedCode {
    AssignedCode { code: DjCode::new("K7TW3M").unwrap(), dj: user(DJ), at: at(0) }
}

fn new_gig() -> NewGig {
    NewGig {
        title: GigTitle::new("Friday").unwrap(),
        venue: None,
        city: Some(line("Berlin")),
        place: Locate::default(),
        message: None,
        queue_order: QueueOrder::Rounds,
        max_open_per_guest: GuestLimit::new(2).unwrap(),
        members_only: false,
        asks_kind: false,
        prices: DjChange { fee_popular_song: Field::Set(money(700)), ..DjChange::default() },
        new_code: false,
    }
}

fn id(number: i64) -> GigId {
    GigId::new(number).unwrap()
}

fn opening(ledger: &mut Ledger, number: i64, now: Timestamp) -> Plan {
    plans::open_gig(ledger.metadata(now), id(number), code(), number == 1, new_gig()).unwrap()
}

/// A ledger whose DJ is offline, with a gig that was opened at 10 seconds.
fn opened() -> (Ledger, Gig) {
    let mut ledger = Ledger::new(500, 5_000);
    set_online(&mut ledger, false);
    let plan = opening(&mut ledger, 1, at(10));
    ledger.apply(&plan).unwrap();
    let gig = stored(&ledger, 1);
    (ledger, gig)
}

fn set_online(ledger: &mut Ledger, online: bool) {
    let mut dj = ledger.book.get(user(DJ)).unwrap().clone();
    dj.dj.as_mut().unwrap().online = online;
    ledger.book.put(dj);
}

fn stored(ledger: &Ledger, number: i64) -> Gig {
    ledger.book.get(id(number)).unwrap().clone()
}

fn profile(ledger: &Ledger) -> DjProfile {
    ledger.book.get(user(DJ)).unwrap().dj.clone().unwrap()
}

fn record(receipt: Receipt) -> GigRecord {
    match receipt.outcome.entity {
        Entity::GigRecord(record) => record,
        other => panic!("no record of a gig: {other:?}"),
    }
}

fn wish(message: Option<&str>) -> NewRequest {
    let example = request(0);
    NewRequest {
        dj: example.dj,
        song_title: example.song_title,
        artist_name: example.artist_name,
        artist_type: example.artist_type,
        music_url: None,
        fee: None,
        message: message.map(|message| ShortMessage::new(message).unwrap()),
    }
}

/// The plan of a request, with the gig of the DJ.
fn ask(
    ledger: &mut Ledger,
    number: i64,
    gig: Option<GigRequestTerms>,
    new: NewRequest,
    terms: &RequestTerms,
) -> Result<Plan, OpenRefusal> {
    let dj = ledger.book.get(user(DJ)).cloned();
    let metadata = ledger.metadata(at(20));
    let to = Addressee { gig, ..Addressee::of(dj.as_ref()) };
    plans::open_request(metadata, RequestId::new(number).unwrap(), user(GUEST), to, new, terms)
}

fn made(receipt: Receipt) -> MusicRequest {
    match receipt.outcome.entity {
        Entity::MusicRequest(request) => request,
        other => panic!("no request: {other:?}"),
    }
}

#[test]
fn opening_a_gig_sets_the_presence_and_the_prices_of_the_dj() {
    let mut ledger = Ledger::new(500, 0);
    set_online(&mut ledger, false);
    let plan = opening(&mut ledger, 1, at(10));
    assert_eq!(plan.feature_level(), FeatureLevel::Level2);
    let record = record(ledger.apply(&plan).unwrap());
    assert_eq!((record.id.gig(), record.dj, record.status), (id(1), user(DJ), GigStatus::Open));
    let profile = profile(&ledger);
    assert_eq!((profile.online, profile.fee_popular_song), (true, money(700)));
    assert_eq!(profile.fee_upcoming_artist, money(0), "a price that is not given stays");
}

#[test]
fn a_dj_has_at_most_one_open_gig() {
    let (mut ledger, gig) = opened();
    let second = opening(&mut ledger, 2, at(11));
    assert_eq!(ledger.apply(&second), Err(Rejection::GigOpen(gig.id)));
    let end = plans::end_gig(ledger.metadata(at(12)), &gig);
    ledger.apply(&end).unwrap();
    let second = opening(&mut ledger, 2, at(13));
    assert_eq!(record(ledger.apply(&second).unwrap()).id.gig(), id(2));
}

#[test]
fn a_gig_is_paused_while_its_dj_is_offline() {
    let (mut ledger, gig) = opened();
    for (accepting, status) in
        [(false, GigStatus::Paused), (false, GigStatus::Paused), (true, GigStatus::Open)]
    {
        let dj = DjChange { online: Field::Set(accepting), ..DjChange::default() };
        let change = GigChange { dj, ..GigChange::default() };
        let plan = plans::change_gig(ledger.metadata(at(11)), &gig, &change).unwrap();
        assert_eq!(record(ledger.apply(&plan).unwrap()).status, status);
        assert_eq!(profile(&ledger).online, accepting);
    }
    set_online(&mut ledger, false);
    let change = GigChange { title: Field::Set(GigTitle::new("Late").unwrap()), ..GigChange::default() };
    let plan = plans::change_gig(ledger.metadata(at(12)), &gig, &change).unwrap();
    assert_eq!(record(ledger.apply(&plan).unwrap()).status, GigStatus::Paused, "the DJ stays offline");
    assert_eq!(stored(&ledger, 1).details.title.as_str(), "Late");
}

#[test]
fn concurrent_changes_of_a_gig_are_stale() {
    let (mut ledger, gig) = opened();
    let change = |city: &str| GigChange { city: Field::Set(Some(line(city))), ..GigChange::default() };
    let [one, other] = ["Hamburg", "Munich"]
        .map(|city| plans::change_gig(ledger.metadata(at(11)), &gig, &change(city)).unwrap());
    let end = plans::end_gig(ledger.metadata(at(11)), &gig);
    ledger.apply(&one).unwrap();
    assert_eq!(ledger.apply(&other), Err(Rejection::Stale));
    assert_eq!(ledger.apply(&end), Err(Rejection::Stale));
}

#[test]
fn an_ended_gig_stays_ended() {
    let (mut ledger, gig) = opened();
    let end = plans::end_gig(ledger.metadata(at(30)), &gig);
    assert_eq!(record(ledger.apply(&end).unwrap()).status, GigStatus::Ended);
    assert!(!profile(&ledger).online);
    let ended = stored(&ledger, 1);
    assert_eq!(ended.ended_at, Some(at(30)));
    set_online(&mut ledger, true);
    let again = plans::end_gig(ledger.metadata(at(40)), &ended);
    assert_eq!(record(ledger.apply(&again).unwrap()).status, GigStatus::Ended);
    assert_eq!((stored(&ledger, 1), profile(&ledger).online), (ended.clone(), true), "nothing changes");
    let change = plans::change_gig(ledger.metadata(at(41)), &ended, &GigChange::default());
    assert_eq!(change.unwrap_err(), GigRefusal::Ended);
}

#[test]
fn a_gig_has_both_coordinates_or_neither() {
    let mut ledger = Ledger::new(500, 0);
    let half = Locate { latitude: Field::Set(Some(52.5)), longitude: Field::Set(None) };
    let new = NewGig { place: half, ..new_gig() };
    let refused = plans::open_gig(ledger.metadata(at(1)), id(1), code(), true, new);
    assert_eq!(refused.unwrap_err(), GigRefusal::Place(ProfileRefusal::LongitudeMissing));
}

#[test]
fn codes_of_a_dj_are_assigned_in_order_even_if_a_clock_is_behind() {
    let earlier = AssignedCode { at: at(100), ..code() };
    let next = DjCode::new("B2C3D4").unwrap();
    for (now, expected) in [(at(50), at(100)), (at(100), at(100)), (at(101), at(101))] {
        let assigned = AssignedCode::following(Some(&earlier), next, user(DJ), now);
        assert!(assigned.at > earlier.at && assigned.at >= expected, "{now:?}");
    }
    assert_eq!(AssignedCode::following(None, next, user(DJ), at(7)).at, at(7));
}

#[test]
fn a_request_in_a_gig_has_the_deadlines_of_the_gig() {
    let (mut ledger, gig) = opened();
    let terms = terms(0);
    let plan = ask(&mut ledger, 1, Some(gig.request_terms()), wish(None), &terms).unwrap();
    let request = made(ledger.apply(&plan).unwrap());
    assert_eq!(request.gig, Some(gig.id));
    assert_eq!(request.state, RequestState::Pending { answer_by: at(20).plus(terms.gig_pending_for) });
    let accepted = made(ledger.step(1, Move::Accept, &terms).unwrap());
    let RequestState::Accepted { at: accepted_at, play_by } = accepted.state else { panic!("{accepted:?}") };
    assert_eq!(play_by, accepted_at.plus(terms.gig_accepted_for));
}

#[test]
fn the_limit_of_open_requests_is_the_smaller_of_gig_and_deployment() {
    for (deployment, most) in [(None, 2), (Some(1), 1), (Some(5), 2)] {
        let (mut ledger, gig) = opened();
        let terms = RequestTerms { most_open_per_dj: deployment, ..terms(0) };
        for number in 1..=i64::from(most) {
            let plan = ask(&mut ledger, number, Some(gig.request_terms()), wish(None), &terms).unwrap();
            ledger.apply(&plan).unwrap();
        }
        let further = ask(&mut ledger, 9, Some(gig.request_terms()), wish(None), &terms).unwrap();
        assert_eq!(ledger.apply(&further), Err(Rejection::TooManyOpen(most)), "{deployment:?}");
    }
}

#[test]
fn a_request_that_was_decided_before_the_end_of_its_gig_is_stale() {
    let (mut ledger, gig) = opened();
    let plan = ask(&mut ledger, 1, Some(gig.request_terms()), wish(None), &terms(0)).unwrap();
    let end = plans::end_gig(ledger.metadata(at(20)), &gig);
    ledger.apply(&end).unwrap();
    assert_eq!(ledger.apply(&plan), Err(Rejection::Stale));
}

#[test]
fn a_request_from_before_a_gig_ends_with_it() {
    let mut ledger = Ledger::new(500, 5_000);
    for number in 1..=2 {
        ledger.open(number, &terms(0)).unwrap();
    }
    ledger.step(1, Move::Accept, &terms(0)).unwrap();
    let plan = opening(&mut ledger, 1, at(10));
    ledger.apply(&plan).unwrap();
    let play = |ledger: &mut Ledger, number, to| {
        let stored = ledger.book.get(RequestId::new(number).unwrap()).unwrap().clone();
        let plan = plans::move_request(ledger.metadata(at(22)), &stored, to, &terms(0)).unwrap();
        ledger.apply(&plan).map(drop)
    };
    let (mut during, gig) = (ledger.clone(), stored(&ledger, 1));
    assert_eq!(play(&mut during, 1, Move::Play), Ok(()), "the gig is open");
    let end = plans::end_gig(ledger.metadata(at(20)), &gig);
    ledger.apply(&end).unwrap();
    let refused = |status| Err(Rejection::GigEnded(status));
    assert_eq!(play(&mut ledger, 1, Move::Play), refused(RequestStatus::Accepted));
    assert_eq!(play(&mut ledger, 2, Move::Accept), refused(RequestStatus::Pending));
    // The DJ opens the next gig before the job has rejected the request.
    let next = opening(&mut ledger, 2, at(21));
    ledger.apply(&next).unwrap();
    assert_eq!(play(&mut ledger, 1, Move::Play), refused(RequestStatus::Accepted));
    assert_eq!(play(&mut ledger, 1, Move::Reject), Ok(()));
    assert_eq!(play(&mut ledger, 2, Move::Cancel), Ok(()));
}

#[test]
fn a_dedication_without_a_gig_is_refused() {
    let mut ledger = Ledger::new(500, 0);
    let dedicated = ask(&mut ledger, 1, None, wish(Some("for Grace")), &terms(0));
    assert_eq!(dedicated.unwrap_err(), OpenRefusal::DedicationWithoutGig);
}

#[test]
fn a_request_is_judged_before_its_guest_account_exists() {
    let (ledger, gig) = opened();
    let dj = ledger.book.get(user(DJ)).cloned().unwrap();
    let offline =
        User { dj: dj.dj.clone().map(|profile| DjProfile { online: false, ..profile }), ..dj.clone() };
    let members = GigRequestTerms { members_only: true, ..gig.request_terms() };
    let cheap = NewRequest { fee: Some(Agreement::Exactly(Money::from_minor(-1))), ..wish(None) };
    for (of, gig, new, expected) in [
        (&dj, Some(gig.request_terms()), wish(Some("for Grace")), None),
        (&dj, Some(members), wish(None), Some(OpenRefusal::MembersOnly)),
        (&dj, None, wish(Some("for Grace")), Some(OpenRefusal::DedicationWithoutGig)),
        (&offline, Some(gig.request_terms()), wish(None), Some(OpenRefusal::DjOffline)),
        (&dj, None, cheap, Some(OpenRefusal::FeeBelowPrice(dj.list_price(wish(None).artist_type)))),
    ] {
        let to = Addressee { gig, guest: Standing::GuestAccount, ..Addressee::of(Some(of)) };
        assert_eq!(judge(None, to, &new).err(), expected);
        let opened = open(RequestId::new(1).unwrap(), user(GUEST), to, new, &terms(0), at(20));
        assert_eq!(opened.err(), expected, "the rule of the request itself");
    }
}

#[test]
fn a_dedication_is_stored_beside_the_request_and_not_in_its_receipt() {
    let (mut ledger, gig) = opened();
    let plan = ask(&mut ledger, 1, Some(gig.request_terms()), wish(Some("for Grace")), &terms(0)).unwrap();
    let verdict = cuepoint_domain::operation::apply(&mut ledger.book, &plan).unwrap();
    let cuepoint_domain::operation::Verdict::Fresh(receipt, changes) = verdict else { panic!("replayed") };
    assert_eq!(changes.addition, Some(Addition::Dedication(ShortMessage::new("for Grace").unwrap())));
    assert!(!format!("{receipt:?}").contains("Grace"));
}

#[test]
fn a_request_without_music_url_gets_a_search_url() {
    let mut ledger = Ledger::new(500, 5_000);
    let plan = ask(&mut ledger, 1, None, wish(None), &terms(0)).unwrap();
    let request = made(ledger.apply(&plan).unwrap());
    assert!(request.music_url.as_str().ends_with("search_query=Blue+Monday+New+Order"));
}
