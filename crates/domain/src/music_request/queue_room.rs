//! The room in the queue of a gig: its limits, and which request gives way when it is full.

use std::cmp::Reverse;

use thiserror::Error;

use crate::music_request::{MusicRequest, RequestState, RequestStatus, RequestTerms};
use crate::timestamp::Timestamp;

/// The numbers of requests in a gig.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueSize {
    /// All open requests.
    pub open: u64,
    /// The open requests that count as guests'.
    pub open_of_guests: u64,
    /// All requests that were made and not cancelled.
    pub made: u64,
}

impl QueueSize {
    /// The numbers after a request was opened, and possibly displaced another one.
    #[must_use]
    pub fn with(self, opened: &MusicRequest, displaced: Option<&MusicRequest>) -> Self {
        let of_guests = |request: &MusicRequest| u64::from(request.counts_as_guest);
        Self {
            open: self.open.saturating_add(1),
            open_of_guests: self.open_of_guests.saturating_add(of_guests(opened)),
            made: self.made.saturating_add(1),
        }
        .without(displaced)
    }

    /// The numbers without the displaced request, if there is one.
    #[must_use]
    pub fn without(self, displaced: Option<&MusicRequest>) -> Self {
        let Some(displaced) = displaced else { return self };
        Self {
            open: self.open.saturating_sub(1),
            open_of_guests: self.open_of_guests.saturating_sub(u64::from(displaced.counts_as_guest)),
            ..self
        }
    }
}

/// The limits of the requests in a gig.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueLimits {
    /// The maximum number of open requests.
    pub most_open: u32,
    /// The maximum number of requests that are made and not cancelled.
    pub most_made: u32,
}

/// Why the queue of a gig has no room for a request. Each variant has the maximum that is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum QueueRefusal {
    /// This many requests were made in the gig.
    #[error("{0} requests were made in the gig")]
    TooManyMade(u32),
    /// This many requests were made in the gig. The rest is for requests that do not count as guests'.
    #[error("{0} requests were made in the gig, and the rest is not for guests")]
    TooManyMadeForGuests(u32),
    /// This many requests are open.
    #[error("{0} requests are open in the gig")]
    Full(u32),
    /// This many requests that count as guests' are open.
    #[error("{0} requests of guests are open in the gig")]
    FullForGuests(u32),
}

impl QueueRefusal {
    /// Whether the displacement of another request can make room.
    #[must_use]
    pub const fn ends_with_displacement(self) -> bool {
        matches!(self, Self::Full(_) | Self::FullForGuests(_))
    }
}

impl QueueLimits {
    /// The maximum number of open requests that count as guests': two thirds of the maximum, and one at least.
    #[must_use]
    pub fn most_open_of_guests(self) -> u32 {
        self.most_open.saturating_sub(self.most_open.div_ceil(3)).max(1)
    }

    /// The maximum number of requests in a gig for requests that count as guests': nine tenths of the maximum, and one at
    /// least.
    #[must_use]
    pub fn most_made_for_guests(self) -> u32 {
        self.most_made.saturating_sub(self.most_made.div_ceil(10)).max(1)
    }

    /// Why a queue of this size has no room for a request; `None` if it has.
    #[must_use]
    pub fn refusal(self, size: QueueSize, counts_as_guest: bool) -> Option<QueueRefusal> {
        let QueueSize { open, made, .. } = size;
        let for_guests = self.most_made_for_guests();
        if made >= self.most_made.into() {
            Some(QueueRefusal::TooManyMade(self.most_made))
        } else if counts_as_guest && made >= for_guests.into() {
            Some(QueueRefusal::TooManyMadeForGuests(for_guests))
        } else if open >= self.most_open.into() {
            Some(QueueRefusal::Full(self.most_open))
        } else if self.is_full_for(size, counts_as_guest) {
            Some(QueueRefusal::FullForGuests(self.most_open_of_guests()))
        } else {
            None
        }
    }

    /// Whether the displacement of this request makes room for a new one in a queue of this size. If the two thirds of
    /// guests are full, a new request that counts as a guest's can displace only another one that does.
    #[must_use]
    pub fn makes_room(self, size: QueueSize, counts_as_guest: bool, displaced: &MusicRequest) -> bool {
        displaced.counts_as_guest || !self.is_full_for(size, counts_as_guest)
    }

    fn is_full_for(self, size: QueueSize, counts_as_guest: bool) -> bool {
        counts_as_guest && size.open_of_guests >= self.most_open_of_guests().into()
    }
}

impl RequestTerms {
    /// The limits of the requests in a gig.
    #[must_use]
    pub const fn queue_limits(&self) -> QueueLimits {
        QueueLimits { most_open: self.most_open_per_gig, most_made: self.most_made_per_gig }
    }
}

impl MusicRequest {
    /// The maximum number of requests that a plan takes along as candidates for displacement. Requests with a fee that
    /// arrive together displace different candidates.
    pub const MOST_DISPLACEABLE: usize = 64;

    /// The requests among these that can be displaced at `now`, in the order of displacement: first the requests that count
    /// as guests', then the others, each from the newest to the oldest.
    #[must_use]
    pub fn displaceable(requests: impl IntoIterator<Item = Self>, now: Timestamp) -> Vec<Self> {
        let mut free: Vec<Self> =
            requests.into_iter().filter(|request| request.can_be_displaced(now)).collect();
        free.sort_unstable_by_key(|request| {
            Reverse((request.counts_as_guest, request.created_at, request.id))
        });
        free.truncate(Self::MOST_DISPLACEABLE);
        free
    }

    /// Whether a request with a fee can take its place at `now`: it is pending, in a gig, and without a fee.
    #[must_use]
    pub fn can_be_displaced(&self, now: Timestamp) -> bool {
        let is_pending = self.state.seen_at(now).status() == RequestStatus::Pending;
        is_pending && self.fee.is_zero() && self.gig.is_some()
    }

    /// The request after another one took its place. It holds no fee, so that no money moves.
    #[must_use]
    pub(crate) fn displaced(&self, now: Timestamp) -> Self {
        let at = now.max(self.created_at);
        Self { state: RequestState::Rejected { at, displaced: true }, ..self.clone() }
    }

    /// Whether a request with a fee took its place.
    #[must_use]
    pub const fn was_displaced(&self) -> bool {
        matches!(self.state, RequestState::Rejected { displaced: true, .. })
    }
}
