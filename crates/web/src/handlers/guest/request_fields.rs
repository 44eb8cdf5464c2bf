//! The fields of the form of a request: what the guest typed, and what it means.

use cuepoint_domain::gig::Board;
use cuepoint_domain::gig::consent::{Asked, ChosenOffer, SentForm, WantedSong};
use cuepoint_domain::gig::song::SongKey;
use cuepoint_domain::ids::{self, RequestId};
use cuepoint_domain::money::{Currency, Money, MoneyError};
use cuepoint_domain::music_request::{Agreement, NewRequest};
use cuepoint_domain::text::{Line, ShortMessage, TextError};
use cuepoint_domain::user::ArtistType;
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
    /// The chosen kind.
    pub(super) kind: ArtistType,
    pub(super) choice: Result<ChosenOffer, MoneyError>,
    pub(super) joins: Option<RequestId>,
    displayed: Money,
    asked: Option<Asked>,
}

/// The field that names the kept guest account whose wallet pays.
pub(super) const GUEST_WALLET: &str = "guest_wallet";

/// A valid request.
pub(super) struct ReadRequest {
    pub(super) song_title: Line,
    pub(super) artist_name: Line,
    pub(super) message: Option<ShortMessage>,
    pub(super) name: Option<Line>,
    /// What the form displayed and the guest chose.
    pub(super) sent: SentForm,
    /// The song at the gig of the form.
    pub(super) wanted: WantedSong,
}

/// The request as a text. A repeated key with another text is refused. Fee and kind of song are left out, because they
/// can change between two tries of one form, when the DJ changes the prices.
pub(super) fn written(new: &NewRequest) -> String {
    let NewRequest { dj, song_title, artist_name, artist_type: _, music_url: _, fee: _, message } = new;
    let message = message.as_ref().map_or("", ShortMessage::as_str);
    format!("{dj}\n{}\n{}\n{message}", song_title.as_str(), artist_name.as_str())
}

impl RequestFields {
    /// The fields of a form. `is_new` says whether the guest has no account yet, so that the form needs a name.
    pub(super) fn read(form: &Form, currency: &Currency, is_new: bool) -> Self {
        let kind = ArtistType::named(form.text("kind")).unwrap_or(ArtistType::Popular);
        let name =
            if is_new { Line::new(form.text("name")).map(Some) } else { form.optional("name", Line::new) };
        let choice = match form.text("offer") {
            "" | "price" => Ok(ChosenOffer::Price),
            amount => currency.parse_typed(amount).map(ChosenOffer::Amount),
        };
        Self {
            song_title: Line::new(form.text("song_title")),
            artist_name: Line::new(form.text("artist_name")),
            message: form.optional("message", ShortMessage::new),
            name,
            kind,
            choice,
            joins: ids::written(form.text("joins")).and_then(RequestId::new),
            displayed: currency.parse_typed(form.text(&format!("price_{}", kind.name()))).unwrap_or_default(),
            asked: Asked::read(form.single("asked"), currency),
        }
    }

    /// The chosen higher offer.
    pub(super) fn amount(&self) -> Option<Money> {
        match self.choice {
            Ok(ChosenOffer::Amount(amount)) => Some(amount),
            Ok(ChosenOffer::Price) | Err(_) => None,
        }
    }

    /// The request at this gig, if every field is valid.
    pub(super) fn valid(self, board: &Board) -> Option<ReadRequest> {
        let (song_title, artist_name) = (self.song_title.ok()?, self.artist_name.ok()?);
        let wanted = WantedSong {
            code: board.code,
            gig: board.gig.as_ref().map(|gig| gig.gig.id),
            song: SongKey::of(&song_title, &artist_name),
            kind: board.counted_kind(self.kind),
        };
        let (displayed, choice) = (self.displayed, self.choice.ok()?);
        let sent = SentForm { displayed, choice, asked: self.asked, joins: self.joins };
        let (message, name) = (self.message.ok()?, self.name.ok()?);
        Some(ReadRequest { song_title, artist_name, message, name, sent, wanted })
    }

    /// What is wrong with the offer.
    pub(super) fn offer_error(&self, frame: &Frame<'_>) -> Option<Text> {
        self.choice.as_ref().err().map(|error| frame.refused_money(*error))
    }
}

impl ReadRequest {
    /// The request to the DJ of a board, at the fee that the guest agreed to.
    pub(super) fn new_request(&self, board: &Board, agreement: Agreement) -> NewRequest {
        NewRequest {
            dj: board.dj.id,
            song_title: self.song_title.clone(),
            artist_name: self.artist_name.clone(),
            artist_type: self.wanted.kind,
            music_url: None,
            fee: Some(agreement),
            message: self.message.clone(),
        }
    }
}
