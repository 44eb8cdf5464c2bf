//! The form of a request.

use std::collections::BTreeSet;

use cuepoint_domain::gig::Song;
use cuepoint_domain::gig::consent::{ChosenOffer, Questions, Topic};
use cuepoint_domain::ids::RequestId;
use cuepoint_domain::money::Money;

use super::offers::{OfferFields, button};
use crate::forms::{FieldState, FormError, KeptWallet, errors};
use crate::frame::Frame;
use crate::texts::Text;

/// The form of a request: `POST /g/{code}/requests` with the fields `key`, `song_title`, `artist_name`, `message`, `name`
/// (the first time alone), `guest_wallet` (the user id of the kept wallet that pays), `joins` (the accepted request that
/// the guest joins), `asked` (the questions that the form asks) and those of [`OfferFields`].
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
    pub joins: Option<RequestId>,
    pub offers: OfferFields<'a>,
    /// An error that belongs to the offer.
    pub offer_error: Option<Text>,
    /// The songs that this DJ played most, which the fields suggest.
    pub most_played: &'a [Song],
    /// The available balance of the caller; `None` without an account.
    pub available: Option<Money>,
    /// The newest wallet that the browser had before, if money is left in it.
    pub guest_wallet: Option<KeptWallet>,
    /// Whether this wallet pays, unless the guest decides otherwise.
    pub spends_guest_wallet: bool,
    /// What the page asks before it sends the request. The form then has one offer.
    pub questions: Option<&'a Questions>,
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

    /// The artists of the most played songs, each once.
    pub(crate) fn artists(&self) -> BTreeSet<&str> {
        self.most_played.iter().map(|song| song.artist.as_str()).collect()
    }

    /// Whether the part with the dedication is open.
    pub(crate) fn has_dedication(&self) -> bool {
        !self.message.value.is_empty() || self.message.error.is_some()
    }

    /// The sentences of the notice above the questions, but for the time of a play.
    pub(crate) fn sentences(&self, questions: &Questions, frame: &Frame<'_>) -> Vec<Text> {
        let (t, asked) = (frame.t, &questions.asked);
        let is_about = |topic| asked.is_about(topic);
        let again = [Topic::Played, Topic::Accepted, Topic::Own].into_iter().any(is_about);
        let sentences = [
            (is_about(Topic::Price), t.price_now(&frame.price(asked.fee()))),
            (is_about(Topic::Accepted), t.accepted_already()),
            (is_about(Topic::Own), t.requested_already()),
            (true, if again { t.again_question() } else { t.price_raised_question() }),
        ];
        sentences.into_iter().filter_map(|(applies, text)| applies.then_some(text)).collect()
    }

    /// The fields of the only offer, with their values.
    pub(crate) fn only_offer(&self, questions: &Questions, frame: &Frame<'_>) -> [(String, String); 4] {
        let currency = &frame.site.currency;
        let fee = currency.print(questions.asked.fee());
        let offer = match questions.choice {
            ChosenOffer::Price => "price".to_owned(),
            ChosenOffer::Amount(_) => fee.clone(),
        };
        let kind = questions.kind.name();
        [
            ("kind".to_owned(), kind.to_owned()),
            (format!("price_{kind}"), fee),
            ("offer".to_owned(), offer),
            ("asked".to_owned(), questions.asked.print(currency)),
        ]
    }

    /// The button that answers the questions.
    pub(crate) fn answer(&self, questions: &Questions, frame: &Frame<'_>) -> Text {
        button(frame, questions.asked.fee())
    }
}
