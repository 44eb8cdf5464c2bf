//! A request that asks a server what it sees of it, by the nonce of [`EchoNonces`](crate::security::echo_nonces).

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};
use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::connect::HttpInfo;
use hyper_util::client::legacy::connect::dns::GaiResolver;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use url::Url;

use crate::http_client::HttpClients;
use crate::networks::FORWARDED_FOR;

/// The path of the echo.
pub const PATH: &str = "/health/echo";
/// The header with the nonce.
pub const NONCE: &str = "cuepoint-nonce";
/// The pause after the first event, in which a proxy that collects the answer shows itself.
pub const PAUSE: Duration = Duration::from_secs(2);

/// The time limit of a call.
const CALL_WITHIN: Duration = Duration::from_secs(10);
/// The longest beginning of an answer, in bytes.
const MAX_BEGINNING: usize = 64 * 1024;

/// What a server sees of a request, and of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// The other end of the connection: the caller, or the last proxy.
    pub peer: SocketAddr,
    /// The address that counts as the client's.
    pub client: IpAddr,
    /// Whether a proxy sent `X-Forwarded-For`.
    pub is_forwarded: bool,
    /// Whether that address is known: no header suggests another one that cannot be trusted or read.
    pub is_proven: bool,
    /// The number of files that the server may open, if the system says.
    pub open_files: Option<u64>,
}

/// An answer of a server.
#[derive(Clone, Debug)]
pub struct Echo {
    /// What it said.
    pub seen: Seen,
    /// The own address of the connection.
    pub local: Option<SocketAddr>,
    /// The time between the first event and the end of the stream; `None` if the end was not awaited.
    pub pause: Option<Duration>,
}

/// How to ask, and which part of the answer to await.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EchoRequest {
    /// The first event and the end of the stream.
    WholeStream,
    /// Only the first event.
    FirstEvent,
    /// Only the first event, of a request that claims to come from this address.
    FirstEventAs(IpAddr),
}

/// Asks the server at a URL. `None` if it is another service, or one with other signing keys.
///
/// # Errors
/// When there is no answer, or a proxy altered it.
pub async fn ask(origin: &Url, nonce: &str, kind: EchoRequest) -> anyhow::Result<Option<Echo>> {
    let call = timeout(CALL_WITHIN, exchange(origin, nonce, kind)).await;
    call.unwrap_or_else(|_| Err(anyhow!("no answer within {} seconds", CALL_WITHIN.as_secs())))
}

async fn exchange(origin: &Url, nonce: &str, kind: EchoRequest) -> anyhow::Result<Option<Echo>> {
    let url = origin.join(PATH).context("it is not the URL of a service")?;
    let mut request = Request::get(url.as_str())
        .header(header::ACCEPT, "text/event-stream")
        .header(header::USER_AGENT, concat!("cuepoint-doctor/", env!("CARGO_PKG_VERSION")))
        .header(NONCE, nonce);
    if let EchoRequest::FirstEventAs(address) = kind {
        request = request.header(FORWARDED_FOR, address.to_string());
    }
    let request = request.body(Full::<Bytes>::default())?;
    let client = HttpClients::new(url.scheme() == "https")?.client(GaiResolver::new());
    let answer = client.request(request).await.map_err(|error| anyhow!(error)).context("no connection")?;
    match answer.status() {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND => return Ok(None),
        status => bail!("the answer is {status}"),
    }
    let local = answer.extensions().get::<HttpInfo>().map(HttpInfo::local_addr);
    let mut body = answer.into_body();
    let mut beginning = Vec::new();
    let seen = loop {
        let frame = body.frame().await.context("the answer ends early")??;
        beginning.extend_from_slice(&frame.into_data().unwrap_or_default());
        ensure!(beginning.len() <= MAX_BEGINNING, "the answer is not that of the service");
        if let Some(seen) = first_event(&beginning) {
            break seen;
        }
    };
    let began = Instant::now();
    let pause = match kind {
        EchoRequest::FirstEvent | EchoRequest::FirstEventAs(_) => None,
        EchoRequest::WholeStream => {
            while let Some(frame) = body.frame().await {
                frame.context("the answer ends early")?;
            }
            Some(began.elapsed())
        }
    };
    Ok(Some(Echo { seen, local, pause }))
}

/// The data of the first event, once it has arrived.
fn first_event(beginning: &[u8]) -> Option<Seen> {
    let text = std::str::from_utf8(beginning).ok()?;
    let (event, _) = text.split_once("\n\n")?;
    let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
    serde_json::from_str(data).ok()
}
