//! Views of boards: what everybody can see of a gig, and what its guests see of their requests.

use cuepoint_domain::application::queries::{NearbyBoard, OfferPlace, OwnRequest, OwnRequests};
use cuepoint_domain::gig::{Board, BoardGig, BoardVersion, GigStatus, NextSong, Song};
use cuepoint_domain::money::Currency;
use cuepoint_domain::music_request::Stars;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{ArtistType, Coordinates, User};
use serde::Serialize;
use utoipa::ToSchema;

use crate::gig::PlaceView;
use crate::people::rating;
use crate::request::MusicRequestView;
use crate::view;
use crate::wire::money::Number;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

view! {
    /// The DJ of a board.
    pub struct BoardDjView<'b> as BoardDj of (dj: &'b User) {
        let profile = dj.dj.clone().unwrap_or_default();
        /// Id of the DJ.
        #[id(example = 7)]
        id: i64 = dj.id.get(),
        /// Display name.
        #[schema(example = "DJ Grace")]
        name: &'b str = dj.name.as_str(),
        /// Number of requests that the DJ has played.
        #[schema(minimum = 0, example = 120)]
        played: i64 = profile.played,
        /// Mean rating from 1 to 5 stars with two decimals; 0 without ratings.
        #[decimal(minimum = 0, maximum = 5, example = 4.67)]
        rating: Number = rating(profile.rating),
        /// Number of rated requests.
        #[schema(minimum = 0, example = 3)]
        rating_count: i64 = profile.rating.count,
    }
}

view! {
    /// An accepted request on a board.
    pub struct NextSongView<'b> as NextSong of (next: &'b NextSong) {
        /// Number of its place in the queue, from 1 on.
        #[schema(minimum = 1, example = 1)]
        position: u32 = next.position,
        /// Title of the song.
        #[schema(example = "Blue Monday")]
        song_title: &'b str = next.song.title.as_str(),
        /// Name of the artist.
        #[schema(example = "New Order")]
        artist_name: &'b str = next.song.artist.as_str(),
    }
}

view! {
    /// The song that was played last.
    pub struct LastPlayedView<'b> as LastPlayed of (song: &'b Song, at: Timestamp) {
        /// Title of the song.
        #[schema(example = "Bizarre Love Triangle")]
        song_title: &'b str = song.title.as_str(),
        /// Name of the artist.
        #[schema(example = "New Order")]
        artist_name: &'b str = song.artist.as_str(),
        /// Time of the play.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        played_at: WireTimestamp = WireTimestamp(at),
    }
}

view! {
    /// The board of a DJ. Without an open gig, `status` is `ended`, `queue_length` is 0, `up_next` is empty, and the other
    /// fields of the gig are null.
    pub struct BoardView<'b> as Board of (board: &'b Board, currency: &Currency) {
        let gig = board.gig.as_ref();
        let details = gig.map(|gig| &gig.gig.details);
        let price = |kind| Number::money(currency, board.dj.list_price(kind));
        /// Code of the DJ.
        #[schema(example = "K7TW3M")]
        code: String = board.code.to_string(),
        /// Title of the gig.
        #[schema(example = "Friday at the Blue Room")]
        title: Option<&'b str> = details.map(|details| details.title.as_str()),
        /// Venue, such as a club.
        #[schema(example = "Blue Room")]
        venue: Option<&'b str> = details.and_then(|details| details.venue.as_ref()).map(Line::as_str),
        /// City.
        #[schema(example = "Berlin")]
        city: Option<&'b str> = details.and_then(|details| details.city.as_ref()).map(Line::as_str),
        /// Message of the DJ to the guests.
        #[schema(example = "No slow songs before midnight")]
        message: Option<&'b str> =
            details.and_then(|details| details.message.as_ref()).map(|message| message.as_str()),
        /// The DJ.
        dj: BoardDjView<'b> = BoardDjView::new(&board.dj),
        /// Currency of the prices.
        #[schema(example = "USD")]
        currency: String = currency.code().to_owned(),
        /// Price of a song by an upcoming artist, in major units.
        #[decimal(example = 5.00)]
        fee_upcoming_artist: Number = price(ArtistType::Upcoming),
        /// Price of a popular song, in major units.
        #[decimal(example = 10.00)]
        fee_popular_song: Number = price(ArtistType::Popular),
        /// Status of the gig.
        #[schema(value_type = names::GigStatus)]
        status: &'static str = gig.map_or(GigStatus::Ended, |gig| gig.status).name(),
        /// Order of the queue.
        #[schema(value_type = Option<names::QueueOrder>)]
        queue_order: Option<&'static str> = details.map(|details| details.queue_order.name()),
        /// Number of open requests.
        #[schema(minimum = 0, example = 12)]
        queue_length: u64 = gig.map_or(0, |gig| gig.queue_length()),
        /// Expected wait in minutes of a new guest's request at the price of a popular song.
        #[schema(minimum = 0, example = 16)]
        wait_minutes: Option<u32> = gig.map(|gig| gig.wait_minutes),
        /// Accepted requests in the order of the queue, at most 20.
        up_next: Vec<NextSongView<'b>> = gig.map_or(&[][..], |gig| &gig.up_next).iter().map(NextSongView::new).collect(),
        /// The song that was played last; null before the first play.
        last_played: Option<LastPlayedView<'b>> = gig.and_then(last_played),
        /// 1 if guest accounts cannot make requests, otherwise 0.
        #[schema(minimum = 0, maximum = 1, example = 0)]
        members_only: Option<u8> = details.map(|details| u8::from(details.members_only)),
        /// 1 if the pages ask guests for the kind of their song, otherwise 0.
        #[schema(minimum = 0, maximum = 1, example = 0)]
        asks_kind: Option<u8> = details.map(|details| u8::from(details.asks_kind)),
        /// Digest of the board, equal on every server: 16 hexadecimal digits. It differs if the board has changed.
        #[schema(example = "6f1c2ab09d3e4f57")]
        version: String = board.version().to_string(),
    }
}

fn last_played(gig: &BoardGig) -> Option<LastPlayedView<'_>> {
    gig.last_played.as_ref().map(|(song, at)| LastPlayedView::new(song, *at))
}

view! {
    /// An event of a board stream. A client compares the version with the board that it shows.
    pub struct BoardChangeView as BoardChange of (version: BoardVersion) {
        /// Digest of the board.
        #[schema(example = "6f1c2ab09d3e4f57")]
        version: String = version.to_string(),
    }
}

view! {
    /// A request of the caller in a gig.
    pub struct OwnRequestView<'q> as OwnGigRequest of (own: &'q OwnRequest, currency: &Currency) {
        /// The request.
        request: MusicRequestView<'q> = MusicRequestView::new(&own.request, currency),
        /// Time at which the request expires; null unless it is open.
        #[timestamp_or_null(example = "2026-01-31T20:45:00.000000Z")]
        expires_at: Option<WireTimestamp> = own.request.state.expires_at().map(WireTimestamp),
        /// Whether the request may expire before its turn. An accepted one: its expected wait passes its deadline. A pending
        /// one: the wait passes the period in which an accepted request must be played.
        #[schema(example = false)]
        at_risk: bool = own.is_at_risk,
        /// Dedication; null if there is none.
        #[schema(example = "For Grace, who turns 30")]
        message: Option<&'q str> = own.message.as_ref().map(|message| message.as_str()),
        /// The place; null unless the request is open.
        place: Option<PlaceView> = own.place.as_ref().map(PlaceView::new),
        /// Rating of the caller; null without one.
        #[schema(minimum = 1, maximum = 5, example = json!(null))]
        stars: Option<u8> = own.stars.map(Stars::get),
        /// Whether it was rejected because the queue was full and a request with a fee took its place.
        #[schema(example = false)]
        displaced: bool = own.request.was_displaced(),
    }
}

view! {
    /// The place that a request at a fee would have now.
    pub struct OfferPlaceView as OfferPlace of (offer: &OfferPlace, currency: &Currency) {
        /// Fee in major units.
        #[decimal(example = 12.50)]
        fee: Number = Number::money(currency, offer.fee),
        /// The place.
        place: PlaceView = PlaceView::new(&offer.place),
    }
}

view! {
    /// An open gig near a location.
    pub struct NearbyBoardView<'b> as NearbyBoard of (nearby: &'b NearbyBoard, currency: &Currency) {
        let details = &nearby.gig.gig.details;
        let profile = nearby.dj.dj.clone().unwrap_or_default();
        /// Code of the DJ.
        #[schema(example = "K7TW3M")]
        code: String = nearby.gig.gig.code.to_string(),
        /// Title of the gig.
        #[schema(example = "Friday at the Blue Room")]
        title: &'b str = details.title.as_str(),
        /// Venue, such as a club; null if not given.
        #[schema(example = "Blue Room")]
        venue: Option<&'b str> = details.venue.as_ref().map(Line::as_str),
        /// City; null if not given.
        #[schema(example = "Berlin")]
        city: Option<&'b str> = details.city.as_ref().map(Line::as_str),
        /// Latitude in degrees north.
        #[schema(minimum = -90, maximum = 90, example = 52.52)]
        latitude: Option<f64> = details.coordinates.map(Coordinates::latitude),
        /// Longitude in degrees east.
        #[schema(minimum = -180, maximum = 180, example = 13.405)]
        longitude: Option<f64> = details.coordinates.map(Coordinates::longitude),
        /// The DJ.
        dj: BoardDjView<'b> = BoardDjView::new(&nearby.dj),
        /// Price of a song by an upcoming artist, in major units.
        #[decimal(example = 5.00)]
        fee_upcoming_artist: Number = Number::money(currency, profile.fee_upcoming_artist),
        /// Price of a popular song, in major units.
        #[decimal(example = 10.00)]
        fee_popular_song: Number = Number::money(currency, profile.fee_popular_song),
        /// Status of the gig.
        #[schema(value_type = names::GigStatus)]
        status: &'static str = nearby.gig.status.name(),
        /// Distance in kilometres, with one decimal.
        #[schema(minimum = 0, example = 1.2)]
        distance_km: f64 = one_decimal(nearby.distance.get()),
    }
}

/// A number with one decimal.
fn one_decimal(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// A board in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BoardData<'b> {
    /// The board.
    pub board: BoardView<'b>,
}

/// Requests of the caller in a gig, in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OwnRequestsData<'q> {
    /// The requests, newest first, at most 50.
    pub requests: Vec<OwnRequestView<'q>>,
    /// The places of the offers, in their order; none without an open gig.
    pub offers: Vec<OfferPlaceView>,
}

impl<'q> OwnRequestsData<'q> {
    /// The view of these requests.
    #[must_use]
    pub fn new(own: &'q OwnRequests, currency: &Currency) -> Self {
        Self {
            requests: own.requests.iter().map(|request| OwnRequestView::new(request, currency)).collect(),
            offers: own.offers.iter().map(|offer| OfferPlaceView::new(offer, currency)).collect(),
        }
    }
}

/// Open gigs near a location, in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct NearbyBoardsData<'b> {
    /// The gigs, nearest first, at most 50.
    pub boards: Vec<NearbyBoardView<'b>>,
}
