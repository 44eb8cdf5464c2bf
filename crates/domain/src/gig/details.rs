//! What a DJ says about a gig.

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};

use crate::names::{explained_enum, named_enum};
use crate::text::{GigTitle, Line, ShortMessage};
use crate::user::Coordinates;

/// The order in which the queue of a gig advises the DJ to play.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Default,
    IntoStaticStr,
    EnumString,
    EnumIter,
    EnumMessage,
)]
#[strum(serialize_all = "snake_case")]
pub enum QueueOrder {
    /// In each round every guest has one song. Within a round, the higher fee comes first, then the earlier request. A
    /// guest who joins later starts in the current round.
    #[default]
    Rounds,
    /// The earlier request comes first.
    Arrival,
}

named_enum!(QueueOrder);
explained_enum!(QueueOrder);

/// The maximum number of open requests of one guest in a gig, 1 to 100.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct GuestLimit(u8);

impl GuestLimit {
    /// The lowest limit.
    pub const MIN: u8 = 1;
    /// The highest limit.
    pub const MAX: u8 = 100;

    /// The limit; `None` unless it is from [`Self::MIN`] to [`Self::MAX`].
    #[must_use]
    pub fn new(most: u8) -> Option<Self> {
        (Self::MIN..=Self::MAX).contains(&most).then_some(Self(most))
    }

    /// The number of requests.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Default for GuestLimit {
    fn default() -> Self {
        Self(3)
    }
}

/// What a DJ says about a gig.
#[derive(Clone, PartialEq, Debug)]
pub struct GigDetails {
    pub title: GigTitle,
    /// The venue, such as a club.
    pub venue: Option<Line>,
    pub city: Option<Line>,
    pub coordinates: Option<Coordinates>,
    /// A message to the guests.
    pub message: Option<ShortMessage>,
    pub queue_order: QueueOrder,
    /// The maximum number of open requests of one guest.
    pub max_open_per_guest: GuestLimit,
    /// Whether guest accounts cannot make requests.
    pub members_only: bool,
    /// Whether guests choose the kind of their song. Otherwise the pages show the price of a popular song alone.
    pub asks_kind: bool,
}

impl GigDetails {
    /// The title of a gig whose DJ was erased.
    pub const ERASED_TITLE: &'static str = "Erased";
}
