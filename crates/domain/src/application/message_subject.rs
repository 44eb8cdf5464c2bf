//! The row that a provider's message is about.

use crate::application::CommandError;
use crate::provider_reference::{MessageSubject, ProviderReference, SubjectMatch};

/// Why a message is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProviderMessageRefusal {
    /// The message has an id alone, and the row with that id has a UUID as its reference.
    #[error("the message has no reference")]
    ReferenceRequired,
    /// A confirmation does not say what was paid.
    #[error("the message does not say what was paid")]
    PaymentRequired {
        /// Whether the amount is missing.
        amount: bool,
        /// Whether the currency is missing.
        currency: bool,
    },
}

/// What a message is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Identified<Id> {
    /// What has this id.
    As(Id),
    /// Nothing: its reference or id is of no row.
    Unknown,
    /// Its reference is of the row with this id, and its own id is another one: it settles neither.
    Differs(Id),
}

/// The row that a message is about, of which its key leads to the one with this id and reference.
pub(super) fn identified<Id: Copy>(
    subject: MessageSubject,
    found: Option<(Id, i64, ProviderReference)>,
) -> Result<Identified<Id>, CommandError<ProviderMessageRefusal>> {
    let Some((id, number, reference)) = found else { return Ok(Identified::Unknown) };
    match subject.matches(number, reference) {
        SubjectMatch::Same => Ok(Identified::As(id)),
        SubjectMatch::Contradiction => Ok(Identified::Differs(id)),
        SubjectMatch::Unknown => Ok(Identified::Unknown),
        SubjectMatch::ReferenceRequired => {
            Err(CommandError::Refused(ProviderMessageRefusal::ReferenceRequired))
        }
    }
}
