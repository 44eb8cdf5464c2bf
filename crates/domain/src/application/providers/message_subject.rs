//! The row that a provider's message is about.

use crate::application::error::CommandError;
use crate::provider_reference::{MessageSubject, ProviderReference, SubjectMatch};

/// Why a message is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProviderMessageRefusal {
    /// The message has only an id, and the row with that id has a UUID as its reference.
    #[error("the message has no reference")]
    ReferenceRequired,
    /// A confirmation lacks the payment.
    #[error("the message does not say what was paid")]
    PaymentRequired {
        /// Whether the amount is missing.
        amount: bool,
        /// Whether the currency is missing.
        currency: bool,
    },
}

/// The subject of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Identified<Id> {
    /// The row with this id.
    As(Id),
    /// No row has its reference or id.
    Unknown,
    /// Its reference belongs to the row with this id, but its own id differs: it settles neither.
    Differs(Id),
}

/// Identifies the row that a message is about, given the id and reference of the row that its key leads to.
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
