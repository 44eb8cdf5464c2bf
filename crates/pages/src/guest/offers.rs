//! The offers of a request: the kinds of song, the fees to choose from, and the button that names the chosen one.

use cuepoint_domain::application::queries::OfferPlace;
use cuepoint_domain::gig::queue::Place;
use cuepoint_domain::money::Money;
use cuepoint_domain::user::ArtistType;

use crate::frame::Frame;
use crate::texts::Text;

/// The fees of [`cuepoint_domain::gig::offers::offers`] for both kinds of song, the price first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Offers {
    pub popular: Vec<Offer>,
    /// Empty if all songs have one price.
    pub upcoming: Vec<Offer>,
}

/// A fee, with the place that a request would have at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    pub fee: Money,
    /// `None` if it is unknown.
    pub place: Option<Place>,
    /// Whether the request may expire before its turn, because of its wait.
    pub is_at_risk: bool,
}

impl From<OfferPlace> for Offer {
    fn from(OfferPlace { fee, place, is_at_risk }: OfferPlace) -> Self {
        Self { fee, place: Some(place), is_at_risk }
    }
}

/// The offers, in the form and again in the live part. The script copies them from there into a form whose offers the
/// guest has not touched. The fields are `kind` (`popular` or `upcoming`), `offer` (`price` or an amount), and
/// `price_popular` and `price_upcoming` (the displayed prices).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfferFields<'a> {
    pub offers: &'a Offers,
    /// The chosen kind.
    pub kind: ArtistType,
    /// The chosen higher offer; `None` for the price.
    pub chosen: Option<Money>,
}

impl Offers {
    /// The offers of each kind, in the order of the form.
    pub(crate) fn by_kind(&self) -> impl Iterator<Item = (ArtistType, &[Offer])> {
        let kinds = [(ArtistType::Popular, &self.popular), (ArtistType::Upcoming, &self.upcoming)];
        kinds.into_iter().map(|(kind, offers)| (kind, offers.as_slice()))
    }

    /// The price of each kind.
    pub(crate) fn prices(&self) -> impl Iterator<Item = (ArtistType, &Offer)> {
        self.by_kind().filter_map(|(kind, offers)| Some((kind, offers.first()?)))
    }

    /// The offers above the price.
    fn higher(&self) -> impl Iterator<Item = (ArtistType, &Offer)> {
        self.by_kind().flat_map(|(kind, offers)| offers.iter().skip(1).map(move |offer| (kind, offer)))
    }

    /// Whether the kinds of song have different prices.
    pub(crate) fn differ(&self) -> bool {
        !self.upcoming.is_empty()
    }

    /// Whether every song is free.
    pub(crate) fn are_free(&self) -> bool {
        self.prices().all(|(_, price)| price.fee.is_zero())
    }
}

impl<'a> OfferFields<'a> {
    pub(crate) fn is_kind(&self, kind: &ArtistType) -> bool {
        self.kind == *kind
    }

    pub(crate) fn label(&self, frame: &Frame<'_>, kind: &ArtistType) -> Text {
        match kind {
            ArtistType::Popular => frame.t.popular_song(),
            ArtistType::Upcoming => frame.t.upcoming_artist(),
        }
    }

    /// The offers above the price, each with its kind, and whether it is chosen: once, and better for the chosen kind.
    pub(crate) fn higher(&self) -> impl Iterator<Item = (ArtistType, &'a Offer, bool)> {
        let Self { offers, kind, chosen } = *self;
        let same = move |(kind, offer): (ArtistType, &Offer)| (Some(offer.fee) == chosen).then_some(kind);
        let of_kind = offers.higher().filter_map(same).max_by_key(|other| *other == kind);
        offers.higher().map(move |(of, offer)| (of, offer, of_kind == Some(of) && chosen == Some(offer.fee)))
    }

    /// Whether there is a higher offer.
    pub(crate) fn has_choice(&self) -> bool {
        self.offers.higher().next().is_some()
    }

    /// Whether the price is chosen: no higher offer is.
    pub(crate) fn is_price_chosen(&self) -> bool {
        !self.higher().any(|(_, _, is_chosen)| is_chosen)
    }

    /// The amount of an offer, as the form sends it.
    pub(crate) fn field(&self, frame: &Frame<'_>, money: &Money) -> String {
        frame.site.currency.print(*money)
    }

    /// The button that sends a request at this fee.
    pub(crate) fn button(&self, frame: &Frame<'_>, fee: &Money) -> Text {
        button(frame, *fee)
    }

    /// What the prices are now, for a guest who has chosen an offer already.
    pub(crate) fn prices_now(&self, frame: &Frame<'_>) -> Text {
        let prices: Vec<Text> = self.offers.prices().map(|(_, price)| frame.price(price.fee)).collect();
        frame.t.price_now(&prices.join(" / "))
    }
}

/// The button that sends a request at this fee.
pub(super) fn button(frame: &Frame<'_>, fee: Money) -> Text {
    if fee.is_zero() { frame.t.send_request() } else { frame.t.request_for(&frame.amount(fee)) }
}
