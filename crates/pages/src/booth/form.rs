//! The fields of a gig.

use cuepoint_domain::gig::{GigDetails, GuestLimit, QueueOrder};
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::user::DjProfile;

use crate::format::date;
use crate::forms::{FieldState, FormError, errors};
use crate::frame::Frame;

/// The fields of a gig: `title`, `venue`, `city`, `latitude`, `longitude`, `message`, `fee_popular_song`,
/// `fee_upcoming_artist`, `queue_order` (`rounds` or `arrival`), `max_open_per_guest`, `members_only` and
/// `asks_kind` (`1` or absent) and, for a new gig, `new_code` (`1` or absent).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GigForm {
    pub title: FieldState,
    pub venue: FieldState,
    pub city: FieldState,
    pub latitude: FieldState,
    pub longitude: FieldState,
    pub message: FieldState,
    pub fee_popular_song: FieldState,
    pub fee_upcoming_artist: FieldState,
    pub queue_order: QueueOrder,
    pub max_open_per_guest: FieldState,
    pub members_only: bool,
    pub asks_kind: bool,
    pub new_code: bool,
}

impl GigForm {
    /// The form with the details of a gig, and the prices of its DJ. A new gig begins with those of the last one, and a
    /// first one with the date as its title and the usual price.
    #[must_use]
    pub fn of(details: Option<&GigDetails>, dj: &DjProfile, usual_price: Amount, frame: &Frame<'_>) -> Self {
        // A first gig is free only if its DJ says so.
        let price = |fee: Money| match details.is_none() && fee.is_zero() {
            true => FieldState::with(frame.number(usual_price.money())),
            false => FieldState::with(frame.number(fee)),
        };
        let prices = Self {
            fee_popular_song: price(dj.fee_popular_song),
            fee_upcoming_artist: price(dj.fee_upcoming_artist),
            max_open_per_guest: FieldState::with(GuestLimit::default().get().to_string()),
            ..Self::default()
        };
        let Some(details) = details else {
            return Self { title: FieldState::with(date(frame.now, frame.t)), ..prices };
        };
        let optional = |text: Option<&str>| FieldState::with(text.unwrap_or_default());
        let degrees =
            |value: Option<f64>| value.map(|value| FieldState::with(value.to_string())).unwrap_or_default();
        Self {
            title: FieldState::with(details.title.as_str()),
            venue: optional(details.venue.as_ref().map(|text| text.as_str())),
            city: optional(details.city.as_ref().map(|text| text.as_str())),
            latitude: degrees(details.coordinates.map(|place| place.latitude())),
            longitude: degrees(details.coordinates.map(|place| place.longitude())),
            message: optional(details.message.as_ref().map(|text| text.as_str())),
            queue_order: details.queue_order,
            max_open_per_guest: FieldState::with(details.max_open_per_guest.get().to_string()),
            members_only: details.members_only,
            asks_kind: details.asks_kind,
            ..prices
        }
    }

    pub(super) fn errors(&self, frame: &Frame<'_>) -> Vec<FormError<'_>> {
        let t = frame.t;
        errors([
            ("title", t.gig_title(), &self.title),
            ("fee_popular_song", t.price_of_song(), &self.fee_popular_song),
            ("fee_upcoming_artist", t.price_new_artist(), &self.fee_upcoming_artist),
            ("message", t.gig_message(), &self.message),
            ("max_open_per_guest", t.most_per_guest(), &self.max_open_per_guest),
            ("venue", t.gig_venue(), &self.venue),
            ("city", t.gig_city(), &self.city),
            ("latitude", t.gig_latitude(), &self.latitude),
            ("longitude", t.gig_longitude(), &self.longitude),
        ])
    }

    pub(super) fn is_by_rounds(&self) -> bool {
        self.queue_order == QueueOrder::Rounds
    }

    /// Whether a field of the place is wrong, so that the fields are shown.
    pub(super) fn has_wrong_place(&self) -> bool {
        [&self.venue, &self.city, &self.latitude, &self.longitude].iter().any(|field| field.error.is_some())
    }
}
