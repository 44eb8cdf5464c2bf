//! Which requests a list shows, in terms that a store can look up without knowing a rule.

use crate::ids::{RequestId, UserId};
use crate::music_request::{MusicRequest, RequestStatus};
use crate::timestamp::Timestamp;

/// Which requests a list shows: all conditions at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestFilter {
    /// Only those made by this person.
    pub requester: Option<UserId>,
    /// Only those addressed to this DJ.
    pub dj: Option<UserId>,
    /// Only those seen with this status at `now`.
    pub status: Option<RequestStatus>,
    /// The moment at which the list is seen.
    pub now: Timestamp,
}

/// Which overdue requests are looked for: those stored as holding a fee whose time was over by `now`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overdue {
    /// Only those made by this person.
    pub requester: Option<UserId>,
    /// The moment by which their time was over.
    pub now: Timestamp,
    /// Only those that come after the one that expired then and has this id.
    pub after: Option<(Timestamp, RequestId)>,
    /// At most so many.
    pub limit: u32,
}

/// Whether a stored request's time must be over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// It does not matter.
    Either,
    /// `expires_at` is there, and not after the moment.
    Over,
    /// `expires_at` is after the moment.
    NotYet,
}

/// Requests stored with this status whose time is, or is not, over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoredMatch {
    /// The stored status.
    pub stored: RequestStatus,
    /// What their time must be.
    pub due: Due,
}

impl StoredMatch {
    const fn new(stored: RequestStatus, due: Due) -> Self {
        Self { stored, due }
    }
}

impl RequestFilter {
    /// The stored requests that are seen with the wanted status: those that match any of these; `None` means all.
    #[must_use]
    pub fn stored(&self) -> Option<Vec<StoredMatch>> {
        use RequestStatus::{Accepted, Expired, Pending};
        let status = self.status?;
        Some(match status {
            Pending | Accepted => vec![StoredMatch::new(status, Due::NotYet)],
            Expired => vec![
                StoredMatch::new(Expired, Due::Either),
                StoredMatch::new(Pending, Due::Over),
                StoredMatch::new(Accepted, Due::Over),
            ],
            RequestStatus::Rejected
            | RequestStatus::Cancelled
            | RequestStatus::Played
            | RequestStatus::Refunded
            | RequestStatus::Unknown(_) => vec![StoredMatch::new(status, Due::Either)],
        })
    }

    /// Whether the list shows this request.
    #[must_use]
    pub fn shows(&self, request: &MusicRequest) -> bool {
        self.requester.is_none_or(|requester| requester == request.requester)
            && self.dj.is_none_or(|dj| dj == request.dj)
            && self.status.is_none_or(|status| status == request.state.seen_at(self.now).status())
    }
}
