//! Requests for changes of webhook endpoints, and why they are refused.

use std::collections::BTreeSet;

use thiserror::Error;

use crate::application::webhooks::running_tests::TestRefusal;
use crate::event::EventType;
use crate::operation::Position;
use crate::ports::UrlProblem;
use crate::text::Line;
use crate::webhook::{EndpointUrl, WebhookEndpoint};

/// The endpoint that a principal asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndpointRequest {
    pub url: EndpointUrl,
    /// The types of events; `None` for all.
    pub types: Option<BTreeSet<EventType>>,
    /// A note of the owner.
    pub description: Option<Line>,
}

impl EndpointRequest {
    /// The request as one text. Each part is prefixed with its length, so that equal texts are equal requests.
    pub(super) fn text(&self) -> String {
        let types = self.types.as_ref().map(|types| {
            let names: Vec<&str> = types.iter().copied().map(EventType::name).collect();
            names.join(",")
        });
        let description = self.description.as_ref().map(Line::as_str);
        [Some(self.url.as_str()), types.as_deref(), description]
            .iter()
            .map(|part| part.map_or_else(|| "-".to_owned(), |part| format!("{}:{part}", part.len())))
            .collect()
    }
}

/// The events to deliver again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplayRequest {
    /// The attempted events after a position, up to another position if one is given.
    Range {
        /// The position before the first event.
        after: Position,
        /// The position of the last event.
        until: Option<Position>,
    },
    /// The events with given-up deliveries.
    Failed,
}

/// Why a change of an endpoint is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum WebhookRefusal {
    /// The URL may not be called.
    #[error(transparent)]
    Url(UrlProblem),
    /// The change needs the principal's password.
    #[error("the password is required")]
    PasswordRequired,
    #[error("the password is wrong")]
    WrongPassword,
    /// The endpoint is paused or disabled.
    #[error("the endpoint is not active")]
    Inactive,
    /// The principal has the maximum number of endpoints.
    #[error("there are {} endpoints already", WebhookEndpoint::MAX_PER_OWNER)]
    TooMany,
    /// Its secret was lost: it needs a new one before it is paused or enabled.
    #[error("the secret was lost and has to be rotated first")]
    SecretLost,
    /// The key created an endpoint that has another owner now.
    #[error("the endpoint that was created with this key has another owner")]
    OtherOwner,
    /// The range of a replay is empty, or none of its events was attempted yet.
    #[error("no attempted event is in the range")]
    EmptyRange,
    /// Another range is being replayed.
    #[error("another range is being replayed")]
    ReplayRunning,
    /// A position of the range belongs to a commit that was lost.
    #[error("the given position belongs to a commit that was lost after position {continue_after}")]
    Lost {
        /// The position to continue after without missing a remaining event.
        continue_after: Position,
    },
    /// A test does not begin.
    #[error(transparent)]
    Test(TestRefusal),
}
