//! The port of the server, and the way to it through its public address.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use cuepoint_adapters::diagnosis::echo::{Echo, EchoRequest, PAUSE};
use cuepoint_adapters::diagnosis::reachability::{Reached, reach};
use cuepoint_domain::ports::Diagnosis;
use cuepoint_domain::timestamp::Timestamp;
use url::Url;

use super::echo::EchoClient;
use crate::cli::serve;
use crate::config::Settings;

const PORT: &str = "network.port";
const ADDRESS: &str = "network.public_url";
const CERTIFICATE: &str = "network.certificate";
const PROXY: &str = "network.client_address";
const STREAMS: &str = "network.streams";

/// The days before the end of a certificate at which it should have been replaced.
const RENEW: u64 = 14;
/// An address of documentation, which no client has.
const RESERVED_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
/// Part of the pause of a stream that must remain if no proxy collects it.
const PAUSED: Duration = Duration::from_secs(1);

/// The server on the configured port.
pub(super) struct LocalServer {
    pub(super) found: Vec<Diagnosis>,
    /// Whether a server of this deployment runs.
    pub(super) runs: bool,
    /// The number of files that it may open.
    pub(super) open_files: Option<u64>,
}

/// Checks that the configured port is free, or that a server of this deployment listens there.
pub(super) async fn server(settings: &Settings, echoes: Option<&EchoClient>) -> LocalServer {
    let (host, port) = (settings.server.host.as_str(), settings.server.port);
    let place = format!("{host} port {port}");
    let no_server = |found| LocalServer { found: vec![found], runs: false, open_files: None };
    match serve::bind(settings) {
        Ok(_) => return no_server(Diagnosis::ok(PORT, format!("{place} is free: no server runs"))),
        Err(error) if !serve::is_in_use(&error) => {
            let remedy = "set server.host and server.port to an address of this machine";
            return no_server(Diagnosis::fail(PORT, format!("{error:#}"), remedy));
        }
        Err(_) => {}
    }
    let answered = match (echoes, Url::parse(&serve::local_origin(host, port)).ok()) {
        (Some(echoes), Some(url)) => echoes.ask(&url, EchoRequest::FirstEvent).await.ok().flatten(),
        _ => None,
    };
    match answered {
        Some(echo) => LocalServer {
            found: vec![Diagnosis::ok(PORT, format!("the server of this deployment listens on {place}"))],
            runs: true,
            open_files: echo.seen.open_files,
        },
        None => no_server(Diagnosis::fail(
            PORT,
            format!("{place} is in use by another program, or by a server with other signing keys"),
            "stop that program, or set server.port to another port",
        )),
    }
}

/// Checks the public address: its name, its certificate, and what its proxy passes on.
pub(super) async fn public_url(
    settings: &Settings,
    echoes: Option<&EchoClient>,
    server_runs: bool,
    now: Timestamp,
) -> Vec<Diagnosis> {
    let Some(origin) = settings.server.public_url.as_deref() else { return Vec::new() };
    let Ok(url) = Url::parse(origin) else {
        return vec![Diagnosis::fail(ADDRESS, format!("{origin} is not a URL"), "correct server.public_url")];
    };
    let reached = match reach(&url, now).await {
        Ok(reached) => reached,
        Err(error) => {
            let remedy = "check the name, the certificate and the reverse proxy; this machine must reach the address, too";
            return vec![Diagnosis::fail(ADDRESS, format!("{origin}: {error}"), remedy)];
        }
    };
    let mut found =
        vec![Diagnosis::ok(ADDRESS, format!("{origin} accepts connections at {}", reached.address))];
    found.extend(of_certificate(reached));
    if !server_runs {
        let remedy = "start the server, and run the command again";
        found.push(Diagnosis::warn(PROXY, "not checked, because no server runs on this machine", remedy));
        return found;
    }
    let Some(echoes) = echoes else { return found };
    match echoes.ask(&url, EchoRequest::WholeStream).await {
        Ok(Some(echo)) => found.extend(through_proxy(settings, echoes, &url, &echo).await),
        Ok(None) => found.push(Diagnosis::fail(
            PROXY,
            format!("{origin} leads to another service, or to a server with other signing keys"),
            "let the reverse proxy pass requests to server.host and server.port",
        )),
        Err(error) => found.push(Diagnosis::fail(
            PROXY,
            format!("{origin}: {error:#}"),
            "check the reverse proxy: ops/ has files for nginx and Caddy",
        )),
    }
    found
}

fn of_certificate(reached: Reached) -> Option<Diagnosis> {
    let days = reached.valid_for_days?;
    let found = format!("valid for at least {days} more days");
    Some(if days < RENEW {
        let found = format!("valid for {days} more days");
        Diagnosis::warn(CERTIFICATE, found, "renew it: the program that renews it seems to have stopped")
    } else {
        Diagnosis::ok(CERTIFICATE, found)
    })
}

/// Checks what arrives of a request through the public address.
async fn through_proxy(settings: &Settings, echoes: &EchoClient, url: &Url, echo: &Echo) -> Vec<Diagnosis> {
    let mut way = of_client(settings, echo);
    if echo.seen.is_forwarded
        && let Ok(Some(forged)) = echoes.ask(url, EchoRequest::FirstEventAs(RESERVED_ADDRESS)).await
        && forged.seen.client == RESERVED_ADDRESS
    {
        way = Diagnosis::fail(
            PROXY,
            "a client can choose its own address with the header X-Forwarded-For",
            "let the proxy replace this header, and name only proxies in server.trusted_proxies",
        );
    }
    let pause = echo.pause.unwrap_or(PAUSE);
    let streams = if pause < PAUSED {
        Diagnosis::fail(
            STREAMS,
            "the proxy buffers the events of a stream",
            "switch off buffering for text/event-stream: ops/ has files for nginx and Caddy",
        )
    } else {
        Diagnosis::ok(STREAMS, "events arrive at once")
    };
    vec![way, streams]
}

/// Checks the address that the server takes for the client's.
fn of_client(settings: &Settings, echo: &Echo) -> Diagnosis {
    let (peer, client) = (echo.seen.peer, echo.seen.client);
    let proxy = peer.ip().to_canonical();
    let is_trusted = settings.server.trusted_proxies.contain(peer.ip());
    if echo.local == Some(peer) {
        return Diagnosis::ok(PROXY, "clients reach the server without a proxy");
    }
    if !echo.seen.is_proven && is_trusted {
        let remedy = "let the proxy send X-Forwarded-For with the address of its client; if the setting is new, restart the server";
        return Diagnosis::fail(PROXY, format!("the proxy {proxy} does not say who its client is"), remedy);
    }
    if !echo.seen.is_proven {
        let found = format!("the proxy {proxy} is not trusted, so all clients share its rate limits");
        return Diagnosis::fail(PROXY, found, format!("add {proxy} to server.trusted_proxies"));
    }
    if echo.seen.is_forwarded {
        return Diagnosis::ok(PROXY, format!("{client}, through the proxy {proxy}"));
    }
    let found = format!("requests arrive from {proxy} without the address of their client");
    let remedy = "let the proxy send X-Forwarded-For, and name it in server.trusted_proxies";
    if is_trusted { Diagnosis::fail(PROXY, found, remedy) } else { Diagnosis::warn(PROXY, found, remedy) }
}
