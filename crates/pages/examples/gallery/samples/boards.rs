//! Boards with made-up songs.

use cuepoint_domain::gig::{
    Board, BoardGig, DjCode, Gig, GigDetails, GigStatus, GuestLimit, NextSong, QueueOrder, Song,
};
use cuepoint_domain::ids::{GigId, RequestId};
use cuepoint_domain::music_request::RequestStatus;
use cuepoint_domain::text::{GigTitle, Line, ShortMessage};
use time::Duration;

use super::{now, people};

/// The songs of the gallery: titles and artists.
pub const SONGS: &[(&str, &str)] = &[
    ("Blue Monday", "New Order"),
    ("Strings of Life", "Derrick May"),
    ("Music Sounds Better with You", "Stardust"),
    ("Age of Love", "Age of Love"),
    ("Born Slippy", "Underworld"),
    ("Windowlicker", "Aphex Twin"),
    ("Archangel", "Burial"),
    ("Inspector Norse", "Todd Terje"),
    ("Around the World", "Daft Punk"),
];

pub fn line(text: &str) -> Line {
    Line::new(text).expect("a line")
}

/// An open gig since three hours.
pub fn gig() -> Gig {
    Gig {
        id: GigId::new(31).expect("an id"),
        dj: people::dj().id,
        code: DjCode::new("B2C3D4").expect("a code"),
        details: GigDetails {
            title: GigTitle::new("Friday at the Basement").expect("a title"),
            venue: Some(line("Basement")),
            city: Some(line("Berlin")),
            coordinates: None,
            message: Some(ShortMessage::new("House and techno until 2. No Wonderwall.").expect("a message")),
            queue_order: QueueOrder::Rounds,
            max_open_per_guest: GuestLimit::default(),
            members_only: false,
            asks_kind: false,
        },
        opened_at: now().minus(Duration::minutes(187)),
        ended_at: None,
        settled: false,
    }
}

/// The queue of this many requests.
pub fn open_requests(count: i64) -> Vec<(RequestId, RequestStatus)> {
    (1..=count).map(|number| (RequestId::new(number).expect("an id"), RequestStatus::Pending)).collect()
}

/// The board with this number of songs up next.
pub fn board(status: GigStatus, songs: usize) -> Board {
    let song = |(title, artist): &(&str, &str)| Song { title: line(title), artist: line(artist) };
    let next = SONGS.iter().cycle().take(songs).zip(1..);
    let up_next = next
        .map(|(names, position)| NextSong { request: RequestId::LAST, position, song: song(names) })
        .collect();
    let last = Song { title: line("One More Time"), artist: line("Daft Punk") };
    let gig = BoardGig {
        gig: gig(),
        status,
        open: open_requests(12),
        wait_minutes: 24,
        up_next,
        last_played: (songs > 0).then(|| (last, now().minus(Duration::minutes(3)))),
    };
    let code = gig.gig.code;
    Board { code, dj: people::dj(), gig: (status != GigStatus::Ended).then_some(gig) }
}
