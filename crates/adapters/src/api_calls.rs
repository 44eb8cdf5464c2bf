//! Calls to the HTTP API of a service, for its command line.

use std::time::Duration;

use anyhow::{Context, ensure};
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, LOCATION, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, Method, Request};
use http_body_util::Full;
use hyper_util::client::legacy::connect::dns::GaiResolver;
use url::Url;

pub use crate::http_client::CallError;
use crate::http_client::{HttpClient, HttpClients, exchange};
use crate::outgoing::{is_on_this_machine, origin};

/// The time limit of a call, from the first byte to the last.
const CALL_WITHIN: Duration = Duration::from_secs(30);
/// The maximum size of an answer, in bytes: far more than a page of a list.
const MAX_ANSWER: usize = 4 * 1024 * 1024;
/// The user agent, by which users recognise a session of the command line.
const AGENT: &str = concat!("cuepoint/", env!("CARGO_PKG_VERSION"));
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A request to the API.
pub struct ApiRequest<'a> {
    /// The path with its query, such as `/api/v1/operator/users/7`.
    pub path: &'a str,
    /// The access token, if the operation needs one.
    pub token: Option<&'a str>,
    pub content: Content<'a>,
}

/// The method of a request, with what it sends.
pub enum Content<'a> {
    Get,
    Post {
        /// JSON.
        body: String,
        /// The idempotency key, if the operation accepts one.
        key: Option<&'a str>,
    },
}

/// An answer with any status.
pub struct ApiAnswer {
    /// The HTTP status.
    pub status: u16,
    /// Whether the status is 2xx.
    pub is_success: bool,
    /// The address to which a redirect leads. It is not followed.
    pub location: Option<String>,
    /// The seconds until a retry may succeed.
    pub retry_after: Option<u64>,
    pub body: Bytes,
}

/// A client of one service. It follows no redirects and uses no proxy.
pub struct ApiCalls {
    client: HttpClient<GaiResolver>,
    origin: String,
}

impl ApiCalls {
    /// Creates a client for the origin of a service: a scheme, a host, and a port if it is not the usual one.
    ///
    /// # Errors
    /// When the text is no such origin, when passwords would travel to another machine without encryption, or when
    /// it is https and the machine has no root certificates.
    pub fn new(written: &str) -> anyhow::Result<Self> {
        // The text is not shown, because it may contain a password.
        let origin = origin(written.trim())
            .context("the URL of the service must be https://host or https://host:port, without a path")?;
        let is_encrypted = origin.starts_with("https://");
        ensure!(
            is_encrypted || Url::parse(&origin).is_ok_and(|url| is_on_this_machine(&url)),
            "{origin}: the password would travel without encryption. Use https, or run the command on the machine of the \
             service"
        );
        let client = HttpClients::new(is_encrypted)?.client(GaiResolver::new());
        Ok(Self { client, origin })
    }

    /// The origin of the service, without a trailing slash.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Sends a request and reads the answer.
    ///
    /// # Errors
    /// [`CallError`]
    pub async fn send(&self, request: ApiRequest<'_>) -> Result<ApiAnswer, CallError> {
        let request = self.built(request).map_err(|error| CallError::Request(error.into()))?;
        let (head, body) = exchange(&self.client, request, CALL_WITHIN, MAX_ANSWER).await?;
        Ok(ApiAnswer {
            status: head.status.as_u16(),
            is_success: head.status.is_success(),
            location: text(&head.headers, &LOCATION),
            retry_after: text(&head.headers, &RETRY_AFTER).and_then(|seconds| seconds.parse().ok()),
            body,
        })
    }

    fn built(&self, request: ApiRequest<'_>) -> http::Result<Request<Full<Bytes>>> {
        let ApiRequest { path, token, content } = request;
        let mut builder = Request::builder().uri(format!("{}{path}", self.origin));
        builder = builder.header(ACCEPT, "application/json").header(USER_AGENT, AGENT);
        if let Some(token) = token {
            builder = builder.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        match content {
            Content::Get => builder.body(Full::default()),
            Content::Post { body, key } => {
                if let Some(key) = key {
                    builder = builder.header(IDEMPOTENCY_KEY, key);
                }
                let builder = builder.method(Method::POST).header(CONTENT_TYPE, "application/json");
                builder.body(Full::from(body))
            }
        }
    }
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_limited_to_this_machine() {
        for (written, origin) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://[::1]:8080/", "http://[::1]:8080"),
            ("http://localhost", "http://localhost"),
        ] {
            assert_eq!(ApiCalls::new(written).map(|calls| calls.origin().to_owned()).unwrap(), origin);
        }
        for (written, reason) in [
            ("http://192.168.1.5:8080", "without encryption"),
            ("http://localhost.example.com", "without encryption"),
            ("https://ada:secret@example.com", "without a path"),
            ("https://example.com/api/v1", "without a path"),
            ("https://example.com?a=b", "without a path"),
            ("example.com", "without a path"),
            ("ftp://example.com", "without a path"),
        ] {
            let refused = ApiCalls::new(written).err().unwrap().to_string();
            assert!(refused.contains(reason) && !refused.contains("secret"), "{written}: {refused}");
        }
    }
}
