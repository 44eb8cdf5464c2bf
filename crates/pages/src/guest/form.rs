//! The form of a request.

use std::collections::BTreeSet;

use cuepoint_domain::application::queries::OfferPlace;
use cuepoint_domain::gig::Song;
use cuepoint_domain::gig::queue::Place;
use cuepoint_domain::gig::song_tonight::SongTonight;
use cuepoint_domain::money::Money;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::ArtistType;

use crate::forms::{FieldState, FormError, KeptWallet, errors};
use crate::frame::Frame;
use crate::texts::Text;

/// The form of a request: `POST /g/{code}/requests` with the fields `key`, `song_title`, `artist_name`, `kind`
/// (`popular` or `upcoming`), `offer` (`price` or an amount), `fee_popular_song` and `fee_upcoming_artist` (the displayed
/// prices), `message`, `name` (the first time alone), `guest_wallet` (the user id of the
/// kept wallet that pays) and `confirmed` (`1` after
/// a question).
#[derive(Clone, PartialEq, Debug)]
pub struct RequestForm<'a> {
    /// The idempotency key: 22 characters at least, random, and the same when a refused form is shown again.
    pub key: &'a str,
    pub song_title: FieldState,
    pub artist_name: FieldState,
    /// The dedication.
    pub message: FieldState,
    /// The name of a new guest account; `None` if there is an account.
    pub name: Option<FieldState>,
    /// The chosen kind.
    pub kind: ArtistType,
    pub offers: &'a Offers,
    /// The chosen offer; `None` for the price.
    pub offer: Option<Money>,
    /// An error that belongs to the offer.
    pub offer_error: Option<Text>,
    /// The songs that this DJ played most, which the fields suggest.
    pub most_played: &'a [Song],
    /// The available balance of the caller; `None` without an account.
    pub available: Option<Money>,
    /// The newest wallet that the browser had before, if money is left in it.
    pub guest_wallet: Option<KeptWallet>,
    /// What the page asks before it sends the request.
    pub question: Option<Question>,
}

/// The fees of [`cuepoint_domain::gig::offers::offers`] for both kinds of song, the price first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offers {
    pub popular: Vec<Offer>,
    /// Empty if both kinds have one price.
    pub upcoming: Vec<Offer>,
}

impl Offers {
    /// The offers of each kind, in the order of the form.
    fn by_kind(&self) -> [(ArtistType, &[Offer]); 2] {
        [(ArtistType::Popular, self.popular.as_slice()), (ArtistType::Upcoming, self.upcoming.as_slice())]
    }

    /// The offers above the price.
    fn higher(&self) -> impl Iterator<Item = (ArtistType, &Offer)> {
        let kinds = self.by_kind().into_iter();
        kinds.flat_map(|(kind, offers)| offers.iter().skip(1).map(move |offer| (kind, offer)))
    }
}

/// A fee, with the place that a request would have at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    pub fee: Money,
    /// `None` if it is unknown.
    pub place: Option<Place>,
}

impl From<OfferPlace> for Offer {
    fn from(OfferPlace { fee, place }: OfferPlace) -> Self {
        Self { fee, place: Some(place) }
    }
}

/// What the page asks before it sends a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// The price is higher than the one that the guest saw.
    PriceRaised,
    /// The song was played at this time.
    Played(Timestamp),
    /// The song is accepted and not played yet.
    Accepted,
    /// The guest has an open request for the song.
    OwnOpen,
}

impl From<SongTonight> for Question {
    fn from(song: SongTonight) -> Self {
        match song {
            SongTonight::Played(at) => Self::Played(at),
            SongTonight::Accepted => Self::Accepted,
        }
    }
}

impl RequestForm<'_> {
    /// The errors of the fields.
    pub(crate) fn errors(&self, frame: &Frame<'_>) -> Vec<FormError<'_>> {
        let t = frame.t;
        let fields = [
            ("song_title", t.song_title(), &self.song_title),
            ("artist_name", t.artist_name(), &self.artist_name),
            ("message", t.dedication(), &self.message),
        ];
        let name = self.name.iter().map(|name| ("name", t.your_name(), name));
        let mut errors = errors(fields.into_iter().chain(name));
        errors.extend(self.offer_error.as_deref().map(|message| FormError {
            field: "offer",
            label: t.your_offer(),
            message,
        }));
        errors
    }

    pub(crate) fn is_upcoming(&self) -> bool {
        self.kind == ArtistType::Upcoming
    }

    /// The artists of the most played songs, each once.
    pub(crate) fn artists(&self) -> BTreeSet<&str> {
        self.most_played.iter().map(|song| song.artist.as_str()).collect()
    }

    /// The offers above the price, each with its kind, and whether it is chosen: once, and better for the chosen kind.
    pub(crate) fn higher_offers(&self) -> impl Iterator<Item = (ArtistType, &Offer, bool)> {
        let same = |(kind, offer): &(ArtistType, &Offer)| (Some(offer.fee) == self.offer).then_some(*kind);
        let kind =
            self.offers.higher().filter_map(|offer| same(&offer)).max_by_key(|kind| *kind == self.kind);
        self.offers
            .higher()
            .map(move |(of, offer)| (of, offer, kind == Some(of) && self.offer == Some(offer.fee)))
    }

    /// The place at the price of each kind.
    pub(crate) fn places_at_price(&self) -> impl Iterator<Item = (ArtistType, Place)> {
        let kinds = self.offers.by_kind().into_iter();
        kinds.filter_map(|(kind, offers)| Some((kind, offers.first()?.place?)))
    }

    /// Whether there is a higher offer.
    pub(crate) fn has_choice(&self) -> bool {
        self.offers.higher().next().is_some()
    }

    /// Whether the price is chosen: no higher offer is.
    pub(crate) fn is_price_chosen(&self) -> bool {
        !self.higher_offers().any(|(_, _, is_chosen)| is_chosen)
    }

    /// Whether the part with the dedication is open.
    pub(crate) fn has_dedication(&self) -> bool {
        !self.message.value.is_empty() || self.message.error.is_some()
    }
}
