//! The board of a gig: what everybody can see of it.

use std::fmt;

use crate::checksum::ChecksumFields;
use crate::gig::{DjCode, Gig, GigStatus};
use crate::ids::RequestId;
use crate::money::Money;
use crate::music_request::{MusicRequest, RequestStatus};
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::user::{ArtistType, User};

/// The board of a code.
#[derive(Clone, PartialEq, Debug)]
pub struct Board {
    pub code: DjCode,
    pub dj: User,
    /// The DJ's open gig.
    pub gig: Option<BoardGig>,
}

/// An open gig with its queue.
#[derive(Clone, PartialEq, Debug)]
pub struct BoardGig {
    pub gig: Gig,
    pub status: GigStatus,
    /// The open requests in the order of their places. A board shows their number alone, and pages of guests what became
    /// of their own.
    pub open: Vec<(RequestId, RequestStatus)>,
    /// The expected wait in minutes of a new guest's request at the price of a popular song.
    pub wait_minutes: u32,
    /// Accepted requests, in the order of their places.
    pub up_next: Vec<NextSong>,
    /// The song that was played last, and when.
    pub last_played: Option<(Song, Timestamp)>,
}

/// A song as a request names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Song {
    pub title: Line,
    pub artist: Line,
}

impl Song {
    /// The song of a request.
    #[must_use]
    pub fn of(request: &MusicRequest) -> Self {
        Self { title: request.song_title.clone(), artist: request.artist_name.clone() }
    }

    fn add_to(&self, fields: &mut ChecksumFields) {
        fields.push(self.title.as_str().as_bytes());
        fields.push(self.artist.as_str().as_bytes());
    }
}

/// An accepted request with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct NextSong {
    pub request: RequestId,
    pub position: u32,
    pub song: Song,
}

/// A digest of a board and its queue, equal on every server. It shows whether a board, or a request in the queue, has
/// changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoardVersion(u64);

impl Board {
    /// The kind of song that counts for a form with this choice: a popular song, unless the gig asks for the kind.
    #[must_use]
    pub fn counted_kind(&self, chosen: ArtistType) -> ArtistType {
        if self.asks_kind() { chosen } else { ArtistType::Popular }
    }

    /// The price of a song for which a form chose this kind.
    #[must_use]
    pub fn list_price(&self, chosen: ArtistType) -> Money {
        self.dj.list_price(self.counted_kind(chosen))
    }

    /// The price of a popular song, and that of a song by an upcoming artist where it has another one.
    #[must_use]
    pub fn prices(&self) -> (Money, Option<Money>) {
        let [popular, upcoming] =
            [ArtistType::Popular, ArtistType::Upcoming].map(|kind| self.list_price(kind));
        (popular, Some(upcoming).filter(|price| *price != popular))
    }

    /// Whether guests choose the kind of their song.
    #[must_use]
    pub fn asks_kind(&self) -> bool {
        self.gig.as_ref().is_some_and(|gig| gig.gig.details.asks_kind)
    }

    /// The maximum number of songs that are up next.
    pub const MOST_UP_NEXT: usize = 20;

    /// The digest of everything that the board shows, and of the queue.
    #[must_use]
    pub fn version(&self) -> BoardVersion {
        let mut fields = ChecksumFields::with_capacity(1_024);
        fields.push(self.code.as_str().as_bytes());
        fields.push(&self.dj.id.get().to_be_bytes());
        fields.push(self.dj.name.as_str().as_bytes());
        if let Some(dj) = &self.dj.dj {
            for number in [dj.played, dj.rating.stars, dj.rating.count] {
                fields.push(&number.to_be_bytes());
            }
            for price in [dj.fee_upcoming_artist, dj.fee_popular_song] {
                fields.push(&price.minor().to_be_bytes());
            }
        }
        if let Some(gig) = &self.gig {
            gig.add_to(&mut fields);
        }
        let [a, b, c, d, e, f, g, h, ..] = fields.sha256();
        BoardVersion(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }
}

impl BoardGig {
    /// The number of open requests.
    #[must_use]
    pub fn queue_length(&self) -> u64 {
        u64::try_from(self.open.len()).unwrap_or(u64::MAX)
    }

    fn add_to(&self, fields: &mut ChecksumFields) {
        let details = &self.gig.details;
        let optional = |text: Option<&Line>| text.map_or("", Line::as_str).to_owned();
        let message = details.message.as_ref().map_or("", |message| message.as_str());
        fields.push(&self.gig.id.get().to_be_bytes());
        for text in [
            details.title.as_str(),
            &optional(details.venue.as_ref()),
            &optional(details.city.as_ref()),
            message,
            self.status.name(),
            details.queue_order.name(),
        ] {
            fields.push(text.as_bytes());
        }
        fields.push(&[u8::from(details.members_only), u8::from(details.asks_kind)]);
        for (request, status) in &self.open {
            fields.push(&request.get().to_be_bytes());
            fields.push(<&str>::from(status).as_bytes());
        }
        fields.push(&self.wait_minutes.to_be_bytes());
        for next in &self.up_next {
            fields.push(&next.position.to_be_bytes());
            next.song.add_to(fields);
        }
        if let Some((song, at)) = &self.last_played {
            song.add_to(fields);
            fields.push(&at.unix_micros().to_be_bytes());
        }
    }
}

impl fmt::Display for BoardVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
