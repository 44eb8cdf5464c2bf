//! Why a guest cannot request a song now.

use cuepoint_domain::application::queries::GuestView;
use cuepoint_domain::gig::Board;
use cuepoint_domain::gig::GigStatus;
use cuepoint_domain::music_request::{OpenRefusal, QueueRefusal};

use crate::frame::Frame;
use crate::texts::Text;

/// Why a guest cannot request a song now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closed {
    /// The DJ accepts no requests now.
    Paused,
    /// The gig has ended within a day.
    Ended,
    /// The DJ has no gig.
    Offline,
    /// The gig has as many open requests as it can have.
    QueueFull,
    /// As many requests were made in the gig as it can have.
    NoMoreRequests,
    /// The same, but only for requests that count as guests'.
    NoMoreRequestsOfGuests,
    /// The guest has as many open requests as a guest can have.
    TooManyOpen {
        /// The maximum.
        most: u32,
    },
    /// The DJ blocks the guest.
    Blocked,
    /// The gig takes no requests of guest accounts.
    MembersOnly,
    /// The guest is the DJ.
    OwnGig,
}

impl Closed {
    /// The reason that a board shows to everybody; `None` while it takes requests. `has_ended_lately` says whether the
    /// last gig of the DJ is still [recent](cuepoint_domain::gig::Gig::is_recent).
    #[must_use]
    pub fn of_board(board: &Board, has_ended_lately: bool) -> Option<Self> {
        match board.gig.as_ref().map(|gig| gig.status) {
            Some(GigStatus::Open) => None,
            Some(GigStatus::Paused) => Some(Self::Paused),
            Some(GigStatus::Ended) => Some(Self::Ended),
            None if has_ended_lately => Some(Self::Ended),
            None => Some(Self::Offline),
        }
    }

    /// Why this guest can request no song now; a block by the DJ is one reason.
    #[must_use]
    pub fn of_view(view: &GuestView) -> Option<Self> {
        let of_board = Self::of_board(&view.board, view.ended_at.is_some());
        if view.is_blocked { Some(Self::Blocked) } else { of_board }
    }

    /// The reason of a refused request; `None` if the form can be sent again with other values.
    #[must_use]
    pub const fn of_refusal(refusal: OpenRefusal) -> Option<Self> {
        match refusal {
            OpenRefusal::Oneself => Some(Self::OwnGig),
            OpenRefusal::NoSuchDj => Some(Self::Offline),
            OpenRefusal::Blocked => Some(Self::Blocked),
            OpenRefusal::DjOffline => Some(Self::Paused),
            OpenRefusal::DedicationWithoutGig => Some(Self::Ended),
            OpenRefusal::MembersOnly => Some(Self::MembersOnly),
            OpenRefusal::FeeBelowPrice(_) => None,
        }
    }

    /// The reason of a queue without room.
    #[must_use]
    pub const fn of_queue(refusal: QueueRefusal) -> Self {
        match refusal {
            QueueRefusal::Full(_) | QueueRefusal::FullForGuests(_) => Self::QueueFull,
            QueueRefusal::TooManyMade(_) => Self::NoMoreRequests,
            QueueRefusal::TooManyMadeForGuests(_) => Self::NoMoreRequestsOfGuests,
        }
    }

    pub(crate) fn title(self, frame: &Frame<'_>) -> Text {
        let t = frame.t;
        match self {
            Self::Paused => t.paused_title(),
            Self::Ended => t.ended_title(),
            Self::Offline => t.offline_title(),
            Self::QueueFull => t.queue_full_title(),
            Self::NoMoreRequests | Self::NoMoreRequestsOfGuests => t.no_more_requests_title(),
            Self::TooManyOpen { .. } => t.too_many_open_title(),
            Self::Blocked => t.blocked_title(),
            Self::MembersOnly => t.members_only_title(),
            Self::OwnGig => t.own_gig_title(),
        }
    }

    pub(crate) fn advice(self, frame: &Frame<'_>) -> Text {
        let t = frame.t;
        match self {
            Self::Paused => t.paused_advice(),
            Self::Ended => t.ended_advice(),
            Self::Offline => t.offline_advice(),
            Self::QueueFull => t.queue_full_advice(),
            Self::NoMoreRequests => t.no_more_requests_advice(),
            Self::NoMoreRequestsOfGuests => t.no_more_requests_of_guests_advice(),
            Self::TooManyOpen { most } => t.too_many_open_advice(most),
            Self::Blocked => t.blocked_advice(),
            Self::MembersOnly => t.members_only_advice(),
            Self::OwnGig => t.own_gig_advice(),
        }
    }

    /// Whether another look at the page can help.
    pub(crate) const fn may_pass(self) -> bool {
        matches!(self, Self::Paused | Self::QueueFull | Self::TooManyOpen { .. })
    }
}
