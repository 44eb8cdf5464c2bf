use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use super::*;
use crate::outgoing::names::Answer;

const BODY: &str = r#"{"event":"played"}"#;
const LOCAL: &str = "127.0.0.1";
const OWNER: UserId = UserId::new(1).unwrap();

/// A server on this machine, and the URL of its port under a host.
async fn server(host: &str) -> (TcpListener, Url) {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).await.unwrap();
    let url = format!("http://{host}:{}/hook?key=1", listener.local_addr().unwrap().port());
    (listener, url.parse().unwrap())
}

/// Calls that may use plain http, and reach these networks in addition to public ones.
fn calls(allowed: &[&str], lookup: Lookup) -> OutgoingCalls {
    let allowed = Networks::parse(allowed.iter().copied()).unwrap();
    OutgoingCalls::with_lookup(allowed, true, lookup).unwrap()
}

/// Finds `localhost`.
fn by_hosts_file() -> Lookup {
    let servers = Arc::new(NameServers::default());
    Arc::new(move |host: String| {
        let servers = Arc::clone(&servers);
        async move { servers.addresses(&host).await }.boxed()
    })
}

/// Finds, for each look-up in turn, the given addresses, which are not kept; the last ones for all further look-ups.
fn answers(each: &[&[&str]]) -> (Lookup, Arc<AtomicUsize>) {
    answers_valid_for(Duration::ZERO, each)
}

/// As [`answers`], but each is kept for this time.
fn answers_valid_for(time: Duration, each: &[&[&str]]) -> (Lookup, Arc<AtomicUsize>) {
    let parse = |addresses: &&[&str]| -> Vec<IpAddr> {
        addresses.iter().map(|address| address.parse().unwrap()).collect()
    };
    let each: Vec<Vec<IpAddr>> = each.iter().map(parse).collect();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let lookup = move |_| {
        let nth = counter.fetch_add(1, Ordering::SeqCst).min(each.len().saturating_sub(1));
        let valid_until = Instant::now().checked_add(time).unwrap();
        let answer = Answer { addresses: each[nth].clone(), valid_until };
        std::future::ready(Ok(answer)).boxed()
    };
    (Arc::new(lookup), asked)
}

async fn post(calls: &OutgoingCalls, url: &Url) -> Result<OutgoingReply, OutgoingCallError> {
    calls.post(OWNER, url, HeaderMap::new(), BODY.into()).await
}

/// Accepts a connection and reads a request.
async fn request(listener: &TcpListener) -> (TcpStream, String) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut read = Vec::new();
    while !read.ends_with(BODY.as_bytes()) {
        assert_ne!(stream.read_buf(&mut read).await.unwrap(), 0, "the request is incomplete");
    }
    (stream, String::from_utf8(read).unwrap())
}

/// Sends a reply to one request, and returns the request and the address at which it arrived.
async fn reply(listener: &TcpListener, reply: &str) -> (String, IpAddr) {
    let (mut stream, request) = request(listener).await;
    stream.write_all(reply.as_bytes()).await.unwrap();
    (request, stream.local_addr().unwrap().ip())
}

fn assert_not_called(listener: TcpListener) {
    assert_eq!(listener.into_std().unwrap().accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[tokio::test]
async fn a_call_passes_headers_and_body_and_returns_the_answer() {
    let (listener, url) = server(LOCAL).await;
    let calls = calls(&[LOCAL], by_hosts_file());
    let mut headers = HeaderMap::new();
    headers.insert("webhook-id", "evt_1".parse().unwrap());
    let answer = "HTTP/1.1 503 Busy\r\nretry-after: 120\r\ncontent-length: 5\r\n\r\nlater";
    let (sent, (received, _)) =
        tokio::join!(calls.post(OWNER, &url, headers, BODY.into()), reply(&listener, answer));
    let expected = OutgoingReply {
        status: StatusCode::SERVICE_UNAVAILABLE,
        retry_after: Some("120".to_owned()),
        body: b"later".to_vec(),
    };
    assert_eq!(sent.unwrap(), expected);
    assert!(received.starts_with("POST /hook?key=1 HTTP/1.1\r\n"), "{received}");
    assert!(received.contains("\r\nwebhook-id: evt_1\r\n"), "{received}");
    assert!(received.contains(&format!("\r\nhost: 127.0.0.1:{}\r\n", url.port().unwrap())), "{received}");
}

#[tokio::test]
async fn internal_addresses_are_called_only_if_allowed() {
    for (host, allowed) in [
        (LOCAL, "127.0.0.0/8"),
        ("2130706433", "127.0.0.1"),
        ("[::ffff:127.0.0.1]", "127.0.0.1"),
        ("localhost", "127.0.0.1"),
    ] {
        let (listener, url) = server(host).await;
        for refusing in [calls(&[], by_hosts_file()), calls(&["127.0.0.2", "10.0.0.0/8"], by_hosts_file())] {
            let refused = post(&refusing, &url).await.unwrap_err();
            let is_refusal = matches!(
                refused,
                OutgoingCallError::Url(UrlRefusal::Address) | OutgoingCallError::Address(_)
            );
            assert!(is_refusal, "{host}: {refused}");
        }
        let opened = calls(&[allowed], by_hosts_file());
        let (sent, _) = tokio::join!(
            post(&opened, &url),
            reply(&listener, "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
        );
        assert_eq!(sent.unwrap().status, StatusCode::NO_CONTENT, "{host}");
        assert_not_called(listener);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let ((listener, url), (target, target_url)) = (server(LOCAL).await, server(LOCAL).await);
    let calls = calls(&[LOCAL], by_hosts_file());
    for status in [301, 302, 303, 307, 308] {
        let answer =
            format!("HTTP/1.1 {status} Elsewhere\r\nlocation: {target_url}\r\ncontent-length: 0\r\n\r\n");
        let (sent, _) = tokio::join!(post(&calls, &url), reply(&listener, &answer));
        assert_eq!(sent.unwrap().status.as_u16(), status);
    }
    assert_not_called(target);
}

#[tokio::test]
async fn a_host_name_is_resolved_and_checked_at_each_call() {
    let (listener, url) = server("rebinding.example").await;
    let (lookup, asked) = answers(&[&["8.8.8.8"], &["127.0.0.1"], &["::ffff:127.0.0.1", "::1"]]);
    let calls = calls(&[], lookup.clone());
    // The answer that another check of the same name would see.
    assert_eq!(lookup("rebinding.example".to_owned()).await.unwrap().addresses.len(), 1);
    assert_eq!(calls.accept(url.as_str()), Ok(url.clone()));
    for refused in [&["127.0.0.1"][..], &["::ffff:127.0.0.1", "::1"]] {
        let error = post(&calls, &url).await.unwrap_err();
        let OutgoingCallError::Address(RefusedAddresses(addresses)) = &error else { panic!("{error}") };
        let addresses: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
        assert_eq!(addresses, refused);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 3, "a name is resolved once for each call");
    assert_not_called(listener);
}

#[tokio::test]
async fn cached_dns_answers_are_filtered_at_each_connection() {
    let (listener, url) = server("kept.example").await;
    let minute = Duration::from_secs(60);
    let (lookup, asked) = answers_valid_for(minute, &[&["127.0.0.2", "::1"], &["8.8.8.8"]]);
    let refusing = calls(&[], lookup);
    for _ in 0..3 {
        let error = post(&refusing, &url).await.unwrap_err();
        assert!(matches!(error, OutgoingCallError::Address(_)), "{error}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1, "the answer is kept");
    assert_not_called(listener);

    let (listener, url) = server("kept.example").await;
    let (lookup, asked) = answers_valid_for(minute, &[&["127.0.0.2", "127.0.0.1"], &["127.0.0.2"]]);
    let opened = calls(&["127.0.0.1"], lookup);
    for _ in 0..3 {
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        let (sent, (_, called)) = tokio::join!(post(&opened, &url), reply(&listener, answer));
        assert_eq!(sent.unwrap().status, StatusCode::OK);
        assert_eq!(called.to_string(), LOCAL);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1, "the answer is kept");
    assert_not_called(listener);
}

#[tokio::test]
async fn connections_are_not_reused() {
    let (listener, url) = server("rebinding.example").await;
    let (lookup, _) = answers(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let calls = calls(&["127.0.0.1"], lookup);
    let answer = async {
        let (mut stream, _) = request(&listener).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        stream
    };
    let (sent, _open) = tokio::join!(post(&calls, &url), answer);
    assert_eq!(sent.unwrap().status, StatusCode::OK);
    let error = post(&calls, &url).await.unwrap_err();
    assert!(matches!(error, OutgoingCallError::Address(_)), "{error}");
    assert_not_called(listener);
}

#[tokio::test]
async fn a_call_connects_only_to_accepted_addresses() {
    let (listener, url) = server("mixed.example").await;
    let (lookup, _) = answers(&[&["127.0.0.2", "127.0.0.1", "127.0.0.3"]]);
    let calls = calls(&["127.0.0.1"], lookup);
    let (sent, (_, called)) =
        tokio::join!(post(&calls, &url), reply(&listener, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
    assert_eq!(sent.unwrap().status, StatusCode::OK);
    assert_eq!(called.to_string(), LOCAL);
    assert_not_called(listener);
}

#[tokio::test]
async fn answers_are_read_up_to_64_kib() {
    let (listener, url) = server(LOCAL).await;
    let calls = calls(&[LOCAL], by_hosts_file());
    let endless = async {
        let (mut stream, _) = request(&listener).await;
        stream.write_all(b"HTTP/1.1 410 Gone\r\ncontent-length: 1000000000000\r\n\r\n").await.unwrap();
        while stream.write_all(&[b'x'; 10_000]).await.is_ok() {}
    };
    // The server ends only when its connection is closed.
    let (sent, ()) = tokio::join!(post(&calls, &url), endless);
    let answer = sent.unwrap();
    assert_eq!(answer.status, StatusCode::GONE);
    assert!(answer.body == vec![b'x'; 65_536], "{} bytes", answer.body.len());
}

#[tokio::test]
async fn slow_answers_are_cut_off_at_the_time_limit() {
    let (listener, url) = server(LOCAL).await;
    let calls = calls(&[LOCAL], by_hosts_file());
    let trickle = async {
        let (mut stream, _) = request(&listener).await;
        tokio::time::pause();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n").await.unwrap();
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let start = Instant::now();
    let timed = async { (post(&calls, &url).await, start.elapsed()) };
    let ((sent, elapsed), ()) = tokio::join!(timed, trickle);
    assert!(matches!(sent.unwrap_err(), OutgoingCallError::TimedOut));
    assert!((15..17).contains(&elapsed.as_secs()), "{elapsed:?}");
}

#[tokio::test]
async fn unreachable_hosts_and_invalid_answers_are_distinguished() {
    let calls = calls(&[LOCAL], Arc::new(|_| std::future::ready(Err(ErrorKind::NotFound.into())).boxed()));
    let (closed, closed_url) = server(LOCAL).await;
    drop(closed);
    for url in ["http://missing.example/".parse().unwrap(), closed_url] {
        let error = post(&calls, &url).await.unwrap_err();
        assert!(matches!(error, OutgoingCallError::Connection(_)), "{url}: {error}");
    }
    let long_head = format!("HTTP/1.1 200 OK\r\nretry-after: {}\r\n\r\n", "1".repeat(200_000));
    for answer in
        ["SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ncut", "", &long_head]
    {
        let (listener, url) = server(LOCAL).await;
        let invalid = async {
            let (mut stream, _) = request(&listener).await;
            // The client closes the connection as soon as it finds the answer invalid.
            let _ = stream.write_all(answer.as_bytes()).await;
        };
        let (sent, ()) = tokio::join!(post(&calls, &url), invalid);
        let error = sent.unwrap_err();
        assert!(matches!(error, OutgoingCallError::Reply(_)), "{answer:.40}: {error}");
    }
}

#[tokio::test]
async fn an_https_call_fails_without_sending_its_body_to_a_server_without_tls() {
    let (listener, mut url) = server(LOCAL).await;
    url.set_scheme("https").unwrap();
    let calls = calls(&[LOCAL], by_hosts_file());
    let plain = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        let mut received = Vec::new();
        let _ = stream.read_to_end(&mut received).await;
        received
    };
    let (sent, received) = tokio::join!(post(&calls, &url), plain);
    assert!(matches!(sent.unwrap_err(), OutgoingCallError::Connection(_)));
    assert!(!received.windows(BODY.len()).any(|window| window == BODY.as_bytes()));
}
