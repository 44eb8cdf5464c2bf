//! Messages of payment and payout providers that contradict the ledger, kept until an operator has resolved them.
//!
//! Only messages with a valid signature are kept, one for each `webhook-id` of a source. A kept message moves no money,
//! and neither does resolving it.

use std::fmt;

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::ids::{ProviderMessageId, UserId};
use crate::names::named_enum;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// The provider that a message comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum MessageSource {
    /// The payment provider.
    Topups,
    /// The payout provider.
    Payouts,
}

named_enum!(MessageSource);

/// How a message contradicts the ledger.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum Contradiction {
    /// No top-up or withdrawal has the reference.
    UnknownReference,
    /// The reference and the id belong to different rows.
    ReferenceAndIdDiffer,
    /// The row has another transaction: there may be two payments for one withdrawal.
    TxidMismatch,
    /// Another amount or another currency was paid, or taken back, than the top-up asks for.
    AmountMismatch,
    /// A part of a top-up's money was taken back.
    PartialReversal,
    /// The row's status excludes what the message says.
    StatusContradiction,
    /// A newer version found it, under this code.
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(Contradiction, Unknown);

/// The `webhook-id` of a message, by which a provider numbers its messages: 1 to 255 visible ASCII characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WebhookId(String);

impl WebhookId {
    /// The longest id, in characters.
    pub const MAX_CHARACTERS: usize = 255;

    /// The id; `None` unless it has 1 to 255 characters, each of them visible ASCII.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let fits =
            (1..=Self::MAX_CHARACTERS).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    /// The id itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as it was accepted when it was stored.
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }
}

/// Text of a message as it was presented: at most `MOST` bytes of UTF-8, where `…` ends what was longer, and with
/// U+FFFD in place of each control character.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt<const MOST: usize>(String);

impl<const MOST: usize> Excerpt<MOST> {
    /// The beginning of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        const CUT: char = '…';
        let clean = text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c });
        let (mut kept, mut cut_at) = (String::new(), 0);
        for character in clean {
            if kept.len().saturating_add(character.len_utf8()) > MOST {
                kept.truncate(cut_at);
                kept.push(CUT);
                return Self(kept);
            }
            kept.push(character);
            if kept.len().saturating_add(CUT.len_utf8()) <= MOST {
                cut_at = kept.len();
            }
        }
        Self(kept)
    }

    /// The text itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as it was stored.
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }
}

impl<const MOST: usize> fmt::Display for Excerpt<MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The money and the transaction that a message names, as it names them.
///
/// With its `webhook-id`, type and reference, the texts of one message have at most 1 KiB.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PresentedPayment {
    /// The amount: a number, or any other JSON value.
    pub amount: Option<Excerpt<64>>,
    /// The currency.
    pub currency: Option<Excerpt<64>>,
    /// The transaction on the network.
    pub txid: Option<Excerpt<512>>,
}

/// What is kept of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageRecord {
    /// The provider that sent it.
    pub source: MessageSource,
    /// Its id, unique among the messages of its source.
    pub webhook_id: WebhookId,
    /// Its type, such as `payout.completed`.
    pub kind: Excerpt<64>,
    /// How it contradicts the ledger.
    pub contradiction: Contradiction,
    /// The reference that it names; its id where it names no reference.
    pub reference: Excerpt<64>,
    /// The id that it names beside the reference, or alone; any number.
    pub stated_id: Option<i64>,
    /// The id of the top-up or withdrawal, by the source, that its reference leads to.
    pub row: Option<i64>,
    /// The money and the transaction that it names.
    pub presented: PresentedPayment,
    /// When it came.
    pub received_at: Timestamp,
}

/// How a message was resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resolution {
    /// When; never before the message came.
    pub at: Timestamp,
    /// The operator.
    pub by: UserId,
    /// What the operator found out.
    pub reason: Line,
}

/// A kept message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProviderMessage {
    /// Which it is; later messages have higher ids.
    pub id: ProviderMessageId,
    /// What is kept of it.
    pub record: MessageRecord,
    /// How it was resolved; `None` while it is unresolved.
    pub resolution: Option<Resolution>,
}

impl ProviderMessage {
    /// How many unresolved messages are kept. While there are as many, further ones are logged and counted only, so that a
    /// provider that goes wrong cannot fill the database.
    pub const MOST_UNRESOLVED: u32 = 10_000;
}

/// A message is resolved already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlreadyResolved;

/// The resolution of a message by this operator.
///
/// # Errors
/// [`AlreadyResolved`]: a resolution is never replaced.
pub fn resolve(
    message: &ProviderMessage,
    by: UserId,
    reason: Line,
    now: Timestamp,
) -> Result<Resolution, AlreadyResolved> {
    match message.resolution {
        Some(_) => Err(AlreadyResolved),
        None => Ok(Resolution { at: now.max(message.record.received_at), by, reason }),
    }
}

/// Which messages a list shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MessageFilter {
    /// Only those that are resolved, or only those that are not.
    pub resolved: Option<bool>,
}

impl MessageFilter {
    /// Whether the filter shows this one.
    #[must_use]
    pub fn shows(self, message: &ProviderMessage) -> bool {
        self.resolved.is_none_or(|resolved| resolved == message.resolution.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> ProviderMessage {
        ProviderMessage {
            id: ProviderMessageId::new(1).unwrap(),
            record: MessageRecord {
                source: MessageSource::Payouts,
                webhook_id: WebhookId::new("msg_1").unwrap(),
                kind: Excerpt::of("payout.completed"),
                contradiction: Contradiction::TxidMismatch,
                reference: Excerpt::of("5"),
                stated_id: None,
                row: Some(5),
                presented: PresentedPayment::default(),
                received_at: Timestamp::from_unix_micros(10),
            },
            resolution: None,
        }
    }

    #[test]
    fn a_message_is_resolved_once() {
        let (first, second) = (UserId::new(1).unwrap(), UserId::new(2).unwrap());
        let reason = || Line::new("refunded by hand").unwrap();
        let mut message = message();
        let at = Timestamp::from_unix_micros(11);
        let resolution = resolve(&message, first, reason(), at).unwrap();
        assert_eq!(resolution, Resolution { at, by: first, reason: reason() });
        // A clock that was set back does not resolve a message before it came.
        let early = resolve(&message, first, reason(), Timestamp::EPOCH).unwrap();
        assert_eq!(early.at, message.record.received_at);
        message.resolution = Some(resolution);
        assert_eq!(resolve(&message, second, reason(), at), Err(AlreadyResolved));
        assert_eq!(resolve(&message, first, reason(), at), Err(AlreadyResolved));
    }

    #[test]
    fn codes_read_back_and_those_of_a_newer_version_are_shown_as_they_are() {
        for contradiction in Contradiction::all() {
            assert_eq!(Contradiction::stored(contradiction.name()), Some(contradiction));
        }
        let newer = Contradiction::stored("partial_payment").unwrap();
        assert!(matches!(newer, Contradiction::Unknown(_)), "{newer:?}");
        assert_eq!(newer.name(), "partial_payment");
        assert_eq!(Contradiction::stored("no code"), None);
        for source in MessageSource::all() {
            assert_eq!(MessageSource::named(source.name()), Some(source));
        }
    }

    #[test]
    fn excerpts_keep_what_fits() {
        let kept = |text: &str| Excerpt::<8>::of(text).as_str().to_owned();
        for (text, excerpt) in [
            ("", ""),
            ("12345678", "12345678"),
            ("123456789", "12345…"),
            ("ééé", "ééé"),
            ("éééé", "éééé"),
            ("ééééé", "éé…"),
            ("a\u{0}b\n", "a\u{fffd}b\u{fffd}"),
        ] {
            assert_eq!(kept(text), excerpt, "{text:?}");
            assert!(kept(text).len() <= 8);
        }
    }

    #[test]
    fn a_webhook_id_is_short_and_visible() {
        for good in ["1", "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", &"x".repeat(255)] {
            assert_eq!(WebhookId::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "a b", "é", "a\tb", &"x".repeat(256)] {
            assert_eq!(WebhookId::new(bad), None, "{bad}");
        }
    }
}
