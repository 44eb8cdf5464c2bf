//! The client address: the peer, or the address that trusted proxies report.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::sync::Once;

use actix_web::dev::RequestHead;
use actix_web::http::header::{self, HeaderMap};
use actix_web::{HttpMessage as _, HttpRequest};
use cuepoint_domain::text::Line;
use cuepoint_domain::user::session::ClientInfo;

pub use cuepoint_adapters::networks::ClientAddress;
use cuepoint_adapters::networks::{FORWARDED_FOR, Networks};

/// Other headers that reveal a proxy.
const TRACES: [&str; 3] = ["forwarded", "x-real-ip", "via"];
/// The maximum stored length of a User-Agent, in characters.
const MAX_AGENT: usize = 255;

/// The client address of the current request.
#[must_use]
pub fn client_address(request: &HttpRequest) -> ClientAddress {
    let known = request.extensions().get::<ClientAddress>().copied();
    known.unwrap_or(ClientAddress { address: None, proven: false })
}

/// The client info of the current request, as far as known.
#[must_use]
pub fn client(request: &HttpRequest) -> ClientInfo {
    ClientInfo { address: client_address(request).address, agent: agent(request.headers()) }
}

/// The user agent without control characters, cut to 255 characters; `None` if nothing remains.
fn agent(headers: &HeaderMap) -> Option<Line> {
    let read_agent = String::from_utf8_lossy(headers.get(header::USER_AGENT)?.as_bytes());
    let plain: String = read_agent.chars().filter(|character| !character.is_control()).collect();
    let agent: String = plain.trim().chars().take(MAX_AGENT).collect();
    (!agent.is_empty()).then(|| Line::from_stored(agent))
}

/// Whether a request has the header to which proxies append the address of their client.
#[must_use]
pub fn is_forwarded(request: &HttpRequest) -> bool {
    request.headers().contains_key(FORWARDED_FOR)
}

/// Whether a request was sent on this machine, and not passed on by a proxy that says so.
#[must_use]
pub fn is_local(request: &HttpRequest) -> bool {
    let ClientAddress { address, proven } = client_address(request);
    proven && !is_forwarded(request) && address.is_some_and(|address| address.is_loopback())
}

/// Determines the client address of a request.
#[must_use]
pub fn find(head: &RequestHead, trusted: &Networks) -> ClientAddress {
    let peer = head.peer_addr.map(|peer| peer.ip());
    let passed_on = |name: &&str| head.headers.contains_key(*name);
    let Some(peer) = peer.filter(|peer| trusted.contain(*peer)) else {
        let passed_on = passed_on(&FORWARDED_FOR) || TRACES.iter().any(passed_on);
        if let Some(peer) = peer.filter(|_| passed_on) {
            warn_once(peer);
        }
        return ClientAddress { address: peer.map(|peer| peer.to_canonical()), proven: !passed_on };
    };
    if !passed_on(&FORWARDED_FOR) {
        return ClientAddress { address: Some(peer.to_canonical()), proven: !TRACES.iter().any(passed_on) };
    }
    // Invalid UTF-8 spoils only its own entry, not those that later proxies append.
    let lines = head.headers.get_all(FORWARDED_FOR).map(|line| String::from_utf8_lossy(line.as_bytes()));
    let lines: Vec<Cow<'_, str>> = lines.collect();
    behind(peer, &lines.iter().map(AsRef::as_ref).collect::<Vec<_>>(), trusted)
}

/// Walks back from the trusted peer through trusted proxies to the first untrusted address.
fn behind(peer: IpAddr, lines: &[&str], trusted: &Networks) -> ClientAddress {
    let mut last = peer.to_canonical();
    for entry in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
        match address(entry.trim()) {
            // Entries before this one may be forged.
            None => return ClientAddress { address: Some(last), proven: false },
            Some(address) if trusted.contain(address) => last = address,
            Some(address) => return ClientAddress { address: Some(address), proven: true },
        }
    }
    ClientAddress { address: Some(last), proven: true }
}

/// An address in the notations of proxies: bare or in brackets, with or without a port.
fn address(entry: &str) -> Option<IpAddr> {
    let bracketed = || entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let address = entry.parse().ok().or_else(bracketed);
    address.or_else(|| entry.parse().ok().map(|socket: SocketAddr| socket.ip())).map(|ip| ip.to_canonical())
}

/// Warns once of a misconfiguration that would otherwise show only as clients sharing one rate limit.
fn warn_once(peer: IpAddr) {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        tracing::warn!(
            %peer,
            "a request was forwarded by a proxy that server.trusted_proxies does not name: all clients behind it share \
             its rate limits"
        );
    });
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    const TRUSTED: &str = "127.0.0.1 10.0.0.0/8 2001:db8::/32";

    fn found(peer: &str, headers: &[(&'static str, &'static str)], trusted: &str) -> (String, bool) {
        let trusted = Networks::parse(trusted.split_whitespace()).unwrap();
        let request = TestRequest::default().peer_addr(SocketAddr::new(peer.parse().unwrap(), 4_000));
        let request = headers.iter().fold(request, |request, header| request.append_header(*header));
        let ClientAddress { address, proven } = find(request.to_http_request().head(), &trusted);
        (address.unwrap().to_string(), proven)
    }

    #[test]
    fn the_rightmost_untrusted_address_is_the_client() {
        for (peer, lines, client, proven) in [
            ("127.0.0.1", &["203.0.113.9"][..], "203.0.113.9", true),
            ("::ffff:127.0.0.1", &["203.0.113.9"], "203.0.113.9", true),
            ("127.0.0.1", &["203.0.113.9:5000"], "203.0.113.9", true),
            ("127.0.0.1", &["  203.0.113.9  "], "203.0.113.9", true),
            ("127.0.0.1", &["::ffff:203.0.113.9"], "203.0.113.9", true),
            ("127.0.0.1", &["2001:470::1"], "2001:470::1", true),
            ("127.0.0.1", &["[2001:470::1]"], "2001:470::1", true),
            ("127.0.0.1", &["[2001:470::1]:5000"], "2001:470::1", true),
            // Entries sent by the client itself stand to the left.
            ("127.0.0.1", &["127.0.0.1, 203.0.113.9"], "203.0.113.9", true),
            ("127.0.0.1", &["junk, 10.0.0.1, 203.0.113.9, 10.0.0.2"], "203.0.113.9", true),
            ("127.0.0.1", &["198.51.100.1", "203.0.113.9, 10.0.0.2"], "203.0.113.9", true),
            ("127.0.0.1", &["198.51.100.1, 203.0.113.9", "10.0.0.2"], "203.0.113.9", true),
            ("2001:db8::1", &["203.0.113.9,2001:db8::2"], "203.0.113.9", true),
            // All addresses are trusted, so the leftmost is the client.
            ("127.0.0.1", &["10.0.0.1,10.0.0.2"], "10.0.0.1", true),
            ("127.0.0.1", &[], "127.0.0.1", true),
            // Nothing beyond an invalid entry is believed.
            ("127.0.0.1", &["203.0.113.9, unknown"], "127.0.0.1", false),
            ("127.0.0.1", &["203.0.113.9, junk, 10.0.0.2"], "10.0.0.2", false),
            ("127.0.0.1", &["203.0.113.9,"], "127.0.0.1", false),
            ("127.0.0.1", &[""], "127.0.0.1", false),
            ("127.0.0.1", &["203.0.113.9", ""], "127.0.0.1", false),
            ("127.0.0.1", &["203.0.113.256"], "127.0.0.1", false),
            ("127.0.0.1", &["2001:470::1:99999"], "127.0.0.1", false),
            ("127.0.0.1", &["203.0.113.9 203.0.113.10"], "127.0.0.1", false),
        ] {
            let headers: Vec<_> = lines.iter().map(|line| ("x-forwarded-for", *line)).collect();
            let expected = (client.to_owned(), proven);
            assert_eq!(found(peer, &headers, TRUSTED), expected, "{peer} {lines:?}");
        }
    }

    #[test]
    fn non_utf8_headers_do_not_hide_the_client() {
        let value = header::HeaderValue::from_bytes(b"\xff, 203.0.113.9").unwrap();
        let peer = SocketAddr::new("127.0.0.1".parse().unwrap(), 4_000);
        let request = TestRequest::default().peer_addr(peer).append_header((FORWARDED_FOR, value));
        let trusted = Networks::parse(TRUSTED.split_whitespace()).unwrap();
        let client = find(request.to_http_request().head(), &trusted);
        assert_eq!((client.address.unwrap().to_string(), client.proven), ("203.0.113.9".to_owned(), true));
    }

    #[test]
    fn untrusted_peers_cannot_name_another_client() {
        for header in ["x-forwarded-for", "forwarded", "x-real-ip", "via"] {
            let headers = [(header, "203.0.113.9")];
            assert_eq!(found("127.0.0.1", &headers, ""), ("127.0.0.1".to_owned(), false), "{header}");
            assert_eq!(found("192.0.2.1", &headers, TRUSTED), ("192.0.2.1".to_owned(), false), "{header}");
        }
        assert_eq!(found("::ffff:192.0.2.1", &[], ""), ("192.0.2.1".to_owned(), true));
        // Only one header of a trusted proxy is read.
        assert_eq!(
            found("10.0.0.1", &[("forwarded", "for=192.0.2.1")], TRUSTED),
            ("10.0.0.1".to_owned(), false)
        );
    }

    #[test]
    fn only_requests_of_this_machine_without_a_proxy_are_local() {
        let forwarded = ("x-forwarded-for", "127.0.0.1");
        for (peer, header, trusted, expected) in [
            ("127.0.0.1", None, "", true),
            ("127.8.8.8", None, "", true),
            ("::1", None, "", true),
            ("::ffff:127.0.0.1", None, "", true),
            ("127.0.0.1", None, TRUSTED, true),
            ("192.168.1.20", None, "", false),
            ("172.17.0.1", None, "", false),
            ("fe80::1", None, "", false),
            ("127.0.0.1", Some(("x-forwarded-for", "192.168.1.20")), "", false),
            ("127.0.0.1", Some(("x-forwarded-for", "192.168.1.20")), TRUSTED, false),
            // The proxy of another machine has a loopback interface of its own.
            ("10.0.0.1", Some(forwarded), TRUSTED, false),
            ("127.0.0.1", Some(forwarded), TRUSTED, false),
            ("127.0.0.1", Some(("forwarded", "for=192.168.1.20")), TRUSTED, false),
            ("127.0.0.1", Some(("x-real-ip", "192.168.1.20")), "", false),
            ("127.0.0.1", Some(("via", "1.1 proxy")), "", false),
        ] {
            let trusted = Networks::parse(trusted.split_whitespace()).unwrap();
            let request = TestRequest::default().peer_addr(SocketAddr::new(peer.parse().unwrap(), 4_000));
            let request = header.into_iter().fold(request, TestRequest::append_header).to_http_request();
            let client = find(request.head(), &trusted);
            request.extensions_mut().insert(client);
            assert_eq!(is_local(&request), expected, "{peer} {header:?} {trusted:?}");
        }
    }

    #[test]
    fn user_agents_are_sanitized_and_truncated() {
        let read_agent = |value: &[u8]| {
            let value = header::HeaderValue::from_bytes(value).unwrap();
            agent(
                TestRequest::default().insert_header((header::USER_AGENT, value)).to_http_request().headers(),
            )
            .map(|agent| agent.as_str().to_owned())
        };
        assert_eq!(read_agent(b" curl/8.5 ").as_deref(), Some("curl/8.5"));
        assert_eq!(read_agent(b"a\tb\xff").as_deref(), Some("ab\u{fffd}"));
        assert_eq!(read_agent("é".repeat(300).as_bytes()).unwrap(), "é".repeat(255));
        assert_eq!((read_agent(b" \t "), read_agent(b"")), (None, None));
        assert_eq!(agent(TestRequest::default().to_http_request().headers()), None);
    }
}
