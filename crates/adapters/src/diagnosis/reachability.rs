//! Whether a service can be reached: its name, its port and its certificate. Nothing is sent but a TLS handshake.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use cuepoint_domain::timestamp::Timestamp;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, ClientConnection};
use thiserror::Error;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use url::Url;

use crate::http_client;

/// The time limit of each step: of the connection, and of each read and write of the handshake.
const STEP_WITHIN: Duration = Duration::from_secs(5);
/// The time limit of all steps.
const WITHIN: Duration = Duration::from_secs(15);
/// The days within which the end of a certificate is found.
const DAYS: u64 = 60;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A service that cannot be reached.
#[derive(Debug, Error)]
pub enum Unreachable {
    /// The URL has no host or no port.
    #[error("the URL has no host with a port")]
    Url,
    /// The name of the host has no address.
    #[error("the name {0} has no address")]
    Name(String),
    /// No address accepts a connection.
    #[error("no connection to {0}: {1}")]
    Connection(SocketAddr, io::Error),
    /// The service was too slow.
    #[error("no answer in time")]
    TimedOut,
    /// The certificate is not valid at this moment.
    #[error("its certificate has expired")]
    Expired,
    /// The certificate is for other names.
    #[error("its certificate is for another name")]
    OtherName,
    /// The certificate is not signed by an authority that this machine trusts.
    #[error("its certificate is not from an authority that this machine trusts")]
    Untrusted,
    /// The handshake failed otherwise.
    #[error("TLS is refused: {0:#}")]
    Tls(anyhow::Error),
}

/// A service that can be reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reached {
    /// The address that accepted the connection.
    pub address: SocketAddr,
    /// The whole days for which its certificate is still valid, at most 60; `None` without TLS.
    pub valid_for_days: Option<u64>,
}

/// Connects to the host of a URL, and shakes hands if its scheme is https.
///
/// # Errors
/// [`Unreachable`].
pub async fn reach(url: &Url, now: Timestamp) -> Result<Reached, Unreachable> {
    let url = url.clone();
    // Names are looked up and certificates are verified without yielding.
    let reaching = timeout(WITHIN, spawn_blocking(move || reach_blocking(&url, now)));
    let Ok(reached) = reaching.await else { return Err(Unreachable::TimedOut) };
    reached.unwrap_or_else(|error| Err(Unreachable::Tls(error.into())))
}

fn reach_blocking(url: &Url, now: Timestamp) -> Result<Reached, Unreachable> {
    let host = url.host_str().ok_or(Unreachable::Url)?.trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default().ok_or(Unreachable::Url)?;
    let (stream, address) = connect(host, port)?;
    let valid_for_days = match url.scheme() {
        "https" => Some(shake_hands(host, stream, now)?),
        _ => None,
    };
    Ok(Reached { address, valid_for_days })
}

/// Connects to the first address of a host that accepts it.
fn connect(host: &str, port: u16) -> Result<(TcpStream, SocketAddr), Unreachable> {
    let unknown = || Unreachable::Name(host.to_owned());
    let mut failure = unknown();
    for address in (host, port).to_socket_addrs().map_err(|_| unknown())? {
        match TcpStream::connect_timeout(&address, STEP_WITHIN) {
            Ok(stream) => return Ok((stream, address)),
            Err(error) => failure = Unreachable::Connection(address, error),
        }
    }
    Err(failure)
}

/// Shakes hands, and returns for how many days the certificate is valid.
fn shake_hands(host: &str, mut stream: TcpStream, now: Timestamp) -> Result<u64, Unreachable> {
    let failed = |error: anyhow::Error| Unreachable::Tls(error);
    let limit = Some(STEP_WITHIN);
    stream
        .set_read_timeout(limit)
        .and_then(|()| stream.set_write_timeout(limit))
        .map_err(|e| failed(e.into()))?;
    let name = ServerName::try_from(host.to_owned()).map_err(|error| failed(error.into()))?;
    let config: ClientConfig = http_client::tls(true).map_err(failed)?;
    let mut connection =
        ClientConnection::new(Arc::new(config), name.clone()).map_err(|error| failed(error.into()))?;
    while connection.is_handshaking() {
        connection.complete_io(&mut stream).map_err(refusal)?;
    }
    let chain: Vec<CertificateDer<'_>> = connection.peer_certificates().unwrap_or_default().to_vec();
    days_valid(&chain, &name, now).map_err(failed)
}

/// The reason why a handshake failed.
fn refusal(error: io::Error) -> Unreachable {
    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) {
        return Unreachable::TimedOut;
    }
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let Some(rustls::Error::InvalidCertificate(found)) = cause else { return Unreachable::Tls(error.into()) };
    match found {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => Unreachable::Expired,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Unreachable::OtherName
        }
        _ => Unreachable::Untrusted,
    }
}

/// For how many whole days, at most [`DAYS`], a chain of certificates verifies. The verifier checks the whole chain, so
/// it is asked for each day.
fn days_valid(chain: &[CertificateDer<'_>], name: &ServerName<'_>, now: Timestamp) -> anyhow::Result<u64> {
    let (leaf, others) = chain.split_first().context("the server sent no certificate")?;
    let roots = Arc::new(http_client::root_certificates());
    let verifier = WebPkiServerVerifier::builder_with_provider(roots, http_client::provider()).build()?;
    let now = Duration::from_secs(now.to_utc().unix_timestamp().try_into().unwrap_or_default());
    let is_valid_in = |days: u64| {
        let later =
            DAY.checked_mul(days.try_into().unwrap_or(u32::MAX)).and_then(|days| now.checked_add(days));
        let at = UnixTime::since_unix_epoch(later.unwrap_or(Duration::MAX));
        verifier.verify_server_cert(leaf, others, name, &[], at).is_ok()
    };
    Ok((1..=DAYS).take_while(|days| is_valid_in(*days)).last().unwrap_or(0))
}
