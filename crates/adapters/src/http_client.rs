//! The HTTP/1.1 client of calls to other services, with and without TLS.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use bytes::Bytes;
use http::response::Parts;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::TokioExecutor;
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;
use tokio::time::timeout;

/// The size in bytes up to which a connection is buffered, and above which an answer's head is refused. The last
/// read may exceed it.
const MAX_BUFFER: usize = 64 * 1024;

/// A client that finds the addresses of host names with the resolver `R`.
pub(crate) type HttpClient<R> = Client<HttpsConnector<HttpConnector<R>>, Full<Bytes>>;

/// A failed call.
#[derive(Debug, Error)]
pub enum CallError {
    /// The call took longer than this.
    #[error("no answer within {} seconds", .0.as_secs())]
    TimedOut(Duration),
    /// The receiver cannot be reached, or the connection broke.
    #[error("the call failed: {0:#}")]
    Connection(anyhow::Error),
    /// The answer is incomplete or too long.
    #[error("the answer cannot be read: {0}")]
    Reply(Box<dyn std::error::Error + Send + Sync>),
    /// The request cannot be built.
    #[error("the call cannot be made: {0}")]
    Request(Box<dyn std::error::Error + Send + Sync>),
}

impl CallError {
    /// Whether the receiver may have received the request.
    #[must_use]
    pub fn may_have_arrived(&self) -> bool {
        match self {
            Self::TimedOut(_) | Self::Reply(_) => true,
            Self::Connection(error) => {
                !error.downcast_ref::<legacy::Error>().is_some_and(legacy::Error::is_connect)
            }
            Self::Request(_) => false,
        }
    }
}

/// Sends a request and reads the whole answer, which has at most `largest` bytes in its body.
///
/// # Errors
/// [`CallError`]
pub(crate) async fn exchange<R>(
    client: &HttpClient<R>,
    request: Request<Full<Bytes>>,
    within: Duration,
    largest: usize,
) -> Result<(Parts, Bytes), CallError>
where
    HttpsConnector<HttpConnector<R>>: Connect + Clone + Send + Sync + 'static,
{
    let call = async {
        let answer = client.request(request).await;
        let (head, body) =
            answer.map(Response::into_parts).map_err(|error| CallError::Connection(error.into()))?;
        let body = Limited::new(body, largest).collect().await.map_err(CallError::Reply)?;
        Ok((head, body.to_bytes()))
    };
    timeout(within, call).await.map_err(|_| CallError::TimedOut(within))?
}

/// Creates clients for http and https. They follow no redirects. They use no proxy, because hyper-util reads the
/// variables of proxies only in a matcher that these clients do not have.
pub(crate) struct HttpClients {
    tls: ClientConfig,
}

impl HttpClients {
    /// Reads the root certificates of the machine.
    ///
    /// # Errors
    /// When `https` is needed and the machine has no root certificates.
    pub(crate) fn new(https: bool) -> anyhow::Result<Self> {
        Ok(Self { tls: tls(https)? })
    }

    /// Creates a client that finds the addresses of host names with this resolver.
    pub(crate) fn client<R>(&self, resolver: R) -> HttpClient<R>
    where
        HttpsConnector<HttpConnector<R>>: Connect + Clone,
    {
        let mut tcp = HttpConnector::new_with_resolver(resolver);
        tcp.enforce_http(false);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(self.tls.clone())
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        // No connection is reused: an idle one may be closed by then, and its address would not be resolved again.
        let mut builder = Client::builder(TokioExecutor::new());
        builder.pool_max_idle_per_host(0).http1_max_buf_size(MAX_BUFFER).build(connector)
    }
}

/// Returns the root certificates of the machine.
pub(crate) fn root_certificates() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

/// Returns the cryptography of TLS.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Returns a TLS configuration that trusts the root certificates of the machine.
///
/// # Errors
/// When they are needed, and there are none.
pub(crate) fn tls(needed: bool) -> anyhow::Result<ClientConfig> {
    let roots = root_certificates();
    ensure!(!needed || !roots.is_empty(), "this machine has no root certificates, which https needs");
    let versions = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    Ok(versions.context("TLS cannot be set up")?.with_root_certificates(roots).with_no_client_auth())
}
