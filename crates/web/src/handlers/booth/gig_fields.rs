//! The fields of a gig: what the DJ typed, and what it means.

use cuepoint_domain::gig::{GigChange, GuestLimit, NewGig, QueueOrder};
use cuepoint_domain::money::{Money, MoneyError};
use cuepoint_domain::text::{GigTitle, Line, ShortMessage, TextError};
use cuepoint_domain::user::{Coordinates, DjChange, Field, Locate};
use cuepoint_pages::booth::GigForm;
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::frame::Frame;
use cuepoint_pages::texts::Text;

use crate::form::Form;

/// The values of a valid form.
pub(super) struct GigFields {
    title: GigTitle,
    venue: Option<Line>,
    city: Option<Line>,
    place: Option<Coordinates>,
    message: Option<ShortMessage>,
    queue_order: QueueOrder,
    max_open_per_guest: GuestLimit,
    members_only: bool,
    asks_kind: bool,
    fee_popular_song: Money,
    fee_upcoming_artist: Money,
    new_code: bool,
}

/// A coordinate that is no number in its range, or stands alone.
struct NoPlace;

impl GigFields {
    /// The values, or the form with its errors.
    pub(super) fn read(form: &Form, frame: &Frame<'_>) -> Result<Self, Box<GigForm>> {
        let currency = &frame.site.currency;
        let title = GigTitle::new(form.text("title"));
        let venue = form.optional("venue", Line::new);
        let city = form.optional("city", Line::new);
        let message = form.optional("message", ShortMessage::new);
        let place = place(form);
        let limit = form.text("max_open_per_guest").parse().ok().and_then(GuestLimit::new);
        let popular = currency.parse_typed(form.text("fee_popular_song"));
        let queue_order =
            if form.text("queue_order") == "arrival" { QueueOrder::Arrival } else { QueueOrder::Rounds };
        let [members_only, asks_kind, new_code] =
            ["members_only", "asks_kind", "new_code"].map(|name| form.has(name));
        // Without the question, every song has one price.
        let upcoming = match asks_kind {
            true => currency.parse_typed(form.text("fee_upcoming_artist")),
            false => popular,
        };
        match (title, venue, city, message, place, limit, popular, upcoming) {
            (
                Ok(title),
                Ok(venue),
                Ok(city),
                Ok(message),
                Ok(place),
                Some(limit),
                Ok(popular),
                Ok(upcoming),
            ) => Ok(Self {
                title,
                venue,
                city,
                place,
                message,
                queue_order,
                max_open_per_guest: limit,
                members_only,
                asks_kind,
                fee_popular_song: popular,
                fee_upcoming_artist: upcoming,
                new_code,
            }),
            (title, venue, city, message, place, limit, popular, upcoming) => {
                let text = |error: TextError| frame.refused_text(error);
                let money = |error: MoneyError| frame.refused_money(error);
                let state =
                    |name: &str, error: Option<Text>| FieldState { value: form.text(name).to_owned(), error };
                let no_place = place.err().map(|NoPlace| frame.t.not_this_form());
                Err(Box::new(GigForm {
                    title: state("title", title.err().map(text)),
                    venue: state("venue", venue.err().map(text)),
                    city: state("city", city.err().map(text)),
                    latitude: state("latitude", no_place.clone()),
                    longitude: state("longitude", no_place),
                    message: state("message", message.err().map(text)),
                    fee_popular_song: state("fee_popular_song", popular.err().map(money)),
                    fee_upcoming_artist: state("fee_upcoming_artist", upcoming.err().map(money)),
                    queue_order,
                    max_open_per_guest: state(
                        "max_open_per_guest",
                        limit.is_none().then(|| frame.t.number_between(GuestLimit::MIN, GuestLimit::MAX)),
                    ),
                    members_only,
                    asks_kind,
                    new_code,
                }))
            }
        }
    }

    fn locate(&self) -> Locate {
        Locate {
            latitude: Field::Set(self.place.map(|place| place.latitude())),
            longitude: Field::Set(self.place.map(|place| place.longitude())),
        }
    }

    const fn prices(&self) -> DjChange {
        DjChange {
            online: Field::Keep,
            fee_upcoming_artist: Field::Set(self.fee_upcoming_artist),
            fee_popular_song: Field::Set(self.fee_popular_song),
        }
    }

    /// The new gig.
    pub(super) fn new_gig(self) -> NewGig {
        NewGig {
            place: self.locate(),
            prices: self.prices(),
            title: self.title,
            venue: self.venue,
            city: self.city,
            message: self.message,
            queue_order: self.queue_order,
            max_open_per_guest: self.max_open_per_guest,
            members_only: self.members_only,
            asks_kind: self.asks_kind,
            new_code: self.new_code,
        }
    }

    /// The change of the open gig.
    pub(super) fn change(self) -> GigChange {
        GigChange {
            place: self.locate(),
            dj: self.prices(),
            title: Field::Set(self.title),
            venue: Field::Set(self.venue),
            city: Field::Set(self.city),
            message: Field::Set(self.message),
            queue_order: Field::Set(self.queue_order),
            max_open_per_guest: Field::Set(self.max_open_per_guest),
            members_only: Field::Set(self.members_only),
            asks_kind: Field::Set(self.asks_kind),
        }
    }
}

/// The place of the gig: both coordinates or none.
fn place(form: &Form) -> Result<Option<Coordinates>, NoPlace> {
    let (latitude, longitude) = (form.text("latitude"), form.text("longitude"));
    if latitude.is_empty() && longitude.is_empty() {
        return Ok(None);
    }
    let degrees = |text: &str| text.replace(',', ".").parse::<f64>().ok();
    let place = degrees(latitude).zip(degrees(longitude));
    let place = place.and_then(|(latitude, longitude)| Coordinates::new(latitude, longitude));
    place.map(Some).ok_or(NoPlace)
}
