//! The HTTP client for providers: signed JSON POST requests, with bounded time and size of the answer.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use cuepoint_domain::ports::Clock;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Request, StatusCode, Uri};
use http_body_util::Full;
use hyper_util::client::legacy::connect::dns::GaiResolver;
use serde::de::DeserializeOwned;
use url::Url;

use super::SigningSecrets;
use crate::http_client::{CallError, HttpClient, HttpClients, exchange};
use cuepoint_views::wire::json::Object;

/// The time limit of a call, from the first byte to the last.
pub const CALL_WITHIN: Duration = Duration::from_secs(10);
/// The maximum size of an answer, in bytes.
const MAX_REPLY: usize = 64 * 1024;

/// An answer with any status.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub body: Bytes,
}

impl Reply {
    /// Deserializes the body as a JSON object; `None` for anything else, including duplicate keys.
    #[must_use]
    pub fn object<T: DeserializeOwned>(&self) -> Option<T> {
        Object::parse(&self.body).ok()?;
        serde_json::from_slice(&self.body).ok()
    }
}

/// A client for one URL of a provider. It follows no redirects and uses no proxy.
pub struct WebhookClient {
    client: HttpClient<GaiResolver>,
    address: Uri,
    secrets: SigningSecrets,
    clock: Arc<dyn Clock>,
}

impl WebhookClient {
    /// Creates a client for a URL, which signs with the first of these secrets.
    ///
    /// # Errors
    /// When the URL is invalid, or it is https and the machine has no root certificates.
    pub fn new(address: &Url, secrets: SigningSecrets, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let client = HttpClients::new(address.scheme() == "https")?.client(GaiResolver::new());
        let address = address.as_str().parse().context("is not the URL of a service")?;
        Ok(Self { client, address, secrets, clock })
    }

    /// Sends a message under an id, which must be the same for every retry, and reads the answer.
    ///
    /// # Errors
    /// [`CallError`]; the provider may or may not have received the message.
    pub async fn post(&self, id: &str, body: Vec<u8>) -> Result<Reply, CallError> {
        let request = self.request(id, body)?;
        let (head, body) = exchange(&self.client, request, CALL_WITHIN, MAX_REPLY).await?;
        Ok(Reply { status: head.status, body })
    }

    fn request(&self, id: &str, body: Vec<u8>) -> Result<Request<Full<Bytes>>, CallError> {
        let timestamp = self.clock.now().to_utc().unix_timestamp().to_string();
        let signature = self.secrets.sign(id, &timestamp, &body);
        let signature = signature.ok_or_else(|| CallError::Request("no secret is configured".into()))?;
        Request::post(&self.address)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .header("idempotency-key", id)
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signature)
            .body(Full::from(body))
            .map_err(|error| CallError::Request(error.into()))
    }
}
