//! The references by which payment and payout providers identify top-ups and withdrawals.
//!
//! A row id can be assigned again after a restore; the UUID of the operation that opened the row cannot. Rows
//! opened by an earlier version have no such UUID: their decimal id remains their reference.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use uuid::Uuid;

use crate::ids::OperationId;

/// The number of digits of the largest id, `i64::MAX`.
const MAX_DIGITS: usize = 19;

/// The reference of a top-up or a withdrawal at its provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProviderReference {
    /// The operation that opened the row; written as a UUID, hyphenated and in lower case.
    Operation(OperationId),
    /// The positive id of a row without an opening operation; written in decimal.
    Row(i64),
}

impl ProviderReference {
    /// The reference of the row with this id, opened by this operation if known.
    #[must_use]
    pub fn of(id: i64, opening: Option<OperationId>) -> Self {
        opening.map_or(Self::Row(id), Self::Operation)
    }
}

impl fmt::Display for ProviderReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation(OperationId(number)) => Uuid::from_u128(*number).hyphenated().fmt(f),
            Self::Row(id) => id.fmt(f),
        }
    }
}

/// A text that is neither a hyphenated UUID nor a positive decimal id.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("it is neither a hyphenated UUID nor a positive decimal id")]
pub struct MalformedReference;

impl FromStr for ProviderReference {
    type Err = MalformedReference;

    /// Parses the [`fmt::Display`] form; a UUID in any letter case.
    fn from_str(text: &str) -> Result<Self, MalformedReference> {
        if text.len() == uuid::fmt::Hyphenated::LENGTH {
            let uuid = Uuid::try_parse(text).map_err(|_| MalformedReference)?;
            return Ok(Self::Operation(OperationId(uuid.as_u128())));
        }
        let digits = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        if text.is_empty() || !digits || text.len() > MAX_DIGITS {
            return Err(MalformedReference);
        }
        text.parse().map(Self::Row).map_err(|_| MalformedReference)
    }
}

/// The row named in a provider's message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessageSubject {
    /// The row with this reference, and with this id if the message has one.
    Reference {
        reference: ProviderReference,
        /// The id, which may be any number.
        id: Option<i64>,
    },
    /// The row with this id, which may be any number.
    Id(i64),
}

impl fmt::Display for MessageSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reference { reference, id: None } => write!(f, "reference {reference}"),
            Self::Reference { reference, id: Some(id) } => write!(f, "reference {reference} with id {id}"),
            Self::Id(id) => write!(f, "id {id}"),
        }
    }
}

/// Whether a message refers to the row found by its subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubjectMatch {
    /// It does.
    Same,
    /// The row has another reference: the message is about a row that does not exist.
    Unknown,
    /// The message has only an id, and the row has a reference of its own: the message may refer to an
    /// earlier row of that id.
    ReferenceRequired,
    /// The message has the row's reference and another row's id.
    Contradiction,
}

impl MessageSubject {
    /// The reference by which to look up the row.
    #[must_use]
    pub const fn key(&self) -> ProviderReference {
        match self {
            Self::Reference { reference, .. } => *reference,
            Self::Id(id) => ProviderReference::Row(*id),
        }
    }

    /// The id named in the message.
    #[must_use]
    pub const fn stated_id(&self) -> Option<i64> {
        match self {
            Self::Reference { id, .. } => *id,
            Self::Id(id) => Some(*id),
        }
    }

    /// Whether the message refers to the row with this id and this reference.
    #[must_use]
    pub fn matches(&self, row: i64, its_reference: ProviderReference) -> SubjectMatch {
        let same_reference = self.key() == its_reference;
        match self {
            Self::Id(_) if !same_reference => SubjectMatch::ReferenceRequired,
            Self::Reference { .. } if !same_reference => SubjectMatch::Unknown,
            Self::Reference { id: Some(id), .. } if *id != row => SubjectMatch::Contradiction,
            Self::Reference { .. } | Self::Id(_) => SubjectMatch::Same,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "0193a5f0-1c2d-7abc-8def-00112233aabb";

    fn operation() -> ProviderReference {
        ProviderReference::Operation(OperationId(0x0193_a5f0_1c2d_7abc_8def_0011_2233_aabb))
    }

    #[test]
    fn references_round_trip() {
        for (reference, text) in [
            (operation(), UUID),
            (ProviderReference::Operation(OperationId(0)), "00000000-0000-0000-0000-000000000000"),
            (ProviderReference::Row(1), "1"),
            (ProviderReference::Row(i64::MAX), "9223372036854775807"),
        ] {
            assert_eq!(reference.to_string(), text);
            assert_eq!(text.parse(), Ok(reference));
        }
        assert_eq!(UUID.to_uppercase().parse(), Ok(operation()));
    }

    #[test]
    fn malformed_references_are_refused() {
        let braced = format!("{{{UUID}}}");
        let simple = UUID.replace('-', "");
        let long = format!("{UUID}0");
        for text in [
            "",
            " ",
            "0",
            "01",
            "+1",
            "-1",
            "1.0",
            "1e3",
            "x",
            "９",
            "9223372036854775808",
            "123456789012345678901234567890123456",
            "0193a5f0-1c2d-7abc-8def-00112233aabg",
            "0193a5f01-c2d-7abc-8def-00112233aabb",
            &braced,
            &simple,
            &long,
        ] {
            assert_eq!(text.parse::<ProviderReference>(), Err(MalformedReference), "{text}");
        }
    }

    #[test]
    fn messages_apply_only_to_the_row_with_their_reference() {
        use SubjectMatch::{Contradiction, ReferenceRequired, Same, Unknown};
        let by = |reference, id| MessageSubject::Reference { reference, id };
        let (old, other) = (ProviderReference::Row(5), ProviderReference::Operation(OperationId(1)));
        // The message, the row found by its key, and whether the message refers to that row.
        for (subject, reference, expected) in [
            (by(operation(), None), operation(), Same),
            (by(operation(), Some(5)), operation(), Same),
            (by(operation(), Some(6)), operation(), Contradiction),
            (by(operation(), Some(0)), operation(), Contradiction),
            (by(operation(), Some(5)), other, Unknown),
            (by(operation(), None), old, Unknown),
            (by(old, None), old, Same),
            (by(old, Some(5)), old, Same),
            (by(old, Some(-5)), old, Contradiction),
            (by(old, None), operation(), Unknown),
            (by(old, Some(5)), operation(), Unknown),
            (MessageSubject::Id(5), old, Same),
            (MessageSubject::Id(5), operation(), ReferenceRequired),
        ] {
            assert_eq!(subject.matches(5, reference), expected, "{subject:?} and {reference:?}");
        }
    }
}
