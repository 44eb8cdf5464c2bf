//! A guest's paid request to a DJ for a song, and every move of its life.

mod filter;
mod history;
mod moves;
mod open;

pub use filter::{Due, Overdue, RequestFilter, StoredMatch};
pub(crate) use history::history;
pub use moves::{By, Decision, Move, MoveRefusal, RequestMove, decide};
pub use open::{NewRequest, OpenRefusal, open};

use strum::{EnumIter, EnumString, IntoStaticStr};
use time::Duration;

use crate::account::ArtistType;
use crate::ids::{RequestId, UserId};
use crate::money::{BasisPoints, Money};
use crate::names::named_enum;
use crate::text::{Line, MusicUrl};
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// What a deployment decides about requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestTerms {
    /// How long a DJ has to answer.
    pub pending_for: Duration,
    /// How long a DJ has to play what was accepted.
    pub accepted_for: Duration,
    /// The share of the fee that the house keeps.
    pub commission: BasisPoints,
    /// The most open requests of one guest with one DJ; `None` means any number.
    pub most_open_per_dj: Option<u32>,
}

/// Where a request stands, with what belongs to that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestState {
    /// The DJ has not answered; the fee is held.
    Pending {
        /// When it expires unless the DJ answers.
        answer_by: Timestamp,
    },
    /// The DJ means to play it; the fee is held.
    Accepted {
        /// When it was accepted.
        at: Timestamp,
        /// When it expires unless it is played.
        play_by: Timestamp,
    },
    /// The DJ does not play it.
    Rejected {
        /// When it was rejected.
        at: Timestamp,
    },
    /// The guest took it back.
    Cancelled {
        /// When it was cancelled.
        at: Timestamp,
    },
    /// The DJ let its time pass.
    Expired {
        /// When its time was over, whenever that was noticed.
        at: Timestamp,
    },
    /// The song was played, the fee captured.
    Played {
        /// When it was played.
        at: Timestamp,
        /// What the house kept of the fee.
        commission: Money,
    },
    /// It was played, and an operator gave the fee back.
    Refunded {
        /// When it was refunded.
        at: Timestamp,
        /// What the house had kept, and gave back.
        commission: Money,
    },
    /// A newer version put it there: no rule moves it or its money.
    Unknown {
        /// What that version calls it.
        status: UnknownName,
        /// When its state last changed.
        at: Timestamp,
    },
}

/// A request's state by name alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum RequestStatus {
    /// See [`RequestState::Pending`].
    Pending,
    /// See [`RequestState::Accepted`].
    Accepted,
    /// See [`RequestState::Rejected`].
    Rejected,
    /// See [`RequestState::Cancelled`].
    Cancelled,
    /// See [`RequestState::Expired`].
    Expired,
    /// See [`RequestState::Played`].
    Played,
    /// See [`RequestState::Refunded`].
    Refunded,
    /// See [`RequestState::Unknown`].
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(RequestStatus, Unknown);

impl RequestStatus {
    /// Whether the fee is held as long as the request is stored so.
    #[must_use]
    pub const fn holds_fee(self) -> bool {
        matches!(self, Self::Pending | Self::Accepted)
    }
}

impl RequestState {
    /// The state's name.
    #[must_use]
    pub const fn status(self) -> RequestStatus {
        match self {
            Self::Pending { .. } => RequestStatus::Pending,
            Self::Accepted { .. } => RequestStatus::Accepted,
            Self::Rejected { .. } => RequestStatus::Rejected,
            Self::Cancelled { .. } => RequestStatus::Cancelled,
            Self::Expired { .. } => RequestStatus::Expired,
            Self::Played { .. } => RequestStatus::Played,
            Self::Refunded { .. } => RequestStatus::Refunded,
            Self::Unknown { status, .. } => RequestStatus::Unknown(status),
        }
    }

    /// When the state ends by the clock alone, if it does.
    #[must_use]
    pub const fn expires_at(self) -> Option<Timestamp> {
        match self {
            Self::Pending { answer_by } => Some(answer_by),
            Self::Accepted { play_by, .. } => Some(play_by),
            Self::Rejected { .. }
            | Self::Cancelled { .. }
            | Self::Expired { .. }
            | Self::Played { .. }
            | Self::Refunded { .. }
            | Self::Unknown { .. } => None,
        }
    }

    /// The state as anybody sees it at this moment: past its time it is expired, whatever is stored.
    #[must_use]
    pub fn seen_at(self, now: Timestamp) -> Self {
        match self.expires_at() {
            Some(at) if now >= at => Self::Expired { at },
            Some(_) | None => self,
        }
    }
}

/// A request for a song.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MusicRequest {
    /// Which it is.
    pub id: RequestId,
    /// Who asks and pays.
    pub requester: UserId,
    /// Who is asked; never the requester.
    pub dj: UserId,
    /// The song.
    pub song_title: Line,
    /// Who made it.
    pub artist_name: Line,
    /// What kind of song, which decided its price.
    pub artist_type: ArtistType,
    /// Where it can be heard.
    pub music_url: MusicUrl,
    /// What it costs, frozen when it was made; never negative.
    pub fee: Money,
    /// Where it stands.
    pub state: RequestState,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What somebody has to do with a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Party {
    /// Made it.
    Requester,
    /// Is asked.
    Dj,
    /// Has nothing to do with it.
    Stranger,
}

impl MusicRequest {
    /// When its state last changed; at its making before the first change.
    #[must_use]
    pub const fn updated_at(&self) -> Timestamp {
        match self.state {
            RequestState::Pending { .. } => self.created_at,
            RequestState::Accepted { at, .. }
            | RequestState::Rejected { at }
            | RequestState::Cancelled { at }
            | RequestState::Expired { at }
            | RequestState::Played { at, .. }
            | RequestState::Refunded { at, .. }
            | RequestState::Unknown { at, .. } => at,
        }
    }

    /// The request as anybody sees it at this moment.
    #[must_use]
    pub fn seen_at(mut self, now: Timestamp) -> Self {
        self.state = self.state.seen_at(now);
        self
    }

    /// What this person has to do with it.
    #[must_use]
    pub fn party(&self, user: UserId) -> Party {
        if user == self.dj {
            Party::Dj
        } else if user == self.requester {
            Party::Requester
        } else {
            Party::Stranger
        }
    }
}
