//! Boards: what everybody can see of a DJ's gig, by the DJ's code.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::try_join_all;
use futures_util::lock::Mutex as AsyncMutex;
use time::Duration;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::Authorized;
use crate::application::queries::gig_of_code::{dj_of, newest_gig, present_user};
use crate::application::queries::gig_queue::{OfferPlace, QueueNow};
use crate::application::queries::gigs::{ShownGig, shown};
use crate::application::queries::most_played::MostPlayed;
use crate::authorization::{Principal, permission};
use crate::gig::nearby::{NearbyGig, latitudes, nearest};
use crate::gig::queue::Place;
use crate::gig::{Board, BoardGig, DjCode, Gig, NextSong, Song};
use crate::ids::{RequestId, UserId};
use crate::money::Money;
use crate::music_request::{MusicRequest, RequestState, RequestStatus, Stars};
use crate::text::ShortMessage;
use crate::timestamp::Timestamp;
use crate::user::{ArtistType, Coordinates, Kilometres, User};

/// The period in which a server shows a board again without reading it.
pub const BOARD_FRESH_FOR: Duration = Duration::seconds(1);
/// The period after which a server forgets a board that nobody reads.
const KEPT_FOR: Duration = Duration::seconds(10);
/// The minimum interval between searches for boards that nobody reads.
const SWEPT_EVERY: Duration = Duration::seconds(1);
/// The period in which a server does not read the codes of recent gigs again.
const CODES_FRESH_FOR: Duration = Duration::seconds(2);
/// The maximum number of open gigs whose codes a server keeps, and of ended ones.
const MOST_CODES: u32 = 20_000;
/// The maximum number of requests on a list of the principal's own.
const MOST_OWN: u32 = 50;
/// The maximum number of open gigs that are compared by their distance.
const MOST_COMPARED: u32 = 2_000;
/// The maximum number of gigs near a place.
const MOST_NEARBY: usize = 50;

/// A board with its queue.
#[derive(Clone)]
pub(super) struct ReadBoard {
    pub(super) board: Arc<Board>,
    /// The queue of the open gig.
    pub(super) queue: Option<Arc<QueueNow>>,
    /// When the reading began.
    at: Timestamp,
}

/// Whether something that was read at `at` can be shown to a reader who asked at `asked`: it is fresh at `now`, or was
/// read after the reader had asked, however long that took.
fn is_fresh(at: Timestamp, asked: Timestamp, now: Timestamp, fresh_for: Duration) -> bool {
    now.since(at).abs() < fresh_for || (asked <= at && at <= now)
}

/// Codes, and when they were read; `None` before the first time.
type RecentCodes = Option<(Timestamp, BTreeSet<DjCode>)>;

/// The place of one board: the first reader of a second reads it, and the others wait.
type Slot = Arc<AsyncMutex<Option<ReadBoard>>>;

/// The boards that a server keeps.
#[derive(Default)]
struct Kept {
    slots: HashMap<DjCode, Slot>,
    /// When those that nobody reads were last removed.
    swept_at: Option<Timestamp>,
}

impl Kept {
    /// Removes the boards that nobody has read for a while: with their queues they are large.
    fn sweep(&mut self, now: Timestamp) {
        if self.swept_at.is_some_and(|at| now.since(at).abs() < SWEPT_EVERY) {
            return;
        }
        self.swept_at = Some(now);
        self.slots.retain(|_, slot| match slot.try_lock() {
            Some(read) => read.as_ref().is_some_and(|read| now.since(read.at).abs() < KEPT_FOR),
            // It has a reader now.
            None => true,
        });
    }
}

/// Reads boards.
#[derive(Clone)]
pub struct BoardQueries {
    pub(super) env: Arc<Environment>,
    /// Boards that somebody reads.
    kept: Arc<Mutex<Kept>>,
    /// The codes of recent gigs, and when they were read.
    recent_codes: Arc<AsyncMutex<RecentCodes>>,
    /// The songs that pages suggest.
    most_played: MostPlayed,
}

/// The principal's requests in a gig.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OwnRequests {
    /// Newest first.
    pub requests: Vec<OwnRequest>,
    pub offers: Vec<OfferPlace>,
}

/// A request of the principal in a gig.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnRequest {
    pub request: MusicRequest,
    /// Whether it may expire before its turn, because of the wait at its place.
    pub is_at_risk: bool,
    /// The dedication.
    pub message: Option<ShortMessage>,
    /// `None` unless it is open.
    pub place: Option<Place>,
    /// The rating of the principal.
    pub stars: Option<Stars>,
    /// Whether it has expired, and its fee is [not released yet](MusicRequest::awaits_release).
    pub awaits_release: bool,
}

/// An open gig near a place, with its DJ.
#[derive(Clone, PartialEq, Debug)]
pub struct NearbyBoard {
    pub gig: ShownGig,
    pub dj: User,
    pub distance: Kilometres,
}

impl BoardQueries {
    pub(in crate::application) fn new(env: Arc<Environment>) -> Self {
        Self { env, kept: Arc::default(), recent_codes: Arc::default(), most_played: MostPlayed::default() }
    }

    /// Whether the board of this code is well known: somebody reads it, or its gig was [recent](Gig::is_recent) two seconds
    /// ago.
    ///
    /// # Errors
    /// [`Failure::Unavailable`].
    pub async fn is_well_known(&self, code: DjCode) -> Result<bool, Failure> {
        if self.lock().slots.contains_key(&code) {
            return Ok(true);
        }
        let asked = self.env.now();
        let mut read = self.recent_codes.lock().await;
        let now = self.env.now();
        if let Some((at, codes)) = &*read
            && is_fresh(*at, asked, now, CODES_FRESH_FOR)
        {
            return Ok(codes.contains(&code));
        }
        let codes = self.env.gigs.recent_codes(now.minus(Gig::RECENT_FOR), MOST_CODES).await?;
        let is_recent = codes.contains(&code);
        *read = Some((now, codes));
        Ok(is_recent)
    }

    /// The board of a code. It may be a second old.
    ///
    /// # Errors
    /// [`Failure::NotFound`] if the code is unknown or replaced, or its DJ was erased.
    pub async fn board(&self, code: DjCode) -> Result<Arc<Board>, Failure> {
        Ok(self.recent(code).await?.board)
    }

    /// The board of a code with its queue, which may be a second old.
    pub(super) async fn recent(&self, code: DjCode) -> Result<ReadBoard, Failure> {
        let asked = self.env.now();
        // A slot is made for existing boards alone.
        let known = self.lock().slots.get(&code).cloned();
        let slot = match known {
            Some(slot) => slot,
            None => {
                dj_of(&self.env, code).await?;
                self.keep(code)
            }
        };
        let mut kept = slot.lock().await;
        let now = self.env.now();
        if let Some(read) = &*kept
            && is_fresh(read.at, asked, now, BOARD_FRESH_FOR)
        {
            return Ok(read.clone());
        }
        let read = self.read(code, now).await;
        let mut all = self.lock();
        all.sweep(now);
        match &read {
            Ok(read) => *kept = Some(read.clone()),
            Err(Failure::NotFound) => drop(all.slots.remove(&code)),
            Err(_) => {}
        }
        read
    }

    /// The principal's requests in the open gig of a code, or in one that has ended within a day, with the places of
    /// these offers in an open one.
    ///
    /// # Errors
    /// [`Failure::NotFound`] if the code is unknown or replaced, or its DJ was erased.
    pub async fn own_requests(
        &self,
        principal: &Principal,
        code: DjCode,
        offers: &[Money],
    ) -> Result<OwnRequests, Failure> {
        let guest = *Authorized::<_, permission::ReadRequest>::own(principal)?;
        let ReadBoard { board, queue, .. } = self.recent(code).await?;
        let Some(gig) = self.newest_gig(&board).await? else { return Ok(OwnRequests::default()) };
        self.own_in(&gig, queue, guest, offers).await
    }

    /// The requests of a guest in a gig with this queue, with the places of these offers.
    pub(super) async fn own_in(
        &self,
        gig: &Gig,
        queue: Option<Arc<QueueNow>>,
        guest: UserId,
        offers: &[Money],
    ) -> Result<OwnRequests, Failure> {
        let (own, unreleased) = self.newest_requests(guest, gig).await?;
        let queue = match queue {
            // It is older than a request of the guest.
            Some(queue) if !queue.has_all(&own) => Some(Arc::new(QueueNow::read(&self.env, gig).await?)),
            queue => queue,
        };
        let offers = queue.as_ref().map(|queue| queue.offers(Some(guest), offers)).unwrap_or_default();
        let requests = self.with_places(own, queue.as_deref(), &unreleased).await?;
        Ok(OwnRequests { requests, offers })
    }

    /// The open gig of a board, or else the DJ's last one if it has ended within a day.
    pub(super) async fn newest_gig(&self, board: &Board) -> Result<Option<Gig>, Failure> {
        match &board.gig {
            Some(open) => Ok(Some(open.gig.clone())),
            None => {
                let newest = newest_gig(&self.env, board.dj.id).await?;
                Ok(newest.filter(|gig| gig.ended_at.is_some()))
            }
        }
    }

    /// The songs that the DJ of a board played most; none without an open gig, which takes no requests.
    pub(super) async fn most_played(&self, board: &Board) -> Result<Arc<[Song]>, Failure> {
        match board.gig {
            Some(_) => Ok(self.most_played.of(&self.env, board.dj.id).await?),
            None => Ok(Arc::default()),
        }
    }

    /// The open gigs within this distance, nearest first.
    ///
    /// # Errors
    /// [`Failure::Unavailable`].
    pub async fn nearby(&self, from: Coordinates, within: Kilometres) -> Result<Vec<NearbyBoard>, Failure> {
        let (south, north) = latitudes(from, within);
        let open = self.env.gigs.open_gigs_between(south, north, MOST_COMPARED).await?;
        let boards = nearest(open, from, within, MOST_NEARBY).into_iter().map(
            |NearbyGig { gig, distance }| async move {
                let dj = present_user(&self.env, gig.dj).await?.filter(|dj| dj.suspended_at.is_none());
                let is_online = dj.as_ref().and_then(|dj| dj.dj.as_ref()).is_some_and(|dj| dj.online);
                Ok::<_, Failure>(dj.map(|dj| NearbyBoard { gig: shown(gig, is_online), dj, distance }))
            },
        );
        Ok(try_join_all(boards).await?.into_iter().flatten().collect())
    }

    /// The newest requests of a guest in a gig, newest first, and those whose fee awaits its release.
    async fn newest_requests(
        &self,
        guest: UserId,
        gig: &Gig,
    ) -> Result<(Vec<MusicRequest>, BTreeSet<RequestId>), Failure> {
        let now = self.env.now();
        let oldest = self.env.terms.requests.oldest_open(gig.opened_at);
        let own = self.env.gigs.requests_of_guest(gig, guest, oldest, MOST_OWN).await?;
        let unreleased = own.iter().filter(|request| request.awaits_release(now));
        let unreleased = unreleased.map(|request| request.id).collect();
        Ok((own.into_iter().map(|request| request.seen_at(now)).collect(), unreleased))
    }

    /// These requests with their places, dedications and ratings.
    async fn with_places(
        &self,
        own: Vec<MusicRequest>,
        queue: Option<&QueueNow>,
        unreleased: &BTreeSet<RequestId>,
    ) -> Result<Vec<OwnRequest>, Failure> {
        let ids: BTreeSet<_> = own.iter().map(|request| request.id).collect();
        let ratings = self.env.gigs.ratings(&ids).await?;
        let mut messages = self.env.gigs.dedications(&ids).await?;
        let shown = |request: MusicRequest| {
            let queue = queue.filter(|_| request.state.status().holds_fee());
            let place = queue.and_then(|queue| Some((queue, queue.place_of(request.id)?)));
            OwnRequest {
                is_at_risk: place.is_some_and(|(queue, place)| queue.is_at_risk(place, &request)),
                message: messages.remove(&request.id),
                place: place.map(|(_, place)| *place),
                stars: ratings.get(&request.id).map(|rating| rating.stars),
                awaits_release: unreleased.contains(&request.id),
                request,
            }
        };
        Ok(own.into_iter().map(shown).collect())
    }

    /// Reads a board with its queue.
    async fn read(&self, code: DjCode, at: Timestamp) -> Result<ReadBoard, Failure> {
        let dj = dj_of(&self.env, code).await?;
        let gig = match dj.suspended_at {
            None => self.env.gigs.open_gig(dj.id).await?,
            // The job ends it.
            Some(_) => None,
        };
        let (gig, queue) = match gig {
            Some(gig) => {
                let queue = QueueNow::read(&self.env, &gig).await?;
                (Some(board_gig(gig, &queue, &dj)), Some(Arc::new(queue)))
            }
            None => (None, None),
        };
        Ok(ReadBoard { board: Arc::new(Board { code, dj, gig }), queue, at })
    }

    /// The slot of a code, which may be new.
    fn keep(&self, code: DjCode) -> Slot {
        self.lock().slots.entry(code).or_default().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the board of a DJ shows of a gig.
fn board_gig(gig: Gig, queue: &QueueNow, dj: &User) -> BoardGig {
    let wait =
        queue.place_of_offer(None, dj.list_price(ArtistType::Popular)).map_or(0, |place| place.wait_minutes);
    let by_id: BTreeMap<_, _> = queue.requests.open.iter().map(|request| (request.id, request)).collect();
    let placed = || queue.places.iter().filter_map(|place| Some((place, *by_id.get(&place.request)?)));
    let next = |(place, request): (&Place, &MusicRequest)| {
        (request.state.status() == RequestStatus::Accepted).then(|| NextSong {
            request: request.id,
            position: place.position,
            song: Song::of(request),
        })
    };
    BoardGig {
        status: gig.status(dj.dj.as_ref().is_some_and(|dj| dj.online)),
        open: placed().map(|(_, request)| (request.id, request.state.status())).collect(),
        wait_minutes: wait,
        up_next: placed().filter_map(next).take(Board::MOST_UP_NEXT).collect(),
        last_played: queue.last_played().and_then(|request| match request.state {
            RequestState::Played { at, .. } => Some((Song::of(request), at)),
            _ => None,
        }),
        gig,
    }
}
