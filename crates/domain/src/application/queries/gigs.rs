//! Gigs as their DJs see them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::{Authorized, Loadable as _};
use crate::application::queries::gig_queue::{QueueNow, QueuedRequests};
use crate::application::queries::kept_reports::KeptReports;
use crate::application::queries::tips::tips_in;
use crate::authorization::{Principal, permission};
use crate::gig::queue::Place;
use crate::gig::song::SongKey;
use crate::gig::{Gig, GigStatus};
use crate::ids::{GigId, RequestId, UserId};
use crate::money::Money;
use crate::music_request::{MusicRequest, RequestStatus};
use crate::page::{PageRequest, Rows};
use crate::text::{Line, ShortMessage};
use crate::timestamp::Timestamp;

/// The maximum number of other requests of the same song that a queue shows with a request.
const MOST_OF_SONG: usize = 10;

/// A gig with its status.
#[derive(Clone, PartialEq, Debug)]
pub struct ShownGig {
    pub gig: Gig,
    pub status: GigStatus,
}

/// The queue of a gig.
#[derive(Clone, PartialEq, Debug)]
pub struct ShownQueue {
    pub gig: ShownGig,
    /// The open requests, in the order of their places.
    pub waiting: Vec<QueuedRequest>,
    /// The newest played requests, newest first.
    pub last_played: Vec<MusicRequest>,
    pub totals: QueueTotals,
}

/// The open requests of a guest in a gig.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OpenOfGuest {
    /// In the order of their places.
    pub requests: Vec<RequestId>,
    /// The sum of their fees.
    pub held: Money,
}

/// An open request in a queue.
#[derive(Clone, PartialEq, Debug)]
pub struct QueuedRequest {
    pub request: MusicRequest,
    /// Whether it may expire before its turn, because of the wait at its place.
    pub is_at_risk: bool,
    /// The name of the guest; `None` for an erased one.
    pub guest_name: Option<Line>,
    /// The dedication.
    pub message: Option<ShortMessage>,
    pub place: Place,
    /// The number of the song in this queue, equal for requests of one song.
    pub song: usize,
    /// The first other open requests of the same song, by place.
    pub same_song: Vec<RequestId>,
    /// The time at which this gig last played the song, for another request.
    pub last_played: Option<Timestamp>,
}

/// The numbers of a gig.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueTotals {
    /// Open requests.
    pub open: u64,
    /// Played requests.
    pub played: u64,
    /// Guests with an open or played request.
    pub guests: u64,
    /// What the DJ earned by played requests, after the commission.
    pub earned: Money,
    /// The fees of open requests.
    pub held: Money,
    /// The tips, before the commission.
    pub tips: Money,
}

impl ShownQueue {
    /// The maximum number of requests that are answered together.
    pub const MOST_AT_ONCE: usize = 100;

    /// The number of open requests that the DJ has not answered.
    #[must_use]
    pub fn unanswered(&self) -> usize {
        self.waiting.iter().filter(|queued| !queued.is_accepted()).count()
    }

    /// The number of guests with an open request.
    #[must_use]
    pub fn guests_waiting(&self) -> usize {
        self.waiting.iter().map(|queued| queued.request.requester).collect::<BTreeSet<_>>().len()
    }

    /// The open requests of each guest, which a block rejects.
    #[must_use]
    pub fn open_by_guest(&self) -> BTreeMap<UserId, OpenOfGuest> {
        let mut guests: BTreeMap<UserId, OpenOfGuest> = BTreeMap::new();
        for QueuedRequest { request, .. } in &self.waiting {
            let open = guests.entry(request.requester).or_default();
            open.requests.push(request.id);
            // The sum of all open fees, which is larger, was computed before.
            open.held = open.held.checked_add(request.fee).unwrap_or(open.held);
        }
        guests
    }

    /// A request and all other open ones of the same song, in the order of their places.
    pub fn of_song(&self, queued: &QueuedRequest) -> impl Iterator<Item = &QueuedRequest> {
        let song = queued.song;
        self.waiting.iter().filter(move |other| other.song == song)
    }

    /// Of [`Self::of_song`], those that are accepted as well, or are not accepted either.
    #[must_use]
    pub fn group_of(&self, queued: &QueuedRequest) -> Vec<&QueuedRequest> {
        self.of_song(queued).filter(|other| other.is_accepted() == queued.is_accepted()).collect()
    }
}

impl QueuedRequest {
    /// Whether the DJ has accepted it.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.request.state.status() == RequestStatus::Accepted
    }
}

/// Reads the gigs of the principal.
#[derive(Clone)]
pub struct GigQueries {
    pub(super) env: Arc<Environment>,
    pub(super) kept: Arc<KeptReports>,
}

impl GigQueries {
    pub(in crate::application) fn new(env: Arc<Environment>) -> Self {
        Self { env, kept: Arc::default() }
    }

    /// A gig, for its DJ.
    ///
    /// # Errors
    /// [`Failure::NotFound`] for all others.
    pub async fn own(&self, principal: &Principal, id: GigId) -> Result<ShownGig, Failure> {
        let gig = Gig::load(&self.env, id).await?.reveal(principal)?;
        let is_online = self.is_online(gig.dj).await?;
        Ok(shown(gig, is_online))
    }

    /// A page of the principal's gigs, newest first.
    ///
    /// # Errors
    /// [`Failure::Denied`] for guests.
    pub async fn list(&self, principal: &Principal, page: PageRequest) -> Result<Rows<ShownGig>, Failure> {
        let dj = Authorized::<_, permission::ReadGig>::own(principal)?;
        let Rows { rows, total } = self.env.gigs.gigs(*dj, page).await?;
        let is_online = self.is_online(*dj).await?;
        Ok(Rows { rows: rows.into_iter().map(|gig| shown(gig, is_online)).collect(), total })
    }

    /// The queue of a gig, for its DJ.
    ///
    /// # Errors
    /// [`Failure::NotFound`] for all others.
    pub async fn queue(&self, principal: &Principal, id: GigId) -> Result<ShownQueue, Failure> {
        let gig = self.own(principal, id).await?;
        let queue = QueueNow::read(&self.env, &gig.gig).await?;
        let QueueNow { requests, places, .. } = &queue;
        let open = &requests.open;
        let tips = tips_in(&self.env, id).await?;
        let totals = QueueTotals { tips, ..totals(requests)? };
        let guests: BTreeSet<UserId> = open.iter().map(|request| request.requester).collect();
        let names = self.env.people.names(&guests).await?;
        let ids = open.iter().map(|request| request.id).collect();
        let mut messages = self.env.gigs.dedications(&ids).await?;
        let (songs, last_plays) = songs(requests);
        let same_songs = same_songs(&songs, places);
        let mut by_id: BTreeMap<RequestId, MusicRequest> =
            open.iter().cloned().map(|request| (request.id, request)).collect();
        let queued = |place: &Place| {
            let request = by_id.remove(&place.request)?;
            let song = *songs.get(&request.id)?;
            Some(QueuedRequest {
                is_at_risk: queue.is_at_risk(place, &request),
                guest_name: names.get(&request.requester).cloned(),
                message: messages.remove(&request.id),
                song,
                same_song: same_songs.get(&request.id).cloned().unwrap_or_default(),
                last_played: last_plays.get(&song).copied(),
                request,
                place: *place,
            })
        };
        let waiting = places.iter().filter_map(queued).collect();
        let last_played = requests.last_played.clone();
        Ok(ShownQueue { gig, waiting, last_played, totals })
    }

    pub(super) async fn is_online(&self, dj: UserId) -> Result<bool, Failure> {
        let profile = self.env.people.profile(dj).await?.ok_or(Failure::NotFound)?;
        Ok(profile.user.dj.is_some_and(|dj| dj.online))
    }
}

pub(super) fn shown(gig: Gig, is_online: bool) -> ShownGig {
    let status = gig.status(is_online);
    ShownGig { gig, status }
}

/// The numbers of open and played requests, without tips.
fn totals(requests: &QueuedRequests) -> Result<QueueTotals, Failure> {
    let mut totals = QueueTotals::default();
    let mut guests: BTreeSet<UserId> = BTreeSet::new();
    for request in &requests.open {
        totals.open = totals.open.saturating_add(1);
        totals.held = totals.held.checked_add(request.fee).ok_or(Failure::OutOfRange)?;
        guests.insert(request.requester);
    }
    for played in &requests.played {
        totals.played = totals.played.saturating_add(1);
        let earned = played.fee.checked_sub(played.commission).ok_or(Failure::OutOfRange)?;
        totals.earned = totals.earned.checked_add(earned).ok_or(Failure::OutOfRange)?;
        guests.insert(played.play.guest);
    }
    totals.guests = u64::try_from(guests.len()).unwrap_or(u64::MAX);
    Ok(totals)
}

/// The number of each open request's song, equal for requests of one song, and the time at which each of these songs was
/// last played.
fn songs(requests: &QueuedRequests) -> (BTreeMap<RequestId, usize>, BTreeMap<usize, Timestamp>) {
    let mut numbers: BTreeMap<SongKey, usize> = BTreeMap::new();
    let mut number = |song: &SongKey| {
        let next = numbers.len();
        *numbers.entry(*song).or_insert(next)
    };
    let songs = requests.open.iter().zip(&requests.songs);
    let songs = songs.map(|(request, song)| (request.id, number(song))).collect();
    let plays = requests.played.iter();
    let mut plays: Vec<(usize, Timestamp)> =
        plays.filter_map(|played| Some((*numbers.get(&played.song)?, played.play.at))).collect();
    plays.sort_unstable();
    (songs, plays.into_iter().collect())
}

/// For each open request, the first other ones of the same song, in the order of their places.
fn same_songs(songs: &BTreeMap<RequestId, usize>, places: &[Place]) -> BTreeMap<RequestId, Vec<RequestId>> {
    let mut groups: BTreeMap<usize, Vec<RequestId>> = BTreeMap::new();
    for place in places {
        if let Some(song) = songs.get(&place.request) {
            groups.entry(*song).or_default().push(place.request);
        }
    }
    let groups = groups.values().filter(|group| group.len() > 1);
    let others = |group: &Vec<RequestId>, id: RequestId| {
        group.iter().copied().filter(|other| *other != id).take(MOST_OF_SONG).collect::<Vec<_>>()
    };
    groups.flat_map(|group| group.iter().map(move |id| (*id, others(group, *id)))).collect()
}
