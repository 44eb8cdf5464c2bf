//! View of the outcome of a provider's message.

use cuepoint_domain::ports::Recorded;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::names;

/// What happened to a message that contradicts the ledger.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = MessageReceived)]
pub struct MessageReceivedView {
    /// Outcome.
    #[schema(value_type = names::MessageOutcome, example = "stored_for_review")]
    outcome: &'static str,
}

impl MessageReceivedView {
    /// The outcome of a message that was recorded so.
    #[must_use]
    pub const fn new(recorded: Recorded) -> Self {
        let outcome = match recorded {
            Recorded::Added | Recorded::Known => names::STORED_FOR_REVIEW,
            Recorded::NotKept => names::LOGGED_FOR_REVIEW,
        };
        Self { outcome }
    }
}
