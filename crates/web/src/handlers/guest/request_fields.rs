//! The fields of the form of a request: what the guest typed, and what it means.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::{Currency, Money, MoneyError};
use cuepoint_domain::music_request::NewRequest;
use cuepoint_domain::text::{Line, ShortMessage, TextError};
use cuepoint_domain::user::ArtistType;
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::frame::Frame;
use cuepoint_pages::texts::Text;

use crate::form::Form;

/// The fields that a request consists of, as the form names them.
pub(in crate::handlers) const FIELDS: &[&str] = &[
    "key",
    "song_title",
    "artist_name",
    "kind",
    "offer",
    "fee_popular_song",
    "fee_upcoming_artist",
    "message",
    "name",
    "guest_wallet",
    "confirmed",
];

/// What the form contains.
pub(in crate::handlers) struct RequestFields {
    pub(in crate::handlers) song_title: Result<Line, TextError>,
    pub(in crate::handlers) artist_name: Result<Line, TextError>,
    pub(in crate::handlers) message: Result<Option<ShortMessage>, TextError>,
    /// The name of a new guest account.
    pub(in crate::handlers) name: Result<Option<Line>, TextError>,
    pub(in crate::handlers) kind: ArtistType,
    /// The chosen higher offer.
    pub(in crate::handlers) offer: Option<Money>,
    /// The fee that the guest agreed to: the offer, or the displayed price.
    pub(in crate::handlers) fee: Result<Money, MoneyError>,
    /// Whether the guest has answered a question.
    pub(in crate::handlers) is_confirmed: bool,
}

/// A valid request.
pub(in crate::handlers) struct ReadRequest {
    pub(in crate::handlers) new: NewRequest,
    pub(in crate::handlers) name: Option<Line>,
    pub(in crate::handlers) is_confirmed: bool,
}

/// The fee that the guest agreed to.
fn agreed(form: &Form, kind: ArtistType, currency: &Currency) -> Result<Money, MoneyError> {
    let displayed = match kind {
        ArtistType::Popular => form.text("fee_popular_song"),
        ArtistType::Upcoming => form.text("fee_upcoming_artist"),
    };
    match form.text("offer") {
        "" | "price" => currency.parse_typed(displayed),
        offer => currency.parse_typed(offer),
    }
}

impl RequestFields {
    /// The fields of a form.
    pub(in crate::handlers) fn read(form: &Form, currency: &Currency) -> Self {
        let kind = if form.text("kind") == "upcoming" { ArtistType::Upcoming } else { ArtistType::Popular };
        Self {
            song_title: Line::new(form.text("song_title")),
            artist_name: Line::new(form.text("artist_name")),
            message: form.optional("message", ShortMessage::new),
            name: form.optional("name", Line::new),
            kind,
            offer: currency.parse_typed(form.text("offer")).ok(),
            fee: agreed(form, kind, currency),
            is_confirmed: form.has("confirmed"),
        }
    }

    /// The request to this DJ, if every field is valid.
    pub(in crate::handlers) fn valid(self, dj: UserId) -> Option<ReadRequest> {
        let new = NewRequest {
            dj,
            song_title: self.song_title.ok()?,
            artist_name: self.artist_name.ok()?,
            artist_type: self.kind,
            music_url: None,
            fee: Some(self.fee.ok()?),
            message: self.message.ok()?,
        };
        Some(ReadRequest { new, name: self.name.ok()?, is_confirmed: self.is_confirmed })
    }

    /// What is wrong with the offer.
    pub(in crate::handlers) fn offer_error(&self, frame: &Frame<'_>) -> Option<Text> {
        self.fee.as_ref().err().map(|error| frame.refused_money(*error))
    }
}

/// A field as the guest left it.
pub(in crate::handlers) fn field<T>(
    form: &Form,
    name: &str,
    read: &Result<T, TextError>,
    frame: &Frame<'_>,
) -> FieldState {
    let value = form.text(name).to_owned();
    FieldState { value, error: read.as_ref().err().map(|error| frame.refused_text(*error)) }
}
