//! The queue of a gig, as it is now.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::queries::long_reads::{each_request, in_turn_of};
use crate::gig::Gig;
use crate::gig::queue::{Place, PlayedSong, Plays, WaitingSong, place_of_offer, places};
use crate::gig::song::SongKey;
use crate::gig::song_tonight::SongTonight;
use crate::ids::{GigId, RequestId, UserId};
use crate::money::Money;
use crate::music_request::{MusicRequest, RequestState};
use crate::ports::GigRequests;
use crate::timestamp::Timestamp;

/// The place that a request would have now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfferPlace {
    pub fee: Money,
    pub place: Place,
    /// Whether the request may expire before its turn, because of its wait.
    pub is_at_risk: bool,
}

/// A queue with this many played requests is read as long work, in the turn of its DJ. An evening has fewer.
const MANY_PLAYS: u32 = 1_000;
/// The number of played requests that a queue shows.
const LAST_PLAYED: usize = 10;

/// The open and played requests of a gig.
pub(super) struct QueueNow {
    pub(super) requests: QueuedRequests,
    /// The places of the open requests, in their order.
    pub(super) places: Vec<Place>,
    env: Arc<Environment>,
    gig: Gig,
    waiting: Vec<WaitingSong>,
    plays: Plays,
    now: Timestamp,
}

/// The requests of a queue. Its size does not depend on the texts of played ones.
#[derive(Default)]
pub(super) struct QueuedRequests {
    /// The open requests.
    pub(super) open: Vec<MusicRequest>,
    /// The songs of the open requests, in the same order.
    pub(super) songs: Vec<SongKey>,
    /// The played requests.
    pub(super) played: Vec<PlayedRequest>,
    /// The newest played ones, newest first.
    pub(super) last_played: Vec<MusicRequest>,
}

/// A played request.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlayedRequest {
    pub(super) play: PlayedSong,
    pub(super) song: SongKey,
    pub(super) fee: Money,
    pub(super) commission: Money,
}

impl QueuedRequests {
    /// Adds a request of the gig as it is now, unless it is closed without a play.
    fn add(&mut self, request: MusicRequest) {
        let song = || SongKey::of(&request.song_title, &request.artist_name);
        match (request.state, PlayedSong::of(&request)) {
            (RequestState::Played { commission, .. }, Some(play)) => {
                self.played.push(PlayedRequest { play, song: song(), fee: request.fee, commission });
                let is_newer = |other: &MusicRequest| PlayedSong::of(other) > Some(play);
                let place = self.last_played.partition_point(is_newer);
                self.last_played.insert(place, request);
                self.last_played.truncate(LAST_PLAYED);
            }
            (state, _) if state.status().holds_fee() => {
                self.songs.push(song());
                self.open.push(request);
            }
            _ => {}
        }
    }
}

impl QueueNow {
    /// Reads the queue of a gig.
    ///
    /// # Errors
    /// [`Failure::Busy`], but only in a gig with more plays than an evening has.
    pub(super) async fn read(env: &Arc<Environment>, gig: &Gig) -> Result<Self, Failure> {
        let most_without_gig = env.terms.requests.most_open_per_gig;
        let most = most_without_gig.saturating_add(MANY_PLAYS);
        let now = env.now();
        let found = read(env, gig, GigRequests::OpenAndPlayed { most, most_without_gig }, now).await?;
        let with_gig = found.iter().filter(|request| request.gig.is_some()).count();
        if u32::try_from(with_gig).is_ok_and(|number| number < most) {
            let mut requests = QueuedRequests::default();
            found.into_iter().for_each(|request| requests.add(request));
            return Ok(Self::of(env, requests, gig, now));
        }
        drop(found);
        let (in_turn, gig) = (Arc::clone(env), gig.clone());
        in_turn_of(env, gig.dj, async move { Self::read_in_parts(&in_turn, &gig, most_without_gig).await })
            .await
    }

    async fn read_in_parts(
        env: &Arc<Environment>,
        gig: &Gig,
        most_without_gig: u32,
    ) -> Result<Self, Failure> {
        let now = env.now();
        let without_gig = GigRequests::OpenAndPlayed { most: 0, most_without_gig };
        let mut requests = QueuedRequests::default();
        read(env, gig, without_gig, now).await?.into_iter().for_each(|request| requests.add(request));
        each_request(env, gig.id, |request| {
            requests.add(request);
            Some(())
        })
        .await?;
        Ok(Self::of(env, requests, gig, now))
    }

    fn of(env: &Arc<Environment>, requests: QueuedRequests, gig: &Gig, now: Timestamp) -> Self {
        let plays: Vec<PlayedSong> = requests.played.iter().map(|played| played.play).collect();
        let plays = Plays::of(&plays);
        let waiting: Vec<WaitingSong> = requests.open.iter().map(WaitingSong::from).collect();
        let places = places(gig.details.queue_order, &waiting, &plays);
        Self { requests, places, env: Arc::clone(env), gig: gig.clone(), waiting, plays, now }
    }

    /// The place that another request at this fee would have now, of this guest, or of a new one.
    pub(super) fn place_of_offer(&self, guest: Option<UserId>, fee: Money) -> Option<Place> {
        let order = self.gig.details.queue_order;
        let offer = WaitingSong::offer(guest, fee, self.now);
        place_of_offer(order, &self.waiting, &self.plays, offer)
    }

    /// The places that requests at these fees would have now, of this guest, or of a new one.
    pub(super) fn offers(&self, guest: Option<UserId>, fees: &[Money]) -> Vec<OfferPlace> {
        let pending = RequestState::Pending { answer_by: self.now };
        let offer = |fee: &Money| {
            let place = self.place_of_offer(guest, *fee)?;
            let is_at_risk = self.wait_is_at_risk(&place, pending, Some(self.gig.id));
            Some(OfferPlace { fee: *fee, place, is_at_risk })
        };
        fees.iter().filter_map(offer).collect()
    }

    /// What the gig already did with a song.
    pub(super) fn song_tonight(&self, song: SongKey) -> SongTonight {
        let QueuedRequests { open, songs, played, .. } = &self.requests;
        let open = songs.iter().zip(open).map(|(song, request)| (*song, request.id, request.state));
        let played = played.iter().map(|played| (played.song, played.play.id, played.state()));
        SongTonight::of(song, open.chain(played))
    }

    /// The place of an open request.
    pub(super) fn place_of(&self, id: RequestId) -> Option<&Place> {
        self.places.iter().find(|place| place.request == id)
    }

    /// Whether each of these requests that is open has a place.
    pub(super) fn has_all(&self, requests: &[MusicRequest]) -> bool {
        let mut open = requests.iter().filter(|request| request.state.status().holds_fee());
        open.all(|request| self.place_of(request.id).is_some())
    }

    /// Whether a request may expire before its turn, because of the wait at its place.
    pub(super) fn is_at_risk(&self, place: &Place, request: &MusicRequest) -> bool {
        self.wait_is_at_risk(place, request.state, request.gig)
    }

    fn wait_is_at_risk(&self, place: &Place, state: RequestState, gig: Option<GigId>) -> bool {
        place.is_at_risk(state, self.env.terms.requests.played_within(gig), self.now)
    }

    /// The request that was played last.
    pub(super) fn last_played(&self) -> Option<&MusicRequest> {
        self.requests.last_played.first()
    }
}

impl PlayedRequest {
    fn state(&self) -> RequestState {
        RequestState::Played { at: self.play.at, commission: self.commission }
    }
}

/// The requests of a gig as they are at `now`.
async fn read(
    env: &Environment,
    gig: &Gig,
    which: GigRequests,
    now: Timestamp,
) -> Result<Vec<MusicRequest>, Failure> {
    let oldest = env.terms.requests.oldest_open(gig.opened_at);
    let requests = env.gigs.gig_requests(gig, which, oldest).await?;
    Ok(requests.into_iter().map(|request| request.seen_at(now)).collect())
}
