//! What the form of a request may hold: the fee that its guest agreed to, after the questions that apply.
//!
//! No fee is above what the last form displayed, and none is below the list price.

use std::collections::BTreeSet;

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::checksum::ChecksumFields;
use crate::gig::DjCode;
use crate::gig::song::SongKey;
use crate::gig::song_tonight::SongTonight;
use crate::ids::{GigId, RequestId};
use crate::money::{Currency, Money};
use crate::music_request::Agreement;
use crate::names::named_enum;
use crate::timestamp::Timestamp;
use crate::user::ArtistType;

/// The offer that a guest chose in a form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChosenOffer {
    /// The list price.
    Price,
    /// An amount.
    Amount(Money),
}

/// What a form displayed, and what its guest chose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentForm {
    /// The displayed price of the chosen kind of song; zero if the form names none.
    pub displayed: Money,
    pub choice: ChosenOffer,
    /// The questions that the guest has answered.
    pub asked: Option<Asked>,
    /// The accepted request that the guest joins.
    pub joins: Option<RequestId>,
}

/// A song at a gig, as a kind of song.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WantedSong {
    pub code: DjCode,
    /// The open gig of the code. `None` without one.
    pub gig: Option<GigId>,
    pub song: SongKey,
    /// The kind that [counts](crate::gig::Board::counted_kind).
    pub kind: ArtistType,
}

/// What is known about the song when the form arrives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The list price.
    pub price: Money,
    /// What the gig already did with the song.
    pub tonight: SongTonight,
    /// Whether the guest has an open request for the song.
    pub has_open: bool,
}

/// A question that a form asks before its request is made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum Topic {
    /// The price is higher than the one that the guest saw.
    Price,
    /// The song was played.
    Played,
    /// The DJ has accepted the song, and has not played it yet.
    Accepted,
    /// The guest has an open request for the song.
    Own,
}

named_enum!(Topic);

/// The questions that a form asked, with the amount that it displayed. They are a field of the form. A forged field can
/// only skip questions to the forger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    topics: BTreeSet<Topic>,
    /// The amount on the button.
    fee: Money,
    /// The digits of [`WantedSong`]. The answer is valid for these alone.
    about: String,
}

/// The decision about a form that was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Consent {
    /// The request is made.
    Given {
        agreement: Agreement,
        /// The fee at the price that was found.
        fee: Money,
        /// The answers, for a form that is sent after a payment.
        asked: Asked,
    },
    /// The form is shown again with its questions.
    Missing(Questions),
}

/// The questions of a form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Questions {
    pub asked: Asked,
    /// The offer of the form that asks.
    pub choice: ChosenOffer,
    pub kind: ArtistType,
    /// The time of the song's last play.
    pub played_at: Option<Timestamp>,
}

/// Decides what a form may hold.
#[must_use]
pub fn consent(form: &SentForm, wanted: WantedSong, found: &Found) -> Consent {
    let (limit, choice) = match form.choice {
        ChosenOffer::Price => (form.displayed, ChosenOffer::Price),
        ChosenOffer::Amount(amount) if amount < found.price => (amount, ChosenOffer::Price),
        ChosenOffer::Amount(amount) => (amount, form.choice),
    };
    let fee = match choice {
        ChosenOffer::Price => found.price,
        ChosenOffer::Amount(amount) => amount,
    };
    let is_accepted = !found.tonight.accepted.is_empty();
    let is_joined = form.joins.is_some_and(|request| found.tonight.accepted.contains(&request));
    let applies = |topic: &Topic| match topic {
        Topic::Price => fee > limit,
        Topic::Played => found.tonight.played_at.is_some(),
        Topic::Accepted => is_accepted,
        Topic::Own => found.has_open,
    };
    let about = wanted.digits();
    let topics: BTreeSet<Topic> = Topic::all().filter(applies).collect();
    let answered = form.asked.as_ref().filter(|asked| asked.about == about && fee <= asked.fee);
    let is_answered = |topic: &Topic| {
        (*topic == Topic::Accepted && is_joined) || answered.is_some_and(|asked| asked.topics.contains(topic))
    };
    let is_covered = topics.iter().all(is_answered);
    let is_raised = topics.contains(&Topic::Price);
    let mut asked = Asked { topics, fee, about };
    if !is_covered {
        if is_joined {
            asked.topics.remove(&Topic::Accepted);
        }
        let (kind, played_at) = (wanted.kind, found.tonight.played_at);
        return Consent::Missing(Questions { asked, choice, kind, played_at });
    }
    let agreement = match (choice, answered) {
        (ChosenOffer::Amount(amount), _) => Agreement::Exactly(amount),
        (ChosenOffer::Price, Some(answered)) if is_raised => Agreement::AtMost(answered.fee),
        (ChosenOffer::Price, _) => Agreement::AtMost(limit),
    };
    Consent::Given { agreement, fee, asked }
}

impl WantedSong {
    /// Digits that differ for another song, gig or kind.
    fn digits(self) -> String {
        let mut fields = ChecksumFields::with_capacity(96);
        fields.push(self.code.as_str().as_bytes());
        fields.push(&self.gig.map_or(0, GigId::get).to_be_bytes());
        self.song.add_to(&mut fields);
        fields.push(self.kind.name().as_bytes());
        let [a, b, c, d, e, f, g, h, ..] = fields.sha256();
        format!("{:016x}", u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }
}

impl Asked {
    /// The longest text that can be one, in bytes.
    const MOST_BYTES: usize = 128;
    /// What separates the parts of the text.
    const SEPARATOR: char = ' ';

    /// Whether a question is about this.
    #[must_use]
    pub fn is_about(&self, topic: Topic) -> bool {
        self.topics.contains(&topic)
    }

    /// The amount on the button of the form.
    #[must_use]
    pub const fn fee(&self) -> Money {
        self.fee
    }

    /// The text in the field of a form: the fee, the digits of the song, and the topics.
    #[must_use]
    pub fn print(&self, currency: &Currency) -> String {
        let mut text = format!("{}{}{}", currency.print(self.fee), Self::SEPARATOR, self.about);
        for topic in &self.topics {
            text.push(Self::SEPARATOR);
            text.push_str(topic.name());
        }
        text
    }

    /// Reads the text; `None` if no form wrote it.
    #[must_use]
    pub fn read(text: &str, currency: &Currency) -> Option<Self> {
        if text.len() > Self::MOST_BYTES {
            return None;
        }
        let mut parts = text.split(Self::SEPARATOR);
        let fee = currency.parse(parts.next()?).ok()?;
        let about = parts.next()?.to_owned();
        let topics = parts.map(Topic::named).collect::<Option<_>>()?;
        Some(Self { topics, fee, about })
    }
}
