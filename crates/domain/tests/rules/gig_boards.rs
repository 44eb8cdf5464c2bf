//! Boards, nearby gigs and reports.

use crate::support::{DJ, Ledger, at, line, money, request, user};
use cuepoint_domain::gig::nearby::{latitudes, nearest};
use cuepoint_domain::gig::quarters::{QuarterHour, quarter_hours};
use cuepoint_domain::gig::report::GigReport;
use cuepoint_domain::gig::{
    Board, BoardGig, DjCode, Gig, GigDetails, GigStatus, GuestLimit, NextSong, QueueOrder, Song,
};
use cuepoint_domain::ids::{GigId, RatingId, RequestId};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{
    MusicRequest, RequestRating, RequestState, RequestStatus, Stars, Voice, counted,
};
use cuepoint_domain::text::{GigTitle, ShortMessage};
use cuepoint_domain::user::{Coordinates, Kilometres, Rating};
use proptest::prelude::*;
use time::Duration;

/// The mean radius of the Earth in kilometres.
const RADIUS: f64 = 6_371.008_8;

fn gig(number: i64, place: Option<Coordinates>) -> Gig {
    Gig {
        id: GigId::new(number).unwrap(),
        dj: user(DJ),
        code: DjCode::new("K7TW3M").unwrap(),
        details: GigDetails {
            title: GigTitle::new("Friday").unwrap(),
            venue: None,
            city: None,
            coordinates: place,
            message: None,
            queue_order: QueueOrder::Rounds,
            max_open_per_guest: GuestLimit::default(),
            members_only: false,
            asks_kind: false,
        },
        opened_at: at(0),
        ended_at: None,
        settled: false,
    }
}

fn place(latitude: f64, longitude: f64) -> Coordinates {
    Coordinates::new(latitude, longitude).unwrap()
}

/// The distance by the chord through the Earth.
fn by_chord(from: Coordinates, to: Coordinates) -> f64 {
    let point = |at: Coordinates| {
        let (latitude, longitude) = (at.latitude().to_radians(), at.longitude().to_radians());
        [latitude.cos() * longitude.cos(), latitude.cos() * longitude.sin(), latitude.sin()]
    };
    let (from, to) = (point(from), point(to));
    let chord = (0..3).map(|axis| (from[axis] - to[axis]).powi(2)).sum::<f64>().sqrt();
    2.0 * RADIUS * (chord / 2.0).min(1.0).asin()
}

fn coordinates() -> impl Strategy<Value = Coordinates> {
    let latitude = prop_oneof![4 => -90.0..=90.0, 1 => 89.0..=90.0, 1 => -90.0..=-89.0, 2 => -0.5..=0.5];
    let longitude =
        prop_oneof![4 => -180.0..=180.0, 2 => 179.5..=180.0, 2 => -180.0..=-179.5, 2 => -0.5..=0.5];
    (latitude, longitude).prop_map(|(latitude, longitude)| place(latitude, longitude))
}

proptest! {
    #[test]
    fn a_nearby_search_agrees_with_a_comparison_of_all_gigs(
        places in prop::collection::vec(coordinates(), 0..60),
        from in coordinates(),
        within in 1_u32..=200,
    ) {
        let within = Kilometres::new(within.into()).unwrap();
        let gigs: Vec<Gig> =
            (1..).zip(&places).map(|(number, place)| gig(number, Some(*place))).collect();
        let (south, north) = latitudes(from, within);
        let found = nearest(gigs.clone(), from, within, 1_000);
        let ids: Vec<i64> = found.iter().map(|nearby| nearby.gig.id.get()).collect();
        for (number, to) in (1..).zip(&places) {
            let distance = by_chord(from, *to);
            // A distance that rounding could move across the border counts for neither side.
            if (distance - within.get()).abs() > 1e-6 {
                prop_assert_eq!(ids.contains(&number), distance < within.get(), "{:?} {:?}", from, to);
            }
            if distance < within.get() - 1e-6 {
                prop_assert!(south <= to.latitude() && to.latitude() <= north, "{:?} {:?}", from, to);
            }
        }
        prop_assert!(found.is_sorted_by(|one, other| one.distance.get() <= other.distance.get()));
        let few = nearest(gigs, from, within, 2);
        prop_assert_eq!(&few[..], &found[..found.len().min(2)]);
    }
}

#[test]
fn gigs_without_a_place_are_near_nothing() {
    let within = Kilometres::new(200.0).unwrap();
    assert_eq!(nearest(vec![gig(1, None)], place(0.0, 0.0), within, 10), []);
    let found = nearest(vec![gig(1, Some(place(90.0, 0.0)))], place(90.0, 180.0), within, 10);
    assert!(found[0].distance.get() < 1e-6, "a pole has every longitude");
}

fn board() -> Board {
    let ledger = Ledger::new(500, 5_000);
    let dj = ledger.book.get(user(DJ)).unwrap().clone();
    let song = Song::of(&request(500));
    let gig = BoardGig {
        gig: gig(1, None),
        status: GigStatus::Open,
        open: vec![(RequestId::new(500).unwrap(), RequestStatus::Pending)],
        wait_minutes: 8,
        up_next: vec![NextSong { request: RequestId::new(7).unwrap(), position: 2, song: song.clone() }],
        last_played: Some((song, at(30))),
    };
    Board { code: DjCode::new("K7TW3M").unwrap(), dj, gig: Some(gig) }
}

fn played_at(seconds: i64) -> RequestState {
    RequestState::Played { at: at(seconds), commission: money(75) }
}

type Change = fn(&mut Board);

#[test]
fn every_change_of_the_board_or_its_queue_changes_the_board_version() {
    let changes: [(&str, Change); 26] = [
        ("code", |board| board.code = DjCode::new("222222").unwrap()),
        ("name", |board| board.dj.name = line("Other")),
        ("played", |board| board.dj.dj.as_mut().unwrap().played += 1),
        ("stars", |board| board.dj.dj.as_mut().unwrap().rating.stars += 1),
        ("ratings", |board| board.dj.dj.as_mut().unwrap().rating.count += 1),
        ("price", |board| board.dj.dj.as_mut().unwrap().fee_popular_song = money(9_999)),
        ("other price", |board| board.dj.dj.as_mut().unwrap().fee_upcoming_artist = money(9_999)),
        ("end", |board| board.gig = None),
        ("title", |board| board.gig.as_mut().unwrap().gig.details.title = GigTitle::new("Later").unwrap()),
        ("venue", |board| board.gig.as_mut().unwrap().gig.details.venue = Some(line("Club"))),
        ("city", |board| board.gig.as_mut().unwrap().gig.details.city = Some(line("Club"))),
        ("order", |board| board.gig.as_mut().unwrap().gig.details.queue_order = QueueOrder::Arrival),
        ("members only", |board| board.gig.as_mut().unwrap().gig.details.members_only = true),
        ("asks kind", |board| board.gig.as_mut().unwrap().gig.details.asks_kind = true),
        ("status", |board| board.gig.as_mut().unwrap().status = GigStatus::Paused),
        ("queue", |board| board.gig.as_mut().unwrap().open[0].0 = RequestId::new(501).unwrap()),
        ("answer", |board| board.gig.as_mut().unwrap().open[0].1 = RequestStatus::Accepted),
        ("wait", |board| board.gig.as_mut().unwrap().wait_minutes = 12),
        ("next song", |board| board.gig.as_mut().unwrap().up_next[0].song.title = line("Other")),
        ("id of the DJ", |board| board.dj.id = user(99)),
        ("message", |board| {
            board.gig.as_mut().unwrap().gig.details.message = Some(ShortMessage::new("Hello").unwrap());
        }),
        ("position", |board| board.gig.as_mut().unwrap().up_next[0].position = 3),
        ("next artist", |board| board.gig.as_mut().unwrap().up_next[0].song.artist = line("Other")),
        ("last artist", |board| {
            board.gig.as_mut().unwrap().last_played.as_mut().unwrap().0.artist = line("Other");
        }),
        ("last title", |board| {
            board.gig.as_mut().unwrap().last_played.as_mut().unwrap().0.title = line("Other");
        }),
        ("last song", |board| board.gig.as_mut().unwrap().last_played.as_mut().unwrap().1 = at(31)),
    ];
    let mut versions = vec![board().version().to_string()];
    for (name, change) in changes {
        let mut changed = board();
        change(&mut changed);
        let version = changed.version().to_string();
        assert!(version.len() == 16 && !versions.contains(&version), "{name}");
        versions.push(version);
    }
    let mut unshown = board();
    let gig = unshown.gig.as_mut().unwrap();
    gig.gig.details.max_open_per_guest = GuestLimit::new(9).unwrap();
    assert_eq!(unshown.version(), board().version(), "what is not shown changes no version");
}

fn numbered(number: i64, guest: i64, title: &str, state: RequestState) -> MusicRequest {
    let id = RequestId::new(number).unwrap();
    MusicRequest {
        id,
        requester: user(guest),
        song_title: line(title),
        state,
        created_at: at(0),
        ..request(500)
    }
}

#[test]
fn the_newest_rating_of_each_guest_of_a_gig_counts() {
    let requests = [(1, 1), (2, 1), (3, 2), (4, 1)]
        .map(|(number, guest)| numbered(number, guest, "Song", played_at(60)));
    let rated = |place: usize, stars, seconds| {
        let id = RatingId::of(requests[place].id);
        let rating = RequestRating { id, stars: Stars::new(stars).unwrap(), rated_at: at(seconds) };
        (Voice::of(&requests[place]), rating)
    };
    for (ratings, stars, count) in [
        (vec![], 0, 0),
        (vec![rated(0, 5, 70), rated(2, 2, 70)], 7, 2),
        (vec![rated(0, 5, 70), rated(1, 4, 71), rated(2, 2, 70), rated(3, 1, 69)], 6, 2),
        (vec![rated(0, 5, 90), rated(1, 4, 90), rated(3, 3, 90)], 3, 1),
    ] {
        let counted = counted(ratings.iter().map(|(voice, rating)| (*voice, rating)));
        assert_eq!(counted, Rating { stars, count });
    }
}

#[test]
fn a_report_counts_played_fees_without_refunded_ones() {
    let refunded = RequestState::Refunded { at: at(90), commission: money(75) };
    let requests = [
        numbered(1, 1, "Blue Monday", played_at(60)),
        numbered(2, 2, "Other", refunded),
        numbered(3, 2, "BLUE MONDAY (live)", RequestState::Rejected { at: at(5), displaced: false }),
        numbered(4, 3, "Third", played_at(121)),
        numbered(5, 4, "Third", RequestState::Cancelled { at: at(5) }),
    ];
    let report = GigReport::of(&requests).unwrap();
    let sums = [report.gross, report.commission, report.net, report.refunded];
    assert_eq!(sums, [1_000, 150, 850, 500].map(money));
    let counted = |status| report.requests.get(&status);
    assert_eq!(counted(RequestStatus::Played), Some(&2));
    assert_eq!(counted(RequestStatus::Cancelled), Some(&1));
    assert_eq!(report.guests, 3);
    assert_eq!(report.mean_wait, Some(Duration::microseconds(90_500_000)));
    let songs: Vec<_> =
        report.top_songs.iter().map(|song| (song.song_title.as_str(), song.requests, song.played)).collect();
    assert_eq!(songs, [("Blue Monday", 2, 1), ("Other", 1, 1), ("Third", 1, 1)]);
    assert_eq!(GigReport::of(&[]).unwrap().mean_wait, None);
}

#[test]
fn a_report_lists_at_most_ten_songs_and_detects_overflow() {
    let many: Vec<MusicRequest> = (1..=12)
        .map(|number| {
            numbered(
                number,
                1,
                &format!("Song {number}"),
                RequestState::Rejected { at: at(1), displaced: false },
            )
        })
        .collect();
    assert_eq!(GigReport::of(&many).unwrap().top_songs.len(), 10);
    let huge =
        |number| MusicRequest { fee: Money::from_minor(i128::MAX), ..numbered(number, 1, "S", played_at(1)) };
    assert_eq!(GigReport::of(&[huge(1), huge(2)]), None);
}

/// The numbers of the quarters of a gig that was open from 100 seconds to 40 minutes after the beginning.
fn quarters(requests: &[MusicRequest]) -> Option<Vec<(u64, u64, i128)>> {
    let ended = Gig { opened_at: at(100), ended_at: Some(at(40 * 60)), ..gig(1, None) };
    let quarters = quarter_hours(&ended, requests, at(9_000))?;
    let numbers = |quarter: &QuarterHour| (quarter.requests, quarter.played, quarter.earned.minor());
    Some(quarters.iter().map(numbers).collect())
}

fn made(seconds: i64, state: RequestState) -> MusicRequest {
    MusicRequest { created_at: at(seconds), ..numbered(seconds + 1, 1, "S", state) }
}

#[test]
fn each_request_and_each_play_counts_in_one_quarter() {
    let refunded = RequestState::Refunded { at: at(1_000), commission: money(75) };
    let requests = [
        made(0, played_at(899)),
        made(899, played_at(900)),
        made(900, RequestState::Rejected { at: at(950), displaced: false }),
        made(1_799, refunded),
        made(1_800, played_at(9_000)),
    ];
    assert_eq!(quarters(&requests), Some(vec![(2, 1, 425), (2, 1, 425), (1, 1, 425)]));
    let report = GigReport::of(&requests).unwrap();
    assert_eq!(report.net, money(3 * 425), "the quarters add up to the report");
    assert_eq!(quarters(&[]), Some(vec![(0, 0, 0); 3]));
    let huge = |number| MusicRequest { fee: Money::from_minor(i128::MAX), ..made(number, played_at(1)) };
    assert_eq!(quarters(&[huge(1), huge(2)]), None);
}

#[test]
fn quarters_begin_on_the_clock_and_are_at_most_two_days() {
    let open = gig(1, None);
    let quarters = quarter_hours(&open, &[], at(1_000)).unwrap();
    let first = quarters[0].from.unix_micros();
    assert_eq!(first.rem_euclid(900_000_000), 0);
    assert!(first <= open.opened_at.unix_micros() && quarters[0].until() > open.opened_at);
    assert_eq!(quarter_hours(&open, &[], at(10_000_000)).unwrap().len(), 192);
    let ahead =
        quarter_hours(&Gig { opened_at: at(5_000), ..open }, &[made(0, played_at(1))], at(0)).unwrap();
    assert_eq!((ahead.len(), ahead[0].requests, ahead[0].played), (1, 1, 1));
}
