//! Calls to webhook endpoints, signed as Standard Webhooks specifies.

use std::str::FromStr as _;
use std::time::SystemTime;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cuepoint_domain::ids::WebhookEndpointId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{SentWebhook, Token, Unavailable, UrlProblem, WebhookMessage, WebhookSender};
use cuepoint_domain::provider_message::Excerpt;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::webhook::{
    AttemptError, AttemptOutcome, EndpointSecrets, EndpointUrl, SealedSecret, UndecryptableSecret,
    WebhookEndpoint,
};
use cuepoint_views::event_body::event_body;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use httpdate::HttpDate;
use secrecy::ExposeSecret;
use time::{Duration, OffsetDateTime};
use tokio::time::Instant;
use url::Url;
use uuid::Uuid;

use crate::outgoing::{OutgoingCallError, OutgoingCalls, OutgoingReply, UrlRefusal};
use crate::security::random::{RandomSecrets, random};
use crate::security::sealing::Sealing;
use crate::signed_messages::{PREFIX, SigningSecrets};

/// The number of random bytes of a secret.
const SECRET_BYTES: usize = 32;

/// Calls webhook endpoints.
pub struct EndpointCalls {
    calls: OutgoingCalls,
    sealing: Sealing,
    random: RandomSecrets,
    currency: Currency,
}

impl EndpointCalls {
    /// Calls by this client, signed by secrets that `sealing` keeps.
    #[must_use]
    pub const fn new(
        calls: OutgoingCalls,
        sealing: Sealing,
        random: RandomSecrets,
        currency: Currency,
    ) -> Self {
        Self { calls, sealing, random, currency }
    }

    /// The headers of a call.
    fn headers(
        &self,
        endpoint: &WebhookEndpoint,
        id: &str,
        body: &[u8],
        now: Timestamp,
    ) -> Result<HeaderMap, Unavailable> {
        let timestamp = now.to_utc().unix_timestamp().to_string();
        let mut signatures = Vec::new();
        let secrets = &endpoint.secrets;
        for sealed in secrets.signing(now) {
            let secret = match self.sealing.open(endpoint.id, sealed) {
                Ok(secret) => secret,
                // Receivers that know the current secret need no other.
                Err(_) if *sealed != secrets.current => continue,
                Err(error) => return Err(Unavailable::new(error)),
            };
            let secret = SigningSecrets::parse([secret.expose_secret()]).map_err(Unavailable::new)?;
            signatures.extend(secret.sign(id, &timestamp, body));
        }
        let text = |text: &str| HeaderValue::from_str(text).map_err(Unavailable::new);
        Ok(HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("*/*")),
            (USER_AGENT, HeaderValue::from_static("Cuepoint")),
            (HeaderName::from_static("webhook-id"), text(id)?),
            (HeaderName::from_static("webhook-timestamp"), text(&timestamp)?),
            (HeaderName::from_static("webhook-signature"), text(&signatures.join(" "))?),
        ]))
    }
}

#[async_trait]
impl WebhookSender for EndpointCalls {
    fn accept_url(&self, url: &EndpointUrl) -> Result<EndpointUrl, UrlProblem> {
        let accepted = self.calls.accept(url.as_str());
        // The canonical form can be too long, because characters are encoded.
        let accepted =
            accepted.and_then(|accepted| EndpointUrl::new(accepted.as_str()).map_err(|_| UrlRefusal::Form));
        accepted.map_err(|refusal| UrlProblem(refusal.to_string()))
    }

    fn new_secret(
        &self,
        endpoint: WebhookEndpointId,
        now: Timestamp,
    ) -> Result<(Token, SealedSecret), Unavailable> {
        let secret = format!("{PREFIX}{}", STANDARD.encode(random::<SECRET_BYTES>(self.random)));
        let sealed = self.sealing.seal(endpoint, &secret, now).map_err(Unavailable::new)?;
        Ok((Token(secret), sealed))
    }

    fn current_secret(&self, endpoint: &WebhookEndpoint) -> Result<Token, Unavailable> {
        let secret = self.sealing.open(endpoint.id, &endpoint.secrets.current).map_err(Unavailable::new)?;
        Ok(Token(secret.expose_secret().to_owned()))
    }

    fn reseal(
        &self,
        endpoint: WebhookEndpointId,
        secrets: &EndpointSecrets,
        now: Timestamp,
    ) -> Result<Option<EndpointSecrets>, UndecryptableSecret> {
        if secrets.signing(now).all(|secret| self.sealing.is_current(secret, now)) {
            // A key of the same id may have other bytes.
            return self.check_secret(endpoint, &secrets.current).map(|()| None);
        }
        let reseal = |secret: &SealedSecret| -> Result<Option<SealedSecret>, UndecryptableSecret> {
            let opened = self.sealing.open(endpoint, secret)?;
            Ok(self.sealing.seal(endpoint, opened.expose_secret(), now).ok())
        };
        let Some(current) = reseal(&secrets.current)? else { return Ok(None) };
        let previous = secrets.previous.iter().filter(|(_, until)| *until > now);
        // A previous secret that cannot be decrypted was replaced because of that.
        let previous = previous.filter_map(|(secret, until)| Some((reseal(secret).ok()??, *until)));
        Ok(Some(EndpointSecrets { current, previous: previous.collect() }))
    }

    fn check_secret(
        &self,
        endpoint: WebhookEndpointId,
        current: &SealedSecret,
    ) -> Result<(), UndecryptableSecret> {
        self.sealing.open(endpoint, current).map(drop)
    }

    async fn send(
        &self,
        endpoint: &WebhookEndpoint,
        message: &WebhookMessage,
        now: Timestamp,
    ) -> Result<SentWebhook, Unavailable> {
        let id = match message {
            WebhookMessage::Event(event) => event.id,
            WebhookMessage::Test { id, .. } => *id,
        };
        let body = event_body(endpoint, message, &self.currency);
        let body = body.ok_or_else(|| Unavailable::new("the message cannot be rendered"))?;
        let headers = self.headers(endpoint, &Uuid::from_u128(id.0).to_string(), &body, now)?;
        let began = Instant::now();
        let replied = match Url::parse(endpoint.url.as_str()) {
            Ok(url) => self.calls.post(endpoint.owner, &url, headers, body).await,
            Err(_) => Err(OutgoingCallError::Url(UrlRefusal::Form)),
        };
        let took = Duration::try_from(began.elapsed()).unwrap_or(Duration::MAX);
        let (outcome, answer) = match replied {
            Ok(reply) => (answered(&reply, now), Some(Excerpt::of(&String::from_utf8_lossy(&reply.body)))),
            Err(error) => {
                tracing::debug!(endpoint = endpoint.id.get(), %error, "a webhook endpoint did not answer");
                (AttemptOutcome::Unanswered(attempt_error(&error)), None)
            }
        };
        Ok(SentWebhook { outcome, took, answer })
    }
}

const fn attempt_error(error: &OutgoingCallError) -> AttemptError {
    match error {
        OutgoingCallError::Url(_) | OutgoingCallError::Address(_) => AttemptError::NotPermitted,
        OutgoingCallError::TimedOut => AttemptError::TimedOut,
        OutgoingCallError::Connection(_) => AttemptError::ConnectionFailed,
        OutgoingCallError::Reply(_) => AttemptError::InvalidAnswer,
    }
}

fn answered(reply: &OutgoingReply, now: Timestamp) -> AttemptOutcome {
    let retry_after = reply.retry_after.as_deref().and_then(|text| retry_delay(text.trim(), now));
    AttemptOutcome::Answered { status: reply.status.as_u16(), retry_after }
}

/// The time named by Retry-After: a number of seconds, or a date.
fn retry_delay(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::seconds(i64::from(seconds)));
    }
    let date = SystemTime::from(HttpDate::from_str(text).ok()?);
    Some(Timestamp::new(OffsetDateTime::from(date)).since(now).max(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Timestamp::from_unix_micros(784_111_777_000_000);
        for (text, seconds) in [
            ("120", Some(120)),
            ("0", Some(0)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sun, 06 Nov 1994 08:40:00 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(retry_delay(text, now), seconds.map(Duration::seconds), "{text}");
        }
    }
}
