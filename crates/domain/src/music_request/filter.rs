//! Filters of request lists, in terms that a store can evaluate without knowing a rule.

use crate::ids::{RequestId, UserId};
use crate::music_request::{MusicRequest, RequestStatus};
use crate::timestamp::Timestamp;

/// The filter of a request list; all conditions must hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestFilter {
    /// Only requests made by this user.
    pub requester: Option<UserId>,
    /// Only requests addressed to this DJ.
    pub dj: Option<UserId>,
    /// Only requests whose effective status at `now` is this one.
    pub status: Option<RequestStatus>,
    /// The time of the query.
    pub now: Timestamp,
}

/// The filter of overdue requests: those stored with a held fee whose deadline has passed by `now`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overdue {
    /// Only requests made by this user.
    pub requester: Option<UserId>,
    /// The time by which their deadline has passed.
    pub now: Timestamp,
    /// Only requests after the one with this deadline and id.
    pub after: Option<(Timestamp, RequestId)>,
    /// The maximum number of rows.
    pub limit: u32,
}

/// Whether a stored request's deadline must have passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// Either way.
    Either,
    /// `expires_at` is set, and not after the time of the query.
    Over,
    /// `expires_at` is after the time of the query.
    NotYet,
}

/// Requests stored with this status whose deadline has, or has not, passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoredMatch {
    pub stored: RequestStatus,
    /// The condition on their deadline.
    pub due: Due,
}

impl StoredMatch {
    const fn new(stored: RequestStatus, due: Due) -> Self {
        Self { stored, due }
    }
}

impl RequestFilter {
    /// The stored requests that have the wanted effective status: those that match any of these; `None` means
    /// all.
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

    /// Whether the filter matches this request.
    #[must_use]
    pub fn shows(&self, request: &MusicRequest) -> bool {
        self.requester.is_none_or(|requester| requester == request.requester)
            && self.dj.is_none_or(|dj| dj == request.dj)
            && self.status.is_none_or(|status| status == request.state.seen_at(self.now).status())
    }
}
