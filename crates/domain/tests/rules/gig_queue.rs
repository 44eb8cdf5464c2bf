//! The order of a gig's queue: properties on generated gigs, and cases with their places.

use std::collections::BTreeSet;

use crate::support::{at, money, user};
use cuepoint_domain::gig::QueueOrder;
use cuepoint_domain::gig::queue::{self, Place, PlaceReason, PlayedSong, Plays, WaitingSong};
use cuepoint_domain::ids::RequestId;
use cuepoint_domain::music_request::RequestState;
use proptest::prelude::*;
use time::Duration;

fn id(number: i64) -> RequestId {
    RequestId::new(number).unwrap()
}

/// A waiting song: its number is also the time of its request.
fn waiting(guest: i64, number: i64, fee: i128) -> WaitingSong {
    WaitingSong { id: id(number), guest: user(guest), fee: money(fee), created_at: at(number) }
}

fn played(guest: i64, number: i64, seconds: i64) -> PlayedSong {
    PlayedSong { at: at(seconds), id: id(number), guest: user(guest) }
}

/// Songs such as `A1 B2`, all with the same fee.
fn songs(text: &str) -> Vec<WaitingSong> {
    let guest = |letter: u8| i64::from(letter - b'A') + 1;
    let song = |text: &str| {
        let (letter, number) = text.split_at_checked(1).unwrap();
        waiting(guest(letter.as_bytes()[0]), number.parse().unwrap(), 100)
    };
    text.split(' ').map(song).collect()
}

fn places(order: QueueOrder, waiting: &[WaitingSong], played: &[PlayedSong]) -> Vec<Place> {
    queue::places(order, waiting, &Plays::of(played))
}

/// The numbers of the songs, in the order of their places.
fn order(places: &[Place]) -> Vec<i64> {
    places.iter().map(|place| place.request.get()).collect()
}

#[test]
fn each_guest_has_one_song_in_each_round() {
    let places = places(QueueOrder::Rounds, &songs("A1 B2 B3 A4 A5 C6"), &[]);
    assert_eq!(order(&places), [1, 2, 6, 3, 4, 5]);
    let rounds: Vec<Option<u32>> = places.iter().map(|place| place.round).collect();
    assert_eq!(rounds, [1, 1, 1, 2, 2, 3].map(Some));
}

#[test]
fn guests_without_a_play_precede_guests_with_one() {
    let mut open = songs("A2 A3 A4 A5");
    open.extend(songs("B6 C7"));
    assert_eq!(order(&places(QueueOrder::Rounds, &open, &[played(1, 1, 1)])), [6, 7, 2, 3, 4, 5]);
}

#[test]
fn a_late_guest_has_a_head_start_of_one_round() {
    let plays: Vec<PlayedSong> = (1..=10).map(|number| played(1, number, number)).collect();
    let open = [waiting(1, 11, 100), waiting(1, 12, 100), waiting(2, 13, 100), waiting(2, 14, 100)];
    let places = places(QueueOrder::Rounds, &open, &plays);
    assert_eq!(order(&places), [13, 11, 14, 12]);
    assert_eq!(places[0].round, Some(10));
}

#[test]
fn higher_fees_come_first_within_a_round_only() {
    let open = [waiting(1, 1, 100), waiting(1, 2, 900), waiting(2, 3, 500), waiting(3, 4, 100)];
    assert_eq!(order(&places(QueueOrder::Rounds, &open, &[])), [3, 1, 4, 2]);
    assert_eq!(order(&places(QueueOrder::Arrival, &open, &[])), [1, 2, 3, 4]);
}

#[test]
fn places_count_what_comes_before_them() {
    let open =
        [waiting(1, 1, 100), waiting(1, 2, 100), waiting(2, 3, 500), waiting(3, 4, 100), waiting(2, 5, 900)];
    let places = places(QueueOrder::Rounds, &open, &[]);
    assert_eq!(order(&places), [3, 1, 4, 5, 2]);
    let reasons: Vec<[u32; 4]> = places
        .iter()
        .map(|place| place.reason)
        .map(|why| [why.rounds, why.earlier_rounds, why.higher_fees, why.earlier_requests])
        .collect();
    assert_eq!(reasons, [[2, 0, 0, 0], [2, 0, 1, 0], [2, 0, 1, 1], [2, 3, 0, 0], [2, 3, 1, 0]]);
}

#[test]
fn the_wait_is_the_median_interval_of_the_last_plays() {
    let minute = 60;
    let wait = |plays: &[PlayedSong]| {
        let places = places(QueueOrder::Arrival, &songs("B50 C51"), plays);
        [places[0].wait_minutes, places[1].wait_minutes]
    };
    let play = |number: i64, minutes: i64| played(1, number, minutes * minute);
    assert_eq!(wait(&[]), [4, 8], "no song was played");
    assert_eq!(wait(&[play(1, 0), play(2, 1)]), [4, 8], "two songs were played");
    assert_eq!(wait(&[play(1, 0), play(2, 3), play(3, 8)]), [4, 8], "3 and 5 minutes");
    assert_eq!(wait(&[play(1, 0), play(2, 2), play(3, 4)]), [2, 4], "2 minutes");
    assert_eq!(wait(&[play(1, 0), play(2, 90), play(3, 180)]), [15, 30], "a break counts as 15 minutes");
    assert_eq!(wait(&[play(1, 0), play(2, 0), play(3, 0)]), [0, 0], "at once");
    let slow = (0..5).map(|number| play(number + 1, number * 10));
    let fast = (0..11).map(|number| play(number + 10, 50 + number));
    let plays: Vec<PlayedSong> = slow.chain(fast).collect();
    assert_eq!(wait(&plays), [1, 2], "only the last ten intervals count");
    assert_eq!(wait(&[played(1, 1, 0), played(1, 2, 90), played(1, 3, 180)]), [2, 3], "rounded up");
}

#[test]
fn a_request_is_at_risk_if_its_wait_passes_the_time_in_which_it_can_be_played() {
    let place = places(QueueOrder::Rounds, &songs("A1"), &[])[0];
    assert_eq!(place.wait_minutes, 4);
    let (now, within) = (at(100), Duration::minutes(4));
    let accepted = |play_by| RequestState::Accepted { at: at(1), play_by };
    let deadline = now.plus(within);
    assert!(!place.is_at_risk(accepted(deadline), Duration::ZERO, now));
    assert!(place.is_at_risk(accepted(deadline.minus(Duration::MICROSECOND)), Duration::ZERO, now));
    // A pending one gets its deadline when it is accepted.
    let pending = RequestState::Pending { answer_by: now };
    assert!(!place.is_at_risk(pending, within, now));
    assert!(place.is_at_risk(pending, within - Duration::MICROSECOND, now));
}

#[test]
fn an_offer_has_the_place_that_it_would_get() {
    let open = songs("A1 B2 C3");
    let place = |offer| queue::place_of_offer(QueueOrder::Rounds, &open, &Plays::of(&[]), offer).unwrap();
    let offer = |fee| place(waiting(4, 9, fee)).position;
    assert_eq!((offer(100), offer(101), offer(99)), (4, 1, 4));
    let again = place(waiting(1, 9, 900));
    assert_eq!((again.position, again.round), (4, Some(2)), "a second song waits for the second round");
}

/// A gig of a few guests: waiting and played songs with different ids.
fn gigs() -> impl Strategy<Value = (Vec<WaitingSong>, Vec<PlayedSong>)> {
    let waiting_songs = prop::collection::vec((1_i64..6, 0_i128..4, 0_i64..50), 0..30);
    let played_songs = prop::collection::vec((1_i64..6, 0_i64..50), 0..30);
    (waiting_songs, played_songs).prop_map(|(open, plays)| {
        let open = open.into_iter().zip(1_000..).map(|((guest, fee, time), number)| WaitingSong {
            created_at: at(time),
            ..waiting(guest, number, fee)
        });
        let plays = plays.into_iter().zip(1..).map(|((guest, time), number)| played(guest, number, time));
        (open.collect(), plays.collect())
    })
}

fn orders() -> impl Strategy<Value = QueueOrder> {
    prop_oneof![Just(QueueOrder::Rounds), Just(QueueOrder::Arrival)]
}

proptest! {
    #[test]
    fn places_are_a_permutation_and_independent_of_the_order_of_input(
        (open, plays) in gigs(), order in orders(), seed in any::<u64>(),
    ) {
        let expected = places(order, &open, &plays);
        let ids: BTreeSet<RequestId> = expected.iter().map(|place| place.request).collect();
        prop_assert_eq!(ids.len(), open.len());
        prop_assert!(expected.iter().zip(1..).all(|(place, position)| place.position == position));
        let turn = |length: usize| usize::try_from(seed % u64::try_from(length.max(1)).unwrap()).unwrap();
        let (mut open, mut plays) = (open, plays);
        let (by_open, by_plays) = (turn(open.len()), turn(plays.len()));
        open.rotate_left(by_open);
        plays.rotate_left(by_plays);
        plays.reverse();
        prop_assert_eq!(places(order, &open, &plays), expected);
    }

    #[test]
    fn the_reasons_of_a_place_are_the_numbers_of_the_songs_before_it(
        (open, plays) in gigs(), order in orders(),
    ) {
        let places = places(order, &open, &plays);
        let fee = |place: &Place| open.iter().find(|song| song.id == place.request).unwrap().fee;
        for (index, place) in places.iter().enumerate() {
            let number = |is: &dyn Fn(&Place) -> bool| {
                u32::try_from(places[..index].iter().filter(|before| is(before)).count()).unwrap()
            };
            let is_of_round = |before: &Place| before.round == place.round;
            let is_higher = |before: &Place| is_of_round(before) && fee(before) > fee(place);
            let expected = match order {
                QueueOrder::Rounds => (
                    number(&|before| !is_of_round(before)),
                    number(&is_higher),
                    number(&|before| is_of_round(before) && !is_higher(before)),
                ),
                QueueOrder::Arrival => (0, 0, number(&|_| true)),
            };
            let PlaceReason { earlier_rounds, higher_fees, earlier_requests, .. } = place.reason;
            prop_assert_eq!((earlier_rounds, higher_fees, earlier_requests), expected);
            prop_assert_eq!(earlier_rounds + higher_fees + earlier_requests + 1, place.position);
        }
    }

    #[test]
    fn a_higher_fee_never_gives_a_later_place((open, plays) in gigs(), index in any::<prop::sample::Index>()) {
        prop_assume!(!open.is_empty());
        let position = |open: &[WaitingSong], id| {
            places(QueueOrder::Rounds, open, &plays).into_iter().find(|place| place.request == id).unwrap().position
        };
        let mut raised = open.clone();
        let song = index.get(&open);
        let changed = raised.iter_mut().find(|other| other.id == song.id).unwrap();
        changed.fee = money(song.fee.minor() + 1);
        prop_assert!(position(&raised, song.id) <= position(&open, song.id));
    }

    #[test]
    fn songs_wait_for_no_later_round_and_for_no_later_song_of_their_guest((open, plays) in gigs()) {
        let places = places(QueueOrder::Rounds, &open, &plays);
        prop_assert!(places.windows(2).all(|pair| pair[0].round <= pair[1].round));
        let guest = |place: &Place| open.iter().find(|song| song.id == place.request).unwrap().guest;
        for (index, place) in places.iter().enumerate() {
            let later = places[index + 1..].iter().filter(|later| guest(later) == guest(place));
            for later in later {
                prop_assert!(place.request < later.request);
                prop_assert!(place.round < later.round, "one song of a guest in a round");
            }
        }
    }

    #[test]
    fn both_orders_agree_on_one_song_of_each_guest_with_equal_fees(times in prop::collection::vec(0_i64..20, 0..20)) {
        let open: Vec<WaitingSong> = times
            .into_iter()
            .zip(1..)
            .map(|(time, number)| WaitingSong { created_at: at(time), ..waiting(number, number, 100) })
            .collect();
        let rounds = places(QueueOrder::Rounds, &open, &[]);
        prop_assert_eq!(order(&rounds), order(&places(QueueOrder::Arrival, &open, &[])));
    }

    #[test]
    fn waits_never_decrease_along_the_queue((open, plays) in gigs(), order in orders()) {
        let places = places(order, &open, &plays);
        prop_assert!(places.windows(2).all(|pair| pair[0].wait_minutes <= pair[1].wait_minutes));
    }
}
