//! Messages of payment and payout providers that contradict the ledger, kept until an operator resolves them.
//!
//! Only messages with a valid signature are kept, one for each `webhook-id` of a source. Neither keeping nor
//! resolving a message moves money.

use std::fmt;

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};
use thiserror::Error;

use crate::entity_facts::{EntityFacts, described};
use crate::ids::{ProviderMessageId, UserId};
use crate::names::{explained_enum, named_enum};
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// The provider that sent a message.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
#[strum(serialize_all = "snake_case")]
pub enum MessageSource {
    /// The payment provider.
    Topups,
    /// The payout provider.
    Payouts,
}

named_enum!(MessageSource);
explained_enum!(MessageSource);

/// How a message contradicts the ledger.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
#[strum(serialize_all = "snake_case")]
pub enum Contradiction {
    /// No top-up or withdrawal has the reference.
    UnknownReference,
    /// The reference and the id belong to different objects.
    ReferenceAndIdDiffer,
    /// Another transaction is known. There may be two payments for one withdrawal.
    TxidMismatch,
    /// The amount or currency that was paid or taken back differs from the top-up.
    AmountMismatch,
    /// Only a part of the money of a top-up was taken back.
    PartialReversal,
    /// The status of the object excludes the message.
    StatusContradiction,
    /// A contradiction found by a newer version, under this code.
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(Contradiction, Unknown);
explained_enum!(Contradiction);

/// A message's `webhook-id`, the provider's number for it: 1 to 255 visible ASCII characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WebhookId(String);

impl WebhookId {
    /// The maximum length, in characters.
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

    /// A stored id, accepted before.
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }
}

/// An excerpt of a message: at most `MAX` bytes of UTF-8, with `…` marking truncation and U+FFFD in place of
/// each control character.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt<const MAX: usize>(String);

impl<const MAX: usize> Excerpt<MAX> {
    /// The excerpt of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        const CUT: char = '…';
        let clean = text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c });
        let (mut kept, mut cut_at) = (String::new(), 0);
        for character in clean {
            if kept.len().saturating_add(character.len_utf8()) > MAX {
                kept.truncate(cut_at);
                kept.push(CUT);
                return Self(kept);
            }
            kept.push(character);
            if kept.len().saturating_add(CUT.len_utf8()) <= MAX {
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

    /// A stored excerpt.
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }
}

impl<const MAX: usize> fmt::Display for Excerpt<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The money and the transaction named in a message, as presented.
///
/// Together with its `webhook-id`, type and reference, the texts of one message have at most 1 KiB.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PresentedPayment {
    /// The amount: a number, or any other JSON value.
    pub amount: Option<Excerpt<64>>,
    pub currency: Option<Excerpt<64>>,
    /// The transaction on the network.
    pub txid: Option<Excerpt<512>>,
}

/// The stored content of a message.
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
    /// The reference that it names, or its id if it names no reference.
    pub reference: Excerpt<64>,
    /// The id that it names beside the reference, or alone; any number.
    pub stated_id: Option<i64>,
    /// The id of the top-up or withdrawal (depending on the source) with its reference.
    pub row: Option<i64>,
    /// The money and the transaction that it names.
    pub presented: PresentedPayment,
    /// The time of receipt.
    pub received_at: Timestamp,
}

/// The resolution of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resolution {
    /// The time; never before the receipt of the message.
    pub at: Timestamp,
    /// The operator.
    pub by: UserId,
    /// The operator's explanation.
    pub reason: Line,
}

/// A stored message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProviderMessage {
    /// The message's id; later messages have higher ids.
    pub id: ProviderMessageId,
    /// The content.
    pub record: MessageRecord,
    /// The resolution; `None` while it is unresolved.
    pub resolution: Option<Resolution>,
}

impl ProviderMessage {
    /// The maximum number of unresolved messages. Beyond it, further messages are only logged and counted, so
    /// that a malfunctioning provider cannot fill the database.
    pub const MAX_UNRESOLVED: u32 = 10_000;
}

impl EntityFacts for ProviderMessage {
    fn owner(&self) -> Option<UserId> {
        None
    }

    fn shows_balance(&self) -> bool {
        false
    }

    fn stands_as(&self, loaded: &Self) -> bool {
        self.resolution == loaded.resolution
    }

    fn transition(&self, after: &Self) -> String {
        let status = |message: &Self| if message.resolution.is_some() { "resolved" } else { "unresolved" };
        described("provider message", self.id.get(), status(self), status(after))
    }

    fn is_recorded_as(&self, _then: &Self, _whole: bool, _opens: bool) -> bool {
        false
    }
}

/// The message is already resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the message is resolved already")]
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

/// The filter of a list of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MessageFilter {
    /// Only resolved, or only unresolved messages.
    pub resolved: Option<bool>,
}

impl MessageFilter {
    /// Whether the filter matches this message.
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
    fn a_message_can_be_resolved_only_once() {
        let (first, second) = (UserId::new(1).unwrap(), UserId::new(2).unwrap());
        let reason = || Line::new("refunded by hand").unwrap();
        let mut message = message();
        let at = Timestamp::from_unix_micros(11);
        let resolution = resolve(&message, first, reason(), at).unwrap();
        assert_eq!(resolution, Resolution { at, by: first, reason: reason() });
        // A clock that was set back does not date a resolution before the message.
        let early = resolve(&message, first, reason(), Timestamp::EPOCH).unwrap();
        assert_eq!(early.at, message.record.received_at);
        message.resolution = Some(resolution);
        assert_eq!(resolve(&message, second, reason(), at), Err(AlreadyResolved));
        assert_eq!(resolve(&message, first, reason(), at), Err(AlreadyResolved));
    }

    #[test]
    fn contradiction_codes_round_trip_including_unknown_codes() {
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
    fn long_excerpts_are_truncated() {
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
    fn webhook_ids_must_be_at_most_255_visible_ascii_characters() {
        for good in ["1", "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", &"x".repeat(255)] {
            assert_eq!(WebhookId::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "a b", "é", "a\tb", &"x".repeat(256)] {
            assert_eq!(WebhookId::new(bad), None, "{bad}");
        }
    }
}
