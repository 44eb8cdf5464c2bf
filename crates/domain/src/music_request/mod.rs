//! A guest's paid request to a DJ for a song, and its state machine.

mod entity_facts;
mod filter;
mod history;
mod moves;
mod open;
mod queue_room;
mod rating;
mod song_url;

pub use filter::{Due, Overdue, RequestFilter, StoredMatch};
pub(crate) use history::history;
pub use moves::{By, Decision, Move, MoveRefusal, RequestMove, decide};
pub use open::{Addressee, Agreement, GigRequestTerms, NewRequest, OpenRefusal, judge, open};
pub use queue_room::{QueueLimits, QueueRefusal, QueueSize};
pub use rating::{RequestRating, Stars, Voice, can_be_rated, counted, rate};
pub use song_url::SongUrl;

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};
use time::Duration;

use crate::ids::{GigId, RequestId, UserId};
use crate::money::{BasisPoints, Money};
use crate::names::{explained_enum, named_enum};
use crate::text::{Line, MusicUrl};
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;
use crate::user::ArtistType;

/// A deployment's terms for requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestTerms {
    /// The period in which a DJ must answer.
    pub pending_for: Duration,
    /// The period in which a DJ must play an accepted request.
    pub accepted_for: Duration,
    /// The period in which a DJ must answer a request in a gig.
    pub gig_pending_for: Duration,
    /// The period in which a DJ must play an accepted request in a gig.
    pub gig_accepted_for: Duration,
    /// The platform's share of the fee.
    pub commission: BasisPoints,
    /// The maximum number of open requests of one guest with one DJ; `None` means no limit.
    pub most_open_per_dj: Option<u32>,
    /// The maximum number of open requests in a gig.
    pub most_open_per_gig: u32,
    /// The maximum number of requests that are made in a gig and not cancelled.
    pub most_made_per_gig: u32,
    /// The link to a song of a request without one.
    pub song_url: SongUrl,
}

impl Default for RequestTerms {
    fn default() -> Self {
        Self {
            pending_for: Duration::minutes(15),
            accepted_for: Duration::hours(1),
            gig_pending_for: Duration::minutes(30),
            gig_accepted_for: Duration::hours(3),
            commission: BasisPoints::default(),
            most_open_per_dj: None,
            most_open_per_gig: 300,
            most_made_per_gig: 20_000,
            song_url: SongUrl::default(),
        }
    }
}

impl RequestTerms {
    /// The period in which a DJ must answer a request, which may belong to a gig.
    #[must_use]
    pub const fn answered_within(&self, gig: Option<GigId>) -> Duration {
        if gig.is_some() { self.gig_pending_for } else { self.pending_for }
    }

    /// Every request without a gig that can still be open at `at` was created later than this.
    #[must_use]
    pub fn oldest_open(&self, at: Timestamp) -> Timestamp {
        at.minus(self.pending_for).minus(self.accepted_for).minus(Duration::days(1))
    }

    /// The period in which a DJ must play an accepted request, which may belong to a gig.
    #[must_use]
    pub const fn played_within(&self, gig: Option<GigId>) -> Duration {
        if gig.is_some() { self.gig_accepted_for } else { self.accepted_for }
    }
}

/// The state of a request, with its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestState {
    /// The DJ has not answered; the fee is held.
    Pending {
        /// The deadline for the answer, after which it expires.
        answer_by: Timestamp,
    },
    /// The DJ has accepted it; the fee is held.
    Accepted {
        /// When it was accepted.
        at: Timestamp,
        /// The deadline for playing it, after which it expires.
        play_by: Timestamp,
    },
    /// The DJ or the service has rejected it.
    Rejected {
        /// When it was rejected.
        at: Timestamp,
        /// Whether the service did so because a request with a fee took its place in a full queue.
        displaced: bool,
    },
    /// The guest has cancelled it.
    Cancelled {
        /// When it was cancelled.
        at: Timestamp,
    },
    /// The DJ missed the deadline.
    Expired {
        /// The deadline, irrespective of when the expiry was recorded.
        at: Timestamp,
    },
    /// The song was played and the fee captured.
    Played {
        /// When it was played.
        at: Timestamp,
        /// The platform's part of the fee.
        commission: Money,
    },
    /// It was played, and an operator refunded the fee.
    Refunded {
        /// When it was refunded.
        at: Timestamp,
        /// The platform's part of the fee, which it returned.
        commission: Money,
    },
    /// A status of a newer version: no rule moves the request or its money.
    Unknown {
        /// The status in that version.
        status: UnknownName,
        /// The time of the last change of state.
        at: Timestamp,
    },
}

/// The status of a request, without its data.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
#[strum(serialize_all = "snake_case")]
pub enum RequestStatus {
    /// Waits for the answer of the DJ. The fee is held.
    Pending,
    /// The DJ has accepted it. The fee is held until the song is played.
    Accepted,
    /// The DJ has rejected it, its gig ended, or a request with a fee took its place. The fee is available again.
    Rejected,
    /// The guest has cancelled it. The fee is available again.
    Cancelled,
    /// The DJ did not answer or play it in time. The fee is available again.
    Expired,
    /// The song was played, and the DJ was paid.
    Played,
    /// An operator returned the fee of a played song to the guest.
    Refunded,
    /// See [`RequestState::Unknown`].
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(RequestStatus, Unknown);
explained_enum!(RequestStatus);

impl RequestStatus {
    /// Whether the fee is held while the request is stored with this status.
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

    /// The deadline after which the state expires, if it has one.
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

    /// The effective state at `now`: past its deadline it is expired, whatever is stored.
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
    /// The request's id.
    pub id: RequestId,
    /// The guest who makes and pays it.
    pub requester: UserId,
    /// The addressed DJ; never the requester.
    pub dj: UserId,
    pub song_title: Line,
    pub artist_name: Line,
    /// The kind of song, which determined its price.
    pub artist_type: ArtistType,
    /// A link to the song.
    pub music_url: MusicUrl,
    /// The fee, fixed when the request was made; never negative.
    pub fee: Money,
    /// The gig of the DJ that was open when the request was made.
    pub gig: Option<GigId>,
    /// Whether it counted as a guest's when it was made.
    pub counts_as_guest: bool,
    pub state: RequestState,
    /// The time of the request.
    pub created_at: Timestamp,
}

/// A user's relation to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Party {
    Requester,
    /// The addressed DJ.
    Dj,
    /// Neither of them.
    Stranger,
}

impl MusicRequest {
    /// The retention of a dedication, from the time of its request.
    pub const DEDICATION_RETENTION: Duration = Duration::days(30);

    /// Whether the retention of its dedication has passed.
    #[must_use]
    pub fn has_lost_dedication(&self, now: Timestamp) -> bool {
        self.created_at.plus(Self::DEDICATION_RETENTION) <= now
    }

    /// Whether the end of its gig at this time rejected it.
    #[must_use]
    pub fn was_rejected_by_end(&self, gig_end: Timestamp) -> bool {
        matches!(self.state, RequestState::Rejected { at, .. } if at >= gig_end)
    }

    /// Whether its song was played, refunded or not.
    #[must_use]
    pub const fn was_played(&self) -> bool {
        matches!(self.state, RequestState::Played { .. } | RequestState::Refunded { .. })
    }

    /// What the DJ earns with it: the fee of a played request, less the commission.
    #[must_use]
    pub fn earned(&self) -> Money {
        match self.state {
            RequestState::Played { commission, .. } => self.fee.checked_sub(commission).unwrap_or_default(),
            _ => Money::ZERO,
        }
    }

    /// The time of the last change of state; the creation time before the first change.
    #[must_use]
    pub const fn updated_at(&self) -> Timestamp {
        match self.state {
            RequestState::Pending { .. } => self.created_at,
            RequestState::Accepted { at, .. }
            | RequestState::Rejected { at, .. }
            | RequestState::Cancelled { at }
            | RequestState::Expired { at }
            | RequestState::Played { at, .. }
            | RequestState::Refunded { at, .. }
            | RequestState::Unknown { at, .. } => at,
        }
    }

    /// The request with its effective state at `now`.
    #[must_use]
    pub fn seen_at(mut self, now: Timestamp) -> Self {
        self.state = self.state.seen_at(now);
        self
    }

    /// Whether it has expired by `now`, and its fee is still held until a job releases it.
    #[must_use]
    pub fn awaits_release(&self, now: Timestamp) -> bool {
        self.state.status().holds_fee() && !self.state.seen_at(now).status().holds_fee()
    }

    /// This user's relation to the request.
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
