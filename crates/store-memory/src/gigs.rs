//! Gigs, the codes of DJs, and the dedications of requests.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;
use cuepoint_domain::gig::most_played::Play;
use cuepoint_domain::gig::{AssignedCode, DjCode, Gig, Song};
use cuepoint_domain::ids::{GigId, RatingId, RequestId, UserId};
use cuepoint_domain::music_request::{MusicRequest, RequestRating, RequestState, RequestStatus, Voice};
use cuepoint_domain::operation::{Addition, Changes, Entity};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{GigRequests, Gigs, IdsInGig, Unavailable};
use cuepoint_domain::text::ShortMessage;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::Coordinates;

use crate::lists::{first, newest_first, page_of, sorted};
use crate::{MemoryStore, State};

/// The rows about gigs that the book does not have.
#[derive(Debug, Default)]
pub(crate) struct GigTable {
    codes: Vec<AssignedCode>,
    dedications: BTreeMap<RequestId, ShortMessage>,
    /// The number of requests of each gig that were not cancelled.
    made: HashMap<GigId, u64>,
}

impl GigTable {
    /// Counts an opened request of a gig, and adds the row that belongs to an opened entity.
    pub(crate) fn add(&mut self, changes: &Changes) {
        if let Some(Entity::MusicRequest(MusicRequest { gig: Some(gig), .. })) = &changes.opened {
            let made = self.made.entry(*gig).or_default();
            *made = made.saturating_add(1);
        }
        if let Some(Entity::MusicRequest(MusicRequest { gig: Some(gig), state, .. })) = &changes.moved
            && state.status() == RequestStatus::Cancelled
        {
            let made = self.made.entry(*gig).or_default();
            *made = made.saturating_sub(1);
        }
        match (&changes.addition, &changes.opened) {
            (Some(Addition::Code(assigned)), _) => self.codes.push(*assigned),
            (Some(Addition::Dedication(message)), Some(Entity::MusicRequest(request))) => {
                self.dedications.insert(request.id, message.clone());
            }
            (Some(Addition::Dedication(_)), _) | (None, _) => {}
        }
    }

    /// The number of requests of a gig that were not cancelled.
    pub(crate) fn made_in(&self, gig: GigId) -> u64 {
        self.made.get(&gig).copied().unwrap_or_default()
    }

    /// Removes the dedications of requests that are not kept.
    pub(crate) fn keep_dedications(&mut self, is_kept: impl Fn(RequestId) -> bool) {
        self.dedications.retain(|id, _| is_kept(*id));
    }

    /// The dedication of a request.
    pub(crate) fn dedication(&self, request: RequestId) -> Option<&ShortMessage> {
        self.dedications.get(&request)
    }
}

/// The requests of a gig, and the open ones to its DJ that belong to no gig and were created before its end.
fn requests_of<'s>(
    state: &'s State,
    gig: &'s Gig,
    oldest: Timestamp,
) -> impl Iterator<Item = &'s MusicRequest> {
    let before_end = |request: &MusicRequest| gig.ended_at.is_none_or(|end| request.created_at < end);
    state.requests(None, Some(gig.dj)).filter(move |request| match request.gig {
        Some(other) => other == gig.id,
        None => request.state.status().holds_fee() && request.created_at > oldest && before_end(request),
    })
}

/// The requests with a gig.
fn of_gig(state: &State, gig: GigId) -> impl Iterator<Item = &MusicRequest> {
    let dj = state.book.get(gig).map(|gig| gig.dj);
    state.requests(None, dj).filter(move |request| request.gig == Some(gig))
}

#[async_trait]
impl Gigs for MemoryStore {
    async fn open_gig(&self, dj: UserId) -> Result<Option<Gig>, Unavailable> {
        Ok(self.lock()?.book.open_gig(dj).cloned())
    }

    async fn gigs(&self, dj: UserId, page: PageRequest) -> Result<Rows<Gig>, Unavailable> {
        let state = self.lock()?;
        let theirs = state.book.all::<Gig>().filter(|gig| gig.dj == dj);
        Ok(page_of(newest_first(theirs, |gig| (gig.opened_at, gig.id)), page))
    }

    async fn code_of(&self, dj: UserId) -> Result<Option<AssignedCode>, Unavailable> {
        let state = self.lock()?;
        let theirs = state.gigs.codes.iter().filter(|assigned| assigned.dj == dj);
        Ok(theirs.max_by_key(|assigned| assigned.at).copied())
    }

    async fn assigned(&self, code: DjCode) -> Result<Option<AssignedCode>, Unavailable> {
        Ok(self.lock()?.gigs.codes.iter().find(|assigned| assigned.code == code).copied())
    }

    async fn gig_requests(
        &self,
        gig: &Gig,
        which: GigRequests,
        oldest: Timestamp,
    ) -> Result<Vec<MusicRequest>, Unavailable> {
        let state = self.lock()?;
        let is_wanted = |request: &&MusicRequest| which.includes(request.state.status());
        let (mut with, mut without) = (which.most_with_gig(), which.most_without_gig());
        let mut has_room = |request: &&MusicRequest| {
            let left = if request.gig.is_some() { &mut with } else { &mut without };
            let has_room = *left > 0;
            *left = left.saturating_sub(1);
            has_room
        };
        let requests = sorted(requests_of(&state, gig, oldest).filter(is_wanted), |request| request.id);
        Ok(requests.into_iter().filter(|request| has_room(request)).cloned().collect())
    }

    async fn requests_of_guest(
        &self,
        gig: &Gig,
        guest: UserId,
        oldest: Timestamp,
        limit: u32,
    ) -> Result<Vec<MusicRequest>, Unavailable> {
        let state = self.lock()?;
        let own = requests_of(&state, gig, oldest).filter(|request| request.requester == guest);
        Ok(first(newest_first(own, |request| (request.created_at, request.id)), limit))
    }

    async fn plays(
        &self,
        dj: UserId,
        created_after: Timestamp,
        limit: u32,
    ) -> Result<Vec<Play>, Unavailable> {
        let state = self.lock()?;
        let is_played = |request: &&MusicRequest| {
            request.created_at > created_after && request.state.status() == RequestStatus::Played
        };
        let played = state.requests(None, Some(dj)).filter(is_played);
        let played = first(newest_first(played, |request| (request.created_at, request.id)), limit);
        let play = |request: &MusicRequest| match request.state {
            RequestState::Played { at, .. } => Some(Play { song: Song::of(request), at }),
            _ => None,
        };
        Ok(played.iter().filter_map(play).collect())
    }

    async fn ids_in_gig(&self, gig: GigId) -> Result<IdsInGig, Unavailable> {
        let state = self.lock()?;
        let mut found = IdsInGig::default();
        for request in sorted(of_gig(&state, gig), |request| request.id) {
            match request.state.status() {
                RequestStatus::Cancelled => found.cancelled = found.cancelled.saturating_add(1),
                _ => found.ids.push(request.id),
            }
        }
        Ok(found)
    }

    async fn requests_of(&self, ids: &[RequestId]) -> Result<Vec<MusicRequest>, Unavailable> {
        let state = self.lock()?;
        let ids: BTreeSet<RequestId> = ids.iter().copied().collect();
        Ok(ids.into_iter().filter_map(|id| state.book.get(id).cloned()).collect())
    }

    async fn ratings_in_gig(&self, gig: GigId) -> Result<Vec<(Voice, RequestRating)>, Unavailable> {
        let state = self.lock()?;
        let rated =
            |request: &MusicRequest| Some((Voice::of(request), *state.book.get(RatingId::of(request.id))?));
        Ok(of_gig(&state, gig).filter_map(rated).collect())
    }

    async fn dedications(
        &self,
        of: &BTreeSet<RequestId>,
    ) -> Result<HashMap<RequestId, ShortMessage>, Unavailable> {
        let state = self.lock()?;
        let dedication = |id: &RequestId| Some((*id, state.gigs.dedication(*id)?.clone()));
        Ok(of.iter().filter_map(dedication).collect())
    }

    async fn ratings(
        &self,
        of: &BTreeSet<RequestId>,
    ) -> Result<BTreeMap<RequestId, RequestRating>, Unavailable> {
        let state = self.lock()?;
        let rating = |id: &RequestId| Some((*id, *state.book.get(RatingId::of(*id))?));
        Ok(of.iter().filter_map(rating).collect())
    }

    async fn open_gigs_between(&self, south: f64, north: f64, limit: u32) -> Result<Vec<Gig>, Unavailable> {
        let state = self.lock()?;
        let latitude = |gig: &Gig| gig.details.coordinates.map(Coordinates::latitude);
        let is_between = |gig: &&Gig| latitude(gig).is_some_and(|at| south <= at && at <= north);
        let mut open: Vec<&Gig> =
            state.book.all::<Gig>().filter(|gig| gig.ended_at.is_none()).filter(is_between).collect();
        open.sort_by(|one, other| {
            let by_latitude = latitude(one).partial_cmp(&latitude(other)).unwrap_or(Ordering::Equal);
            by_latitude.then(one.id.cmp(&other.id))
        });
        Ok(first(open, limit))
    }

    async fn recent_codes(
        &self,
        ended_after: Timestamp,
        limit: u32,
    ) -> Result<BTreeSet<DjCode>, Unavailable> {
        let state = self.lock()?;
        let recent = |is_open: bool| {
            let gigs = state.book.all::<Gig>().filter(move |gig| match gig.ended_at {
                None => is_open,
                Some(end) => !is_open && end > ended_after,
            });
            first(sorted(gigs, |gig| gig.id), limit).into_iter().map(|gig| gig.code)
        };
        Ok(recent(true).chain(recent(false)).collect())
    }

    async fn gigs_to_end(
        &self,
        opened_by: Timestamp,
        after: Option<GigId>,
        limit: u32,
    ) -> Result<Vec<Gig>, Unavailable> {
        let state = self.lock()?;
        let is_gone = |dj: UserId| {
            state.book.get(dj).is_none_or(|dj| dj.suspended_at.is_some() || dj.erased_at.is_some())
        };
        let open = state.book.all::<Gig>().filter(|gig| gig.ended_at.is_none());
        let open = open.filter(|gig| Some(gig.id) > after);
        let due = open.filter(|gig| gig.opened_at <= opened_by || is_gone(gig.dj));
        Ok(first(sorted(due, |gig| gig.id), limit))
    }

    async fn unsettled_gigs(&self, after: Option<GigId>, limit: u32) -> Result<Vec<Gig>, Unavailable> {
        let state = self.lock()?;
        let ended = state.book.all::<Gig>().filter(|gig| gig.ended_at.is_some() && !gig.settled);
        Ok(first(sorted(ended.filter(|gig| Some(gig.id) > after), |gig| gig.id), limit))
    }

    async fn settle_gig(&self, gig: GigId) -> Result<(), Unavailable> {
        let mut state = self.lock()?;
        let is_open = state.request_lists.open_in_gig(gig).next().is_some();
        if let Some(gig) = state.book.get_mut(gig).filter(|gig| gig.ended_at.is_some() && !is_open) {
            gig.settled = true;
        }
        Ok(())
    }
}
