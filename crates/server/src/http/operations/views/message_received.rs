//! View of the outcome of a provider's message.

use cuepoint_domain::ports::Recorded;

use crate::http::wire::names;
use crate::http::wire::view::view;

view! {
    /// What happened to a message that contradicts the ledger.
    pub struct MessageReceivedView as MessageReceived of (recorded: Recorded) {
        /// Outcome.
        #[schema(value_type = names::MessageOutcome, example = "stored_for_review")]
        outcome: &'static str = match recorded {
            Recorded::Added | Recorded::Known => names::STORED_FOR_REVIEW,
            Recorded::NotKept => names::LOGGED_FOR_REVIEW,
        },
    }
}
