//! HEAD, requests behind others on one connection, and HTTP/1.0.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use cuepoint_api::operations;

use crate::events::stream_ends::open_streams;
use crate::harness::{Answer, Person, RawConnection, Server, Store, answers, exchange};

const STREAM: &str = "/api/v1/events/stream";
const EXPORT: &str = "/api/v1/user/export";
const LIVE: &str = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n";

/// A request of this person without a body.
fn request(method: &str, path: &str, person: &Person) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n", person.token)
}

/// Every path of the service.
fn paths() -> BTreeSet<String> {
    let operations = operations::all();
    let declared = operations.iter().map(|operation| operation.path.replace("{id}", "1"));
    // The files of the page are no operation of the document.
    let files = ["/docs/", "/docs/swagger-ui.css", "/docs/nothing"].map(str::to_owned);
    let paths: BTreeSet<_> = declared.chain(files).collect();
    assert!(paths.len() > 50 && paths.contains(STREAM) && paths.contains(EXPORT), "{paths:?}");
    paths
}

fn is_streamed(answer: &Answer) -> bool {
    answer.header("transfer-encoding").is_some()
}

/// Checks the head of an answer to HEAD by the answer to GET.
#[track_caller]
fn is_head_of(head: &Answer, answer: &Answer, path: &str) {
    assert_eq!(head.status, answer.status, "{path}: {head} {answer}");
    assert_eq!(head.header("content-type"), answer.header("content-type"), "{path}");
    assert_eq!(head.header("transfer-encoding"), None, "{path}");
    assert_eq!(head.header("content-length").is_none(), is_streamed(answer), "{path}: {head}");
    // The values of metrics vary in length.
    if path != "/metrics" {
        assert_eq!(head.header("content-length"), answer.header("content-length"), "{path}");
    }
    assert!(answer.status < 400 || answer.text.contains(r#""status":"error""#), "{path}: {answer}");
}

#[test]
fn every_route_answers_get_after_head_on_one_connection() {
    let (server, operator) = Server::with_operator(Store::Memory, &[]);
    let address = server.client().address;
    for path in paths() {
        let (head, get) = (request("HEAD", &path, &operator), request("GET", &path, &operator));
        let mut connection = RawConnection::open(&address);
        connection.send(&head);
        let answer = connection.head();
        connection.send(&get);
        is_head_of(&answer, &connection.answer(), &path);
    }
}

#[test]
fn every_route_answers_pipelined_head_and_get() {
    let (server, operator) = Server::with_operator(Store::Memory, &[]);
    let address = server.client().address;
    for path in paths() {
        let (head, get) = (request("HEAD", &path, &operator), request("GET", &path, &operator));
        let mut connection = RawConnection::open(&address);
        connection.send(&format!("{head}{get}"));
        is_head_of(&connection.head(), &connection.answer(), &path);
        let mut connection = RawConnection::open(&address);
        connection.send(&format!("{get}{head}{LIVE}"));
        let answer = connection.answer();
        // No DJ has the code of a board.
        if path.ends_with("/stream") && answer.status == 200 {
            assert!(answer.text.starts_with("id: "), "{answer}");
            continue;
        }
        is_head_of(&connection.head(), &answer, &path);
        assert_eq!(connection.answer().status, 200);
    }
}

#[test]
fn pipelined_requests_with_bodies_are_answered_in_order() {
    let server = Server::start(Store::Memory);
    let guest = server.guest();
    let mut connection = RawConnection::open(&server.client().address);
    let head = request("HEAD", "/api/v1/wallet", &guest);
    let topup = format!(
        "POST /api/v1/wallet/topups HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n",
        guest.token
    );
    let sized = format!("{topup}Content-Length: 12\r\n\r\n{{\"amount\":1}}");
    let chunked =
        format!("{topup}Transfer-Encoding: chunked\r\n\r\n3\r\n{{\"a\r\n9\r\nmount\":1}}\r\n0\r\n\r\n");
    connection.send(&format!("{sized}{head}{chunked}{head}{sized}{LIVE}"));
    for number in 1..=2 {
        assert_eq!(connection.answer().data(201)["topup"]["id"], number);
        assert_eq!(connection.head().status, 200);
    }
    assert_eq!(connection.answer().data(201)["topup"]["id"], 3);
    assert_eq!(connection.answer().status, 200);
    assert_eq!(guest.wallet().0, "3.00");
}

#[test]
fn refused_head_requests_are_answered_without_a_body() {
    let limits = [
        ("rate_limits.enabled", "true"),
        ("rate_limits.default_per_minute", "3"),
        ("server.head_timeout_seconds", "1"),
    ];
    let server = Server::configured(Store::Memory, &limits);
    let address = server.client().address;
    let mut connection = RawConnection::open(&address);
    // An address has ten times the quota of a user.
    for _ in 0..27 {
        connection.send("HEAD /api/v1/wallet HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!(connection.head().status, 401);
    }
    for (path, status) in [
        ("/api/v1/wallet", 401),
        ("/api/v1/nothing", 404),
        ("/api/v1/auth/login", 405),
        ("/api/v1/wallet", 401),
        ("/api/v1/wallet", 401),
        ("/api/v1/wallet", 429),
    ] {
        connection.send(&format!("HEAD {path} HTTP/1.1\r\nHost: x\r\n\r\n{LIVE}"));
        let head = connection.head();
        assert_eq!(head.status, status, "{path}");
        assert_ne!(head.header("content-length"), Some("0"), "{path}");
        assert_eq!(connection.answer().status, 200);
    }
    // A stream after a lost position, until the rate limit.
    let lost = request("HEAD", &format!("{STREAM}?after=9"), &server.guest());
    for status in [410, 410, 410, 429] {
        connection.send(&format!("{lost}{LIVE}"));
        let head = connection.head();
        assert_eq!(head.status, status, "{head}");
        assert_eq!(head.header("content-type"), Some("application/json"), "{head}");
        assert_eq!(connection.answer().status, 200);
    }
    // Refused by the parser.
    for (head, status) in [
        ("HEAD /health/live HTTP/1.1\r\nHo st: x\r\n\r\n".to_owned(), 400),
        (format!("HEAD /health/live HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(200_000)), 431),
        ("HEAD /health/live HTTP/1.1\r\nHost: x\r\n".to_owned(), 408),
        (format!("{LIVE}HEAD /health/live HTTP/1.1\r\nHo st: x\r\n\r\n"), 400),
    ] {
        let said = exchange(&address, head.as_bytes());
        let (_, last) = said.rsplit_once("HTTP/1.1 ").unwrap();
        assert!(last.starts_with(&status.to_string()) && last.ends_with("\r\n\r\n"), "{said}");
    }
    let said = exchange(&address, b"GET /health/live HTTP/1.1\r\nHo st: x\r\n\r\n");
    answers(&said)[0].refused(400, "bad_request");
}

#[test]
fn a_head_request_for_a_stream_is_checked_and_opens_no_stream() {
    let server = Server::start(Store::Memory);
    let guest = server.guest();
    let head = |path: &str, headers: &[(&str, &str)]| {
        let call = guest.call("HEAD", path);
        headers.iter().fold(call, |call, (name, value)| call.header(name, value)).send()
    };
    let mut open: Vec<_> = Vec::new();
    for _ in 0..6 {
        // More than the places of a user, if each took one.
        for _ in 0..3 {
            let answer = head("/events/stream", &[]);
            assert_eq!(answer.status, 200);
            assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        }
        assert_eq!(open_streams(&server), open.len() as u64);
        open.push(guest.stream("/events/stream", &[]));
    }
    assert_eq!(head("/events/stream", &[]).status, 429);
    open.truncate(5);
    for (path, header, status) in [
        ("/events/stream?after=-1", ("x-a", "b"), 422),
        ("/events/stream?after=9", ("x-a", "b"), 410),
        ("/events/stream", ("last-event-id", "9"), 410),
        ("/events/stream", ("last-event-id", "x"), 400),
        ("/events/stream", ("accept", "application/json"), 406),
        ("/events/stream", ("authorization", "Bearer x"), 401),
        ("/operator/events/stream", ("x-a", "b"), 403),
        ("/user/export", ("authorization", "Bearer x"), 401),
    ] {
        assert_eq!(head(path, &[header]).status, status, "{path} {header:?}");
    }
}

#[test]
fn a_head_request_for_an_export_exports_nothing() {
    let (server, operator) = Server::with_operator(Store::Memory, &[]);
    let guest = server.guest();
    let exports = || {
        let log = operator.get("/operator/security-log").data(200);
        log["data"].as_array().unwrap().iter().filter(|event| event["kind"] == "data_exported").count()
    };
    assert_eq!(guest.call("HEAD", "/user/export").send().status, 200);
    assert_eq!(exports(), 0);
    guest.get("/user/export").data(200);
    assert_eq!(exports(), 1);
}

/// A reverse proxy with one connection to the server, on which it forwards the requests of all its clients.
struct PoolingProxy(RawConnection);

impl PoolingProxy {
    fn forward(&mut self, method: &str, path: &str, person: &Person) -> Answer {
        self.0.send(&request(method, path, person));
        if method == "HEAD" { self.0.head() } else { self.0.answer() }
    }
}

#[test]
fn head_requests_do_not_block_a_pooling_proxy() {
    let server = Server::start(Store::Memory);
    let (member, other) = (server.guest(), server.guest());
    let mut proxy = PoolingProxy(RawConnection::open(&server.client().address));
    for path in [STREAM, EXPORT, "/api/v1/wallet", "/api/v1/nothing"] {
        let start = Instant::now();
        proxy.forward("HEAD", path, &member);
        proxy.forward("GET", "/api/v1/wallet", &other).data(200);
        assert!(start.elapsed() < Duration::from_secs(5), "{path}: {:?}", start.elapsed());
    }
}

#[test]
fn http_1_0_bodies_are_not_chunked_and_end_with_the_connection() {
    let server = Server::start(Store::Memory);
    let guest = server.guest();
    let address = server.client().address;
    for connection in ["", "Connection: keep-alive\r\n"] {
        let old =
            |path: &str| request("GET", path, &guest).replace("1.1\r\n", &format!("1.0\r\n{connection}"));
        let mut export = RawConnection::open(&address);
        // The second request must not be answered within the body of the first.
        export.send(&format!("{}{LIVE}", old(EXPORT)));
        let head = export.head();
        assert!(head.request.starts_with("HTTP/1.0 200"), "{head}");
        assert_eq!((head.header("transfer-encoding"), head.header("connection")), (None, None), "{head}");
        let body: serde_json::Value = serde_json::from_str(&export.rest()).unwrap();
        assert_eq!(body["data"]["user"]["id"], guest.id);
        let mut stream = RawConnection::open(&address);
        stream.send(&old(STREAM));
        assert_eq!(stream.head().header("transfer-encoding"), None);
        assert!(stream.line_of_text().starts_with("id: "));
    }
}

/// Attack API4: hanging the connections of others with a request of HTTP/1.0.
#[test]
fn a_request_of_http_1_0_leaves_other_connections_open() {
    // All connections share the responses that a worker keeps for reuse.
    let server = Server::configured(Store::Memory, &[("server.workers", "1")]);
    let address = server.client().address;
    let mut kept = RawConnection::open(&address);
    for old in
        ["GET /health/live HTTP/1.0\r\n\r\n", "GET /health/live HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"]
    {
        let mut other = RawConnection::open(&address);
        other.send(old);
        assert_eq!(other.head().status, 200);
        for _ in 0..3 {
            kept.send(LIVE);
            assert_eq!(kept.answer().status, 200);
        }
    }
}
