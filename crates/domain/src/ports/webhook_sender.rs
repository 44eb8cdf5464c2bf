//! Calls to webhook endpoints.

use async_trait::async_trait;
use time::Duration;

use crate::event::Event;
use crate::ids::{OperationId, WebhookEndpointId};
use crate::ports::{Token, Unavailable};
use crate::provider_message::Excerpt;
use crate::timestamp::Timestamp;
use crate::webhook::{
    AttemptOutcome, EndpointSecrets, EndpointUrl, SealedSecret, UndecryptableSecret, WebhookEndpoint,
};

/// The content of a call.
#[derive(Clone, PartialEq, Debug)]
pub enum WebhookMessage {
    Event(Box<Event>),
    Test {
        id: OperationId,
        /// The time of the test.
        at: Timestamp,
    },
}

/// A call that was made, or not made because the URL may not be called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentWebhook {
    pub outcome: AttemptOutcome,
    pub took: Duration,
    /// The beginning of the answer, if there is one.
    pub answer: Option<Excerpt<1_024>>,
}

/// Why a URL may not be called, as a message for its owner.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct UrlProblem(pub String);

/// Calls webhook endpoints, and keeps their secrets.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Returns the canonical form of a URL that may be called; the addresses of its host are checked by each call.
    ///
    /// # Errors
    /// [`UrlProblem`].
    fn accept_url(&self, url: &EndpointUrl) -> Result<EndpointUrl, UrlProblem>;

    /// A new random secret, with its encryption for the endpoint with this id.
    ///
    /// # Errors
    /// [`Unavailable`] when there is no key to encrypt with.
    fn new_secret(
        &self,
        endpoint: WebhookEndpointId,
        now: Timestamp,
    ) -> Result<(Token, SealedSecret), Unavailable>;

    /// The current secret of an endpoint.
    ///
    /// # Errors
    /// [`Unavailable`] when it cannot be decrypted.
    fn current_secret(&self, endpoint: &WebhookEndpoint) -> Result<Token, Unavailable>;

    /// The same secrets of an endpoint encrypted with the current key, without those that no longer sign; `None` if
    /// they already are, or if no key encrypts at this moment.
    ///
    /// # Errors
    /// [`UndecryptableSecret`].
    fn reseal(
        &self,
        endpoint: WebhookEndpointId,
        secrets: &EndpointSecrets,
        now: Timestamp,
    ) -> Result<Option<EndpointSecrets>, UndecryptableSecret>;

    /// Checks whether the current secret of an endpoint can be decrypted.
    ///
    /// # Errors
    /// [`UndecryptableSecret`].
    fn check_secret(
        &self,
        endpoint: WebhookEndpointId,
        current: &SealedSecret,
    ) -> Result<(), UndecryptableSecret>;

    /// Makes a call that begins at `now`, signed by all secrets that sign then. It takes 15 seconds at most.
    ///
    /// # Errors
    /// [`Unavailable`] when it cannot be signed; no call is made then.
    async fn send(
        &self,
        endpoint: &WebhookEndpoint,
        message: &WebhookMessage,
        now: Timestamp,
    ) -> Result<SentWebhook, Unavailable>;
}
