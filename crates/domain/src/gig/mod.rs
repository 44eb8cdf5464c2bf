//! Gigs: evenings of DJs, and the order of their queues.
//!
//! - [`Gig`] with its [`GigDetails`]; [`DjCode`]: the code under which guests find it;
//! - [`Board`]: what everybody can see of a gig;
//! - `changes`: how a gig opens, changes and ends;
//! - [`queue`]: the order in which requests are played;
//! - [`song`]: which requests are for the same song;
//! - [`nearby`]: the gigs near a place;
//! - [`most_played`]: the songs that a DJ plays most;
//! - [`offers`]: the fees that a page proposes; [`song_tonight`]: songs that were already played or accepted;
//! - [`consent`]: what a form may hold, and what it asks first;
//! - [`report`]: the numbers of a gig; [`quarters`]: the same by quarter of an hour.

mod board;
mod changes;
mod code;
pub mod consent;
mod details;
mod entity_facts;
pub mod most_played;
pub mod nearby;
pub mod offers;
pub mod quarters;
pub mod queue;
pub mod report;
pub mod song;
pub mod song_tonight;

pub use board::{Board, BoardGig, BoardVersion, NextSong, Song};
pub use changes::{GigChange, GigRefusal, NewGig, change, end, open};
pub use code::{AssignedCode, DjCode};
pub use details::{GigDetails, GuestLimit, QueueOrder};

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};
use time::Duration;

use crate::ids::{GigId, GigRecordId, UserId};
use crate::music_request::GigRequestTerms;
use crate::names::{explained_enum, named_enum};
use crate::text::GigTitle;
use crate::timestamp::Timestamp;

/// One evening of a DJ.
#[derive(Clone, PartialEq, Debug)]
pub struct Gig {
    /// The gig's id.
    pub id: GigId,
    pub dj: UserId,
    /// The DJ's code when the gig was opened.
    pub code: DjCode,
    pub details: GigDetails,
    /// The time of its opening.
    pub opened_at: Timestamp,
    /// The time of its end, if it has ended.
    pub ended_at: Option<Timestamp>,
    /// Whether all its requests are known to be closed.
    pub settled: bool,
}

/// The status of a gig.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
#[strum(serialize_all = "snake_case")]
pub enum GigStatus {
    /// The DJ accepts requests.
    Open,
    /// The DJ accepts no requests now, because the DJ is offline.
    Paused,
    /// The gig is over.
    Ended,
}

named_enum!(GigStatus);
explained_enum!(GigStatus);

/// The record of a gig in receipts and events, which are permanent. It has no texts, because they must be erasable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GigRecord {
    /// The number of the gig.
    pub id: GigRecordId,
    pub dj: UserId,
    pub code: DjCode,
    pub status: GigStatus,
}

impl Gig {
    /// Another server may commit a request this long after the end of its gig, because clocks differ and plans can be
    /// late.
    pub const SETTLES_AFTER: Duration = Duration::minutes(10);
    /// The period after its end in which guests see their requests in it, and can tip its DJ.
    pub const RECENT_FOR: Duration = Duration::hours(24);

    /// The status of the gig of a DJ who accepts requests or not.
    #[must_use]
    pub const fn status(&self, dj_online: bool) -> GigStatus {
        match (self.ended_at, dj_online) {
            (Some(_), _) => GigStatus::Ended,
            (None, true) => GigStatus::Open,
            (None, false) => GigStatus::Paused,
        }
    }

    /// Whether it is open at `now`, or ended less than [`Self::RECENT_FOR`] before.
    #[must_use]
    pub fn is_recent(&self, now: Timestamp) -> bool {
        self.ended_at.is_none_or(|end| now < end.plus(Self::RECENT_FOR))
    }

    /// What it determines for new requests while it is open.
    #[must_use]
    pub fn request_terms(&self) -> GigRequestTerms {
        let GigDetails { max_open_per_guest, members_only, .. } = self.details;
        GigRequestTerms { id: self.id, most_open_per_guest: max_open_per_guest.get().into(), members_only }
    }

    /// Its record, for a DJ who accepts requests or not.
    #[must_use]
    pub const fn record(&self, dj_online: bool) -> GigRecord {
        GigRecord {
            id: GigRecordId::of(self.id),
            dj: self.dj,
            code: self.code,
            status: self.status(dj_online),
        }
    }

    /// Removes its texts and its place, after the erasure of its DJ.
    pub fn forget_texts(&mut self) {
        let details = &mut self.details;
        details.title = GigTitle::from_stored(GigDetails::ERASED_TITLE.to_owned());
        (details.venue, details.city, details.coordinates, details.message) = (None, None, None, None);
    }

    /// Whether no request of it can be open any more at `now`, if none was found.
    #[must_use]
    pub fn settles_at(&self, now: Timestamp) -> bool {
        self.ended_at.is_some_and(|ended| ended.plus(Self::SETTLES_AFTER) <= now)
    }
}
