//! How a gig opens, changes and ends.

use thiserror::Error;

use crate::gig::{DjCode, Gig, GigDetails, GuestLimit, QueueOrder};
use crate::ids::{GigId, UserId};
use crate::text::{GigTitle, Line, ShortMessage};
use crate::timestamp::Timestamp;
use crate::user::{DjChange, Field, Locate, ProfileRefusal, located};

/// The data of a new gig.
#[derive(Clone, PartialEq, Debug)]
pub struct NewGig {
    pub title: GigTitle,
    pub venue: Option<Line>,
    pub city: Option<Line>,
    /// Degrees north and east, both or neither.
    pub place: Locate,
    pub message: Option<ShortMessage>,
    pub queue_order: QueueOrder,
    pub max_open_per_guest: GuestLimit,
    pub members_only: bool,
    /// Whether guests choose the kind of their song.
    pub asks_kind: bool,
    /// The prices to set.
    pub prices: DjChange,
    /// Whether the DJ's code is replaced.
    pub new_code: bool,
}

/// A change of a gig; every field is optional.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GigChange {
    /// The new title.
    pub title: Field<GigTitle>,
    /// The new venue.
    pub venue: Field<Option<Line>>,
    /// The new city.
    pub city: Field<Option<Line>>,
    /// The new coordinates.
    pub place: Locate,
    /// The new message.
    pub message: Field<Option<ShortMessage>>,
    /// The new order of the queue.
    pub queue_order: Field<QueueOrder>,
    /// The new limit of open requests of one guest.
    pub max_open_per_guest: Field<GuestLimit>,
    /// Whether guest accounts cannot make requests.
    pub members_only: Field<bool>,
    /// Whether guests choose the kind of their song.
    pub asks_kind: Field<bool>,
    /// The prices to set, and whether the DJ accepts requests.
    pub dj: DjChange,
}

/// Why a gig is not opened or changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum GigRefusal {
    /// Another gig of the DJ has not ended.
    #[error("gig {0} has not ended")]
    AnotherIsOpen(GigId),
    /// The gig has ended.
    #[error("the gig has ended")]
    Ended,
    /// The coordinates are incomplete or out of range.
    #[error(transparent)]
    Place(ProfileRefusal),
}

/// The new gig of a DJ with this code, and the change of the DJ's profile: online, with the prices.
///
/// # Errors
/// [`GigRefusal::Place`].
pub fn open(
    id: GigId,
    dj: UserId,
    code: DjCode,
    new: NewGig,
    now: Timestamp,
) -> Result<(Gig, DjChange), GigRefusal> {
    let coordinates = located(None, new.place).map_err(GigRefusal::Place)?;
    let details = GigDetails {
        title: new.title,
        venue: new.venue,
        city: new.city,
        coordinates,
        message: new.message,
        queue_order: new.queue_order,
        max_open_per_guest: new.max_open_per_guest,
        members_only: new.members_only,
        asks_kind: new.asks_kind,
    };
    let gig = Gig { id, dj, code, details, opened_at: now, ended_at: None, settled: false };
    Ok((gig, DjChange { online: Field::Set(true), ..new.prices }))
}

/// The gig after a change.
///
/// # Errors
/// [`GigRefusal::Ended`], [`GigRefusal::Place`].
pub fn change(gig: &Gig, change: &GigChange) -> Result<Gig, GigRefusal> {
    if gig.ended_at.is_some() {
        return Err(GigRefusal::Ended);
    }
    let mut changed = gig.clone();
    let details = &mut changed.details;
    details.coordinates = located(details.coordinates, change.place).map_err(GigRefusal::Place)?;
    change.title.onto(&mut details.title);
    change.venue.onto(&mut details.venue);
    change.city.onto(&mut details.city);
    change.message.onto(&mut details.message);
    change.queue_order.onto(&mut details.queue_order);
    change.max_open_per_guest.onto(&mut details.max_open_per_guest);
    change.members_only.onto(&mut details.members_only);
    change.asks_kind.onto(&mut details.asks_kind);
    Ok(changed)
}

/// The gig after its end at `now`; `None` if it has ended.
#[must_use]
pub fn end(gig: &Gig, now: Timestamp) -> Option<Gig> {
    gig.ended_at.is_none().then(|| Gig { ended_at: Some(now.max(gig.opened_at)), ..gig.clone() })
}
