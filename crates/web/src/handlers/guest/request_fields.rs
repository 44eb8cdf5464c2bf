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

/// What the form contains.
pub(super) struct RequestFields {
    pub(super) song_title: Result<Line, TextError>,
    pub(super) artist_name: Result<Line, TextError>,
    pub(super) message: Result<Option<ShortMessage>, TextError>,
    /// The name of a new guest account.
    pub(super) name: Result<Option<Line>, TextError>,
    pub(super) kind: ArtistType,
    /// The chosen higher offer.
    pub(super) offer: Option<Money>,
    /// The fee that the guest agreed to: the offer, or the displayed price.
    pub(super) fee: Result<Money, MoneyError>,
    /// Whether the guest has answered a question.
    pub(super) is_confirmed: bool,
}

/// A valid request.
pub(super) struct ReadRequest {
    pub(super) new: NewRequest,
    pub(super) name: Option<Line>,
    pub(super) is_confirmed: bool,
}

/// The request as a text, by which a repeated key with another request is refused.
pub(super) fn written(new: &NewRequest, currency: &Currency) -> String {
    let NewRequest { dj, song_title, artist_name, artist_type, music_url: _, fee, message } = new;
    let fee = fee.map(|fee| currency.print(fee)).unwrap_or_default();
    let (kind, message) = (artist_type.name(), message.as_ref().map_or("", ShortMessage::as_str));
    format!("{dj}\n{}\n{}\n{kind}\n{fee}\n{message}", song_title.as_str(), artist_name.as_str())
}

/// The chosen kind of song.
fn kind_of(form: &Form) -> ArtistType {
    if form.text("kind") == "upcoming" { ArtistType::Upcoming } else { ArtistType::Popular }
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
    /// The fields of a form. `is_new` says whether the guest has no account yet, so that the form needs a name.
    pub(super) fn read(form: &Form, currency: &Currency, is_new: bool) -> Self {
        let kind = kind_of(form);
        let name =
            if is_new { Line::new(form.text("name")).map(Some) } else { form.optional("name", Line::new) };
        Self {
            song_title: Line::new(form.text("song_title")),
            artist_name: Line::new(form.text("artist_name")),
            message: form.optional("message", ShortMessage::new),
            name,
            kind,
            offer: currency.parse_typed(form.text("offer")).ok(),
            fee: agreed(form, kind, currency),
            is_confirmed: form.has("confirmed"),
        }
    }

    /// The request to this DJ, if every field is valid.
    pub(super) fn valid(self, dj: UserId) -> Option<ReadRequest> {
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
    pub(super) fn offer_error(&self, frame: &Frame<'_>) -> Option<Text> {
        self.fee.as_ref().err().map(|error| frame.refused_money(*error))
    }
}

/// A field as the guest left it.
pub(super) fn field<T>(
    form: &Form,
    name: &str,
    read: &Result<T, TextError>,
    frame: &Frame<'_>,
) -> FieldState {
    let value = form.text(name).to_owned();
    FieldState { value, error: read.as_ref().err().map(|error| frame.refused_text(*error)) }
}
