//! Outgoing calls, with bounded time and size of the answer.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cuepoint_domain::ids::UserId;
use futures_util::{FutureExt, Stream, StreamExt};
use http::header::RETRY_AFTER;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy;
use thiserror::Error;
use tokio::time::timeout;
use url::Url;

use super::address_filter::AddressFilter;
use super::name_servers::NameServers;
use super::names::{Lookup, Names};
use super::resolver::{FilteredResolver, RefusedAddresses};
use super::url_rules::{UrlRefusal, UrlRules};
use crate::http_client::{HttpClient, HttpClients};
use crate::networks::Networks;

/// The time limit of a call, from the lookup of the host to the last byte of the answer.
pub const CALL_WITHIN: Duration = Duration::from_secs(15);
/// The part of the body of an answer that is read, in bytes.
const MAX_BODY: usize = 64 * 1024;

/// A failed call. The texts are for the log, because they may contain internal addresses.
#[derive(Debug, Error)]
pub enum OutgoingCallError {
    /// The URL may not be called.
    #[error("the URL {0}")]
    Url(#[from] UrlRefusal),
    /// The host name has no address that may be called.
    #[error(transparent)]
    Address(RefusedAddresses),
    /// The call took too long; the receiver may or may not have received it.
    #[error("no complete answer within {} seconds", CALL_WITHIN.as_secs())]
    TimedOut,
    /// There is no connection: the host has no address, cannot be reached, or fails the TLS handshake.
    #[error("the connection failed: {0:#}")]
    Connection(anyhow::Error),
    /// The answer is incomplete or not HTTP; the receiver may or may not have received the call.
    #[error("the answer cannot be read: {0:#}")]
    Reply(anyhow::Error),
}

/// An answer with any status.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutgoingReply {
    /// The status. A redirect is not followed.
    pub status: StatusCode,
    /// The header Retry-After, if it is text.
    pub retry_after: Option<String>,
    /// The first 64 KiB of the body.
    pub body: Vec<u8>,
}

/// Calls to URLs that users enter.
pub struct OutgoingCalls {
    clients: HttpClients,
    names: Arc<Names>,
    rules: UrlRules,
}

impl OutgoingCalls {
    /// Creates calls that reach public addresses and the allowed networks: through https, or also through plain
    /// http. Names are looked up by these name servers.
    ///
    /// # Errors
    /// When plain http is not permitted and the machine has no root certificates.
    pub fn new(allowed: Networks, plain_http: bool, servers: NameServers) -> anyhow::Result<Self> {
        servers.warn_if_unknown();
        let servers = Arc::new(servers);
        let lookup = move |host: String| {
            let servers = Arc::clone(&servers);
            async move { servers.addresses(&host).await }.boxed()
        };
        Self::with_lookup(allowed, plain_http, Arc::new(lookup))
    }

    fn with_lookup(allowed: Networks, plain_http: bool, lookup: Lookup) -> anyhow::Result<Self> {
        let accepted = AddressFilter::new(allowed)?;
        let (clients, names) = (HttpClients::new(!plain_http)?, Arc::new(Names::new(lookup)));
        Ok(Self { clients, names, rules: UrlRules { accepted, plain_http } })
    }

    /// Accepts a URL that a user enters, and returns it in its canonical form. Names are not resolved: their
    /// addresses are checked by each call.
    ///
    /// # Errors
    /// [`UrlRefusal`]
    pub fn accept(&self, text: &str) -> Result<Url, UrlRefusal> {
        self.rules.accept(text)
    }

    /// Sends a POST request for a user and reads the answer.
    ///
    /// # Errors
    /// [`OutgoingCallError`]
    pub async fn post(
        &self,
        user: UserId,
        url: &Url,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<OutgoingReply, OutgoingCallError> {
        let mut request = Request::new(Full::from(body));
        *request.uri_mut() = self.rules.check(url)?;
        *request.method_mut() = Method::POST;
        *request.headers_mut() = headers;
        let (names, accepted) = (Arc::clone(&self.names), self.rules.accepted.clone());
        // A client of its own costs little, because connections are not reused.
        let client = self.clients.client(FilteredResolver { names, user, accepted });
        timeout(CALL_WITHIN, exchange(client, request)).await.map_err(|_| OutgoingCallError::TimedOut)?
    }
}

async fn exchange(
    client: HttpClient<FilteredResolver>,
    request: Request<Full<Bytes>>,
) -> Result<OutgoingReply, OutgoingCallError> {
    let (head, body) = client.request(request).await.map_err(without_answer)?.into_parts();
    let body = first_bytes(body.into_data_stream()).await;
    let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    Ok(OutgoingReply {
        status: head.status,
        retry_after: retry_after.map(str::to_owned),
        body: body.map_err(|error| OutgoingCallError::Reply(error.into()))?,
    })
}

/// Reads until the limit. The rest is not read, since dropping the body closes the connection.
async fn first_bytes<E>(mut chunks: impl Stream<Item = Result<Bytes, E>> + Unpin) -> Result<Vec<u8>, E> {
    let mut read = Vec::new();
    while read.len() < MAX_BODY
        && let Some(chunk) = chunks.next().await
    {
        read.extend(chunk?.iter().take(MAX_BODY.saturating_sub(read.len())));
    }
    Ok(read)
}

fn without_answer(error: legacy::Error) -> OutgoingCallError {
    let connected = !error.is_connect();
    let error = anyhow::Error::from(error);
    match error.chain().find_map(|cause| cause.downcast_ref::<RefusedAddresses>()) {
        Some(refused) => OutgoingCallError::Address(refused.clone()),
        None if connected => OutgoingCallError::Reply(error),
        None => OutgoingCallError::Connection(error),
    }
}

#[cfg(test)]
mod tests;
