//! A guest's rating of a played request.

use std::collections::BTreeMap;

use time::Duration;

use crate::entity_facts::EntityFacts;
use crate::ids::{GigId, RatingId, UserId};
use crate::money::Money;
use crate::music_request::{MoveRefusal, MusicRequest, RequestState};
use crate::timestamp::Timestamp;
use crate::user::Rating;

/// One to five stars.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stars(u8);

impl Stars {
    /// The fewest stars.
    pub const MIN: u8 = 1;
    /// The most stars.
    pub const MAX: u8 = 5;

    /// This number of stars; `None` unless it is from [`Self::MIN`] to [`Self::MAX`].
    #[must_use]
    pub fn new(number: u8) -> Option<Self> {
        (Self::MIN..=Self::MAX).contains(&number).then_some(Self(number))
    }

    /// The number of stars.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// The rating of a request. It has no owner: it remains after both users are erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestRating {
    /// The number of the request. A request has at most one rating.
    pub id: RatingId,
    pub stars: Stars,
    /// The time of the rating, or of its last change.
    pub rated_at: Timestamp,
}

impl RequestRating {
    /// The rating period: the time after the play in which a request can be rated.
    pub const WITHIN: Duration = Duration::days(7);

    /// Whether this rating counts instead of `other`, a rating of the same voice: it is newer, or a changed version of
    /// `other`. A change never makes a rating older.
    pub(crate) fn counts_instead_of(&self, other: &Self) -> bool {
        self.id == other.id || (self.rated_at, self.id) > (other.rated_at, other.id)
    }

    /// The change of the DJ's rating by this new or changed rating. `newest` is the newest rating of its voice before.
    pub(crate) fn change_of(&self, newest: Option<&Self>) -> Rating {
        let stars = i64::from(self.stars.get());
        match newest {
            None => Rating { stars, count: 1 },
            Some(newest) if self.counts_instead_of(newest) => {
                Rating { stars: stars.saturating_sub(i64::from(newest.stars.get())), count: 0 }
            }
            Some(_) => Rating::default(),
        }
    }
}

/// A voice in the rating of a DJ: a guest in a gig, or a guest and a DJ outside gigs. Only the newest rating of a voice
/// counts, because a guest can buy any number of requests, and an accomplice gets the money back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Voice {
    pub guest: UserId,
    pub dj: UserId,
    pub gig: Option<GigId>,
}

impl Voice {
    /// The voice of the rating of a request.
    #[must_use]
    pub const fn of(request: &MusicRequest) -> Self {
        Self { guest: request.requester, dj: request.dj, gig: request.gig }
    }
}

/// The sum of the newest rating of each voice.
#[must_use]
pub fn counted<'r>(ratings: impl Iterator<Item = (Voice, &'r RequestRating)>) -> Rating {
    let mut newest: BTreeMap<Voice, &RequestRating> = BTreeMap::new();
    for (voice, rating) in ratings {
        let counts = newest.entry(voice).or_insert(rating);
        if rating.counts_instead_of(counts) {
            *counts = rating;
        }
    }
    newest.values().fold(Rating::default(), |sum, rating| Rating {
        stars: sum.stars.saturating_add(rating.stars.get().into()),
        count: sum.count.saturating_add(1),
    })
}

impl EntityFacts for RequestRating {
    fn owner(&self) -> Option<UserId> {
        None
    }

    fn shows_balance(&self) -> bool {
        false
    }

    fn takes_new_id(&self) -> bool {
        false
    }

    fn stands_as(&self, loaded: &Self) -> bool {
        self == loaded
    }

    fn is_recorded_as(&self, _then: &Self, _whole: bool, _opens: bool) -> bool {
        false
    }
}

/// Whether the guest can rate a request at `now`: it was played within [`RequestRating::WITHIN`] for a fee.
#[must_use]
pub fn can_be_rated(request: &MusicRequest, now: Timestamp) -> bool {
    match request.state {
        RequestState::Played { at, .. } => request.fee > Money::ZERO && now < at.plus(RequestRating::WITHIN),
        _ => false,
    }
}

/// The rating of a request by its guest at `now`.
///
/// # Errors
/// [`MoveRefusal::InvalidTransition`] unless it [can be rated](can_be_rated).
pub fn rate(request: &MusicRequest, stars: Stars, now: Timestamp) -> Result<RequestRating, MoveRefusal> {
    if can_be_rated(request, now) {
        return Ok(RequestRating { id: RatingId::of(request.id), stars, rated_at: now });
    }
    let current = request.state.seen_at(now).status();
    Err(MoveRefusal::InvalidTransition { current, allowed: Vec::new() })
}
