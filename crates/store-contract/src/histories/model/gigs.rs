//! Gigs of DJs, and the requests that end with them.

use super::{Model, Request, Seen};
use crate::harness::refusal::Refusal;

/// The time in which a request in a gig must be answered.
pub(super) const PENDING_SECONDS: i64 = 30 * 60;
/// The time in which an accepted request in a gig must be played.
pub(super) const ACCEPTED_SECONDS: i64 = 3 * 60 * 60;
/// The time after its opening at which a gig ends.
pub(crate) const LONGEST_SECONDS: i64 = 12 * 60 * 60;

/// A gig.
#[derive(Clone, Debug)]
pub(crate) struct Gig {
    pub(crate) dj: usize,
    /// The maximum number of open requests of one guest.
    pub(super) most: u32,
    opened: i64,
    pub(crate) ended: Option<i64>,
}

/// The refusal to accept or play a request of an ended gig, which has this status.
pub(super) fn transition_after_end(current: &'static str) -> Refusal {
    let cancelled = (current == "pending").then_some("cancelled");
    Refusal::Transition { current, allowed: cancelled.into_iter().chain(["rejected"]).collect() }
}

impl Model {
    /// The open gig of a DJ.
    pub(super) fn open_gig_of(&self, dj: usize) -> Option<usize> {
        self.gigs.iter().position(|gig| gig.dj == dj && gig.ended.is_none())
    }

    fn see_gig(&self, place: usize) -> Seen {
        let Gig { dj, ended, .. } = self.gigs[place];
        let online = self.people[dj].dj.as_ref().unwrap().online;
        let status = match (ended, online) {
            (Some(_), _) => "ended",
            (None, true) => "open",
            (None, false) => "paused",
        };
        Seen::Gig { status }
    }

    pub(crate) fn open_gig(
        &mut self,
        dj: usize,
        most: u8,
        popular: Option<i128>,
        now: i64,
    ) -> Result<Seen, Refusal> {
        if self.open_gig_of(dj).is_some() {
            return Err(Refusal::GigOpen);
        }
        self.gigs.push(Gig { dj, most: most.into(), opened: now, ended: None });
        let profile = self.people[dj].dj.as_mut().unwrap();
        profile.online = true;
        profile.popular = popular.unwrap_or(profile.popular);
        Ok(self.see_gig(self.gigs.len() - 1))
    }

    pub(crate) fn change_gig(
        &mut self,
        place: usize,
        most: u8,
        accepting: Option<bool>,
    ) -> Result<Seen, Refusal> {
        if self.gigs[place].ended.is_some() {
            return Err(Refusal::GigEnded);
        }
        self.gigs[place].most = most.into();
        let profile = self.people[self.gigs[place].dj].dj.as_mut().unwrap();
        profile.online = accepting.unwrap_or(profile.online);
        Ok(self.see_gig(place))
    }

    pub(crate) fn end_gig(&mut self, place: usize, now: i64) -> Result<Seen, Refusal> {
        if self.gigs[place].ended.is_none() {
            self.gigs[place].ended = Some(now);
            self.people[self.gigs[place].dj].dj.as_mut().unwrap().online = false;
        }
        Ok(self.see_gig(place))
    }

    /// Whether the service ends a gig.
    pub(crate) fn is_due(&self, place: usize, now: i64) -> bool {
        let gig = &self.gigs[place];
        gig.ended.is_none() && (gig.opened + LONGEST_SECONDS <= now || self.people[gig.dj].is_suspended)
    }

    /// The open requests that end with a gig, as stored.
    pub(crate) fn open_in(&self, place: usize) -> Vec<usize> {
        let Gig { dj, ended, .. } = self.gigs[place];
        let is_open_in = |request: &Request| {
            let is_earlier = request.gig.is_none() && ended.is_none_or(|ended| request.made < ended);
            ["pending", "accepted"].contains(&request.status)
                && request.dj == dj
                && (request.gig == Some(place) || is_earlier)
        };
        let requests = self.requests.iter().enumerate();
        requests.filter(|(_, request)| is_open_in(request)).map(|(place, _)| place).collect()
    }

    /// Rejects an open request of an ended gig, or expires it.
    pub(crate) fn reject_in_gig(&mut self, place: usize, now: i64) -> Result<Seen, Refusal> {
        if self.requests[place].overdue(now).is_some() {
            return self.sweep(place, now);
        }
        let (guest, fee) = (self.requests[place].guest, self.requests[place].fee);
        self.requests[place].end("rejected", now);
        self.release(guest, fee);
        self.see(place, now)
    }
}
