//! The queue of a gig, as each reader of a board or a queue needs it.

use cuepoint_domain::gig::QueueOrder;
use cuepoint_domain::gig::queue::{Place, PlayedSong, Plays, WaitingSong, places};
use cuepoint_domain::gig::song::SongKey;
use cuepoint_domain::ids::{RequestId, UserId};
use cuepoint_domain::money::Money;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use divan::Bencher;

/// The number of open requests, and that of played ones.
const SONGS: i64 = 300;
/// The number of guests who share them.
const GUESTS: i64 = 100;

fn guest(number: i64) -> UserId {
    UserId::new(number.rem_euclid(GUESTS).saturating_add(1)).unwrap()
}

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_unix_micros(minutes.saturating_mul(60_000_000))
}

/// The places of a full queue late in the evening.
#[divan::bench]
fn places_of_300_songs_after_300_plays(bencher: Bencher<'_, '_>) {
    let id = |number: i64| RequestId::new(number.saturating_add(1)).unwrap();
    let played: Vec<PlayedSong> = (0..SONGS)
        .map(|number| PlayedSong { at: at(number), id: id(number), guest: guest(number) })
        .collect();
    let waiting: Vec<WaitingSong> = (SONGS..SONGS.saturating_mul(2))
        .map(|number| WaitingSong {
            id: id(number),
            guest: guest(number),
            fee: Money::from_minor(i128::from(number.rem_euclid(7))),
            created_at: at(number),
        })
        .collect();
    bencher.bench(|| -> Vec<Place> { places(QueueOrder::Rounds, &waiting, &Plays::of(&played)) });
}

/// The keys by which a queue groups requests of one song.
#[divan::bench]
fn keys_of_300_songs(bencher: Bencher<'_, '_>) {
    let songs: Vec<(Line, Line)> = (0..SONGS)
        .map(|number| {
            let title = Line::new(&format!("Déjà Vu {number} (Radio Edit)")).unwrap();
            (title, Line::new("Beyoncé feat. Jay-Z").unwrap())
        })
        .collect();
    bencher.bench(|| songs.iter().map(|(title, artist)| SongKey::of(title, artist)).collect::<Vec<_>>());
}
