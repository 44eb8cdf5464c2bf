//! The queue of a gig, as it is now.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::gig::Gig;
use crate::gig::queue::{Place, PlayedSong, WaitingSong, place_of_offer, places};
use crate::gig::song::SongKey;
use crate::gig::song_tonight::{SongTonight, song_tonight};
use crate::ids::{RequestId, UserId};
use crate::money::Money;
use crate::music_request::MusicRequest;
use crate::ports::GigRequests;
use crate::timestamp::Timestamp;

/// The place that a request would have now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfferPlace {
    pub fee: Money,
    pub place: Place,
}

/// The open and played requests of a gig.
pub(super) struct QueueNow {
    /// The open requests, by id.
    pub(super) open: Vec<MusicRequest>,
    /// Those that were played or have just expired, by id.
    pub(super) others: Vec<MusicRequest>,
    /// The places of the open requests, in their order.
    pub(super) places: Vec<Place>,
    gig: Gig,
    waiting: Vec<WaitingSong>,
    played: Vec<PlayedSong>,
    now: Timestamp,
}

impl QueueNow {
    /// Reads the queue of a gig.
    pub(super) async fn read(env: &Arc<Environment>, gig: &Gig) -> Result<Self, Failure> {
        let now = env.now();
        let oldest = env.terms.requests.oldest_open(gig.opened_at);
        let which = GigRequests::OpenAndPlayed { most_without_gig: env.terms.requests.most_open_per_gig };
        let requests = env.gigs.gig_requests(gig, which, oldest).await?;
        let requests = requests.into_iter().map(|request| request.seen_at(now));
        let (open, others): (Vec<_>, Vec<_>) =
            requests.partition(|request| request.state.status().holds_fee());
        let played: Vec<PlayedSong> = others.iter().filter_map(PlayedSong::of).collect();
        let waiting: Vec<WaitingSong> = open.iter().map(WaitingSong::from).collect();
        let places = places(gig.details.queue_order, &waiting, &played);
        Ok(Self { open, others, places, gig: gig.clone(), waiting, played, now })
    }

    /// The place that another request at this fee would have now, of this guest, or of a new one.
    pub(super) fn place_of_offer(&self, guest: Option<UserId>, fee: Money) -> Option<Place> {
        let order = self.gig.details.queue_order;
        let offer = WaitingSong::offer(guest, fee, self.now);
        place_of_offer(order, &self.waiting, &self.played, offer)
    }

    /// The places that requests at these fees would have now, of this guest, or of a new one.
    pub(super) fn offers(&self, guest: Option<UserId>, fees: &[Money]) -> Vec<OfferPlace> {
        let offer = |fee: &Money| Some(OfferPlace { fee: *fee, place: self.place_of_offer(guest, *fee)? });
        fees.iter().filter_map(offer).collect()
    }

    /// What the gig already did with a song.
    pub(super) fn song_tonight(&self, song: &SongKey) -> Option<SongTonight> {
        song_tonight(song, self.open.iter().chain(&self.others))
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

    /// Whether the expected wait at a place passes the deadline of its request.
    pub(super) fn is_at_risk(&self, place: &Place, request: &MusicRequest) -> bool {
        request.state.expires_at().is_some_and(|expires_at| place.is_at_risk(expires_at, self.now))
    }

    /// The request that was played last.
    pub(super) fn last_played(&self) -> Option<&MusicRequest> {
        let last = self.played.iter().max()?.id;
        self.others.iter().find(|request| request.id == last)
    }
}
