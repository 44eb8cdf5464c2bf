//! Boards: readers of one second share what one of them reads.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures_util::future::join_all;

use super::simulated_time::Simulated;
use super::*;
use crate::gig::most_played::Play;
use crate::gig::{AssignedCode, DjCode, Song};
use crate::money::Currency;

fn code() -> DjCode {
    DjCode::new("K7TW3M").unwrap()
}

/// A store with the code of a DJ without an open gig, which is read at most this many times.
fn gigs(reads: usize) -> MockGigs {
    let assigned = || AssignedCode { code: code(), dj: user(2), at: now() };
    let mut gigs = MockGigs::new();
    gigs.expect_assigned().returning(move |code| Ok((code == assigned().code).then(assigned)));
    gigs.expect_code_of().returning(move |_| Ok(Some(assigned())));
    let since = now().minus(Duration::DAY);
    let read = gigs.expect_recent_codes().withf(move |after, _| *after == since).times(..=1);
    read.returning(|_, _| Ok(BTreeSet::from([code()])));
    gigs.expect_open_gig().times(reads).returning(|_| Ok(None));
    gigs
}

fn boards(gigs: MockGigs, clock: MockClock) -> BoardQueries {
    let mut people = MockPeople::new();
    people.expect_profile().returning(|_| Ok(Some(dj(true))));
    BoardQueries::new(Doubles { gigs, people, clock: Some(clock), ..Doubles::default() }.env())
}

/// A clock that shows these seconds, one after the other: a reader looks twice.
fn clock(seconds: &'static [i64]) -> MockClock {
    let mut times = seconds.iter();
    let mut clock = MockClock::new();
    clock
        .expect_now()
        .returning(move || Timestamp::from_unix_micros(times.next().unwrap().saturating_mul(1_000_000)));
    clock
}

#[test]
fn readers_of_one_second_share_a_board() {
    let boards = boards(gigs(1), stopped_clock());
    let time = Simulated::default();
    let shown = time.run(join_all((0..300).map(|_| boards.board(code()))));
    assert!(shown.into_iter().all(|board| board.unwrap().gig.is_none()));
}

#[test]
fn a_board_is_read_again_after_a_second_or_when_the_clock_was_set_back() {
    let boards = boards(gigs(3), clock(&[10, 10, 10, 10, 11, 11, 5, 5]));
    for _ in 0..4 {
        boards.board(code()).now_or_never().unwrap().unwrap();
    }
}

#[test]
fn codes_of_recent_gigs_are_read_once_and_exempt_from_the_limit() {
    let boards = boards(gigs(0), stopped_clock());
    let unknown = DjCode::new("222222").unwrap();
    assert!(matches!(boards.board(unknown).now_or_never().unwrap(), Err(Failure::NotFound)));
    let is_known = |code| boards.is_well_known(code).now_or_never().unwrap().unwrap();
    assert!(is_known(code()) && !is_known(unknown));
}

#[test]
fn readers_of_ten_minutes_share_the_most_played_songs_of_a_dj() {
    let line = |text| Line::new(text).unwrap();
    let song = move || Song { title: line("Blue Monday"), artist: line("New Order") };
    let mut gigs = MockGigs::new();
    let assigned = || AssignedCode { code: code(), dj: user(2), at: now() };
    gigs.expect_assigned().returning(move |_| Ok(Some(assigned())));
    gigs.expect_code_of().returning(move |_| Ok(Some(assigned())));
    gigs.expect_open_gig().returning(|_| Ok(Some(gig_endings::gig(None))));
    gigs.expect_gig_requests().returning(|_, _, _| Ok(Vec::new()));
    let plays = gigs.expect_plays().times(2);
    plays.returning(move |_, after, _| Ok(vec![Play { song: song(), at: after.plus(Duration::days(90)) }]));
    let seconds = Arc::new(Mutex::new(0));
    let shown = Arc::clone(&seconds);
    let mut clock = MockClock::new();
    clock.expect_now().returning(move || now().plus(Duration::seconds(*shown.lock().unwrap())));
    let boards = boards(gigs, clock);
    let time = Simulated::default();
    let currency = Currency::new("EUR", 2).unwrap();
    for later in [0, 599, 600] {
        *seconds.lock().unwrap() = later;
        let views = time.run(join_all((0..300).map(|_| boards.guest_view(None, code(), &currency))));
        assert!(views.into_iter().all(|view| *view.unwrap().most_played == [song()]), "{later}");
    }
}

#[test]
fn offers_have_the_places_that_requests_would_get_now() {
    use crate::gig::QueueOrder::{Arrival, Rounds};
    let waiting = |number: i64, guest, fee| MusicRequest {
        id: RequestId::new(number).unwrap(),
        requester: user(guest),
        gig: Some(gig_endings::gig(None).id),
        fee: Money::from_minor(fee),
        ..request()
    };
    // The prices of the three offers are 500, 750 and 1000.
    for (order, guest, expected) in [
        (Rounds, None, [4, 3, 2]),
        // Guest 4 waits already, so that another song is of the second round.
        (Rounds, Some(4), [4, 4, 4]),
        (Arrival, None, [4, 4, 4]),
    ] {
        let mut gigs = MockGigs::new();
        let assigned = || AssignedCode { code: code(), dj: user(2), at: now() };
        gigs.expect_assigned().returning(move |_| Ok(Some(assigned())));
        gigs.expect_code_of().returning(move |_| Ok(Some(assigned())));
        let mut open = gig_endings::gig(None);
        open.details.queue_order = order;
        gigs.expect_open_gig().returning(move |_| Ok(Some(open.clone())));
        gigs.expect_plays().returning(|_, _, _| Ok(Vec::new()));
        gigs.expect_gig_requests()
            .returning(move |_, _, _| Ok(vec![waiting(1, 4, 1_200), waiting(2, 5, 800), waiting(3, 6, 500)]));
        gigs.expect_requests_of_guest().returning(|_, _, _, _| Ok(Vec::new()));
        gigs.expect_ratings().returning(|_| Ok(BTreeMap::new()));
        gigs.expect_dedications().returning(|_| Ok(HashMap::new()));
        let boards = boards(gigs, stopped_clock());
        let fees = [500, 750, 1_000].map(Money::from_minor);
        let places: Vec<u32> = match guest {
            None => {
                let currency = Currency::new("EUR", 2).unwrap();
                let view = Simulated::default().run(boards.guest_view(None, code(), &currency)).unwrap();
                view.own.offers.iter().map(|offer| offer.place.position).collect()
            }
            Some(guest) => {
                let own = Simulated::default().run(boards.own_requests(&principal(guest), code(), &fees));
                own.unwrap().offers.iter().map(|offer| offer.place.position).collect()
            }
        };
        assert_eq!(places, expected, "{order:?} {guest:?}");
    }
}

#[test]
fn boards_that_nobody_reads_are_forgotten() {
    let mut gigs = MockGigs::new();
    let other = DjCode::new("222222").unwrap();
    gigs.expect_assigned().returning(|code| Ok(Some(AssignedCode { code, dj: of(code), at: now() })));
    gigs.expect_code_of().returning(move |dj| {
        let code = if dj == of(code()) { code() } else { other };
        Ok(Some(AssignedCode { code, dj, at: now() }))
    });
    gigs.expect_open_gig().returning(|_| Ok(None));
    gigs.expect_recent_codes().returning(|_, _| Ok(BTreeSet::new()));
    let boards = boards(gigs, clock(&[10, 10, 21, 21, 21, 21, 21, 21]));
    for code in [code(), other] {
        boards.board(code).now_or_never().unwrap().unwrap();
    }
    let is_kept = |code| boards.is_well_known(code).now_or_never().unwrap().unwrap();
    assert!(is_kept(other) && !is_kept(code()));
}

/// The DJ of a code.
fn of(of: DjCode) -> UserId {
    user(if of == code() { 2 } else { 4 })
}
