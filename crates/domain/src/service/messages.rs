//! Which withdrawal or top-up a provider's message is about, and why a message is refused.

use crate::ports::Unavailable;
use crate::provider_reference::SubjectMatch;
use crate::service::desk::Obstacle;

/// Why a provider's message is refused.
#[derive(Debug)]
pub enum TellError {
    /// No withdrawal or top-up has the reference or the id.
    NotFound,
    /// The message has an id alone, and the row with that id has a UUID as its reference.
    ReferenceRequired,
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

impl From<Obstacle> for TellError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<Unavailable> for TellError {
    fn from(unavailable: Unavailable) -> Self {
        Self::Obstacle(unavailable.into())
    }
}

/// What a provider's message is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Identified<Id> {
    /// What has this id.
    As(Id),
    /// Its reference and its id belong to different rows: it settles neither, and an operator has to look at it.
    Contradiction,
}

/// What a message is about that leads to the row with this id.
pub(super) fn identified<Id>(subject: SubjectMatch, id: Id) -> Result<Identified<Id>, TellError> {
    match subject {
        SubjectMatch::Same => Ok(Identified::As(id)),
        SubjectMatch::Contradiction => Ok(Identified::Contradiction),
        SubjectMatch::Unknown => Err(TellError::NotFound),
        SubjectMatch::ReferenceRequired => Err(TellError::ReferenceRequired),
    }
}
