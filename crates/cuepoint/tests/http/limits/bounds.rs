//! Resource limits of one connection: bytes, headers and time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{Server, Store};

/// A server that waits one second for each head and body.
fn impatient() -> Server {
    let keys = [("server.head_timeout_seconds", "1"), ("server.body_timeout_seconds", "1")];
    Server::configured(Store::Memory, &keys)
}

fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n")
}

/// Sends the beginning and then this piece repeatedly until the server closes; returns the answer.
fn poured(server: &Server, beginning: &str, piece: &[u8], pause: Duration) -> String {
    let mut stream = connect(server);
    let mut sending = stream.try_clone().unwrap();
    sending.write_all(beginning.as_bytes()).unwrap();
    let piece = piece.to_vec();
    let pouring = thread::spawn(move || {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(30) && sending.write_all(&piece).is_ok() {
            thread::sleep(pause);
        }
        began.elapsed()
    });
    let mut said = Vec::new();
    // Sending past the end of the connection causes a reset.
    let _ = stream.read_to_end(&mut said);
    drop(stream);
    let took = pouring.join().unwrap();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(took < Duration::from_secs(25), "it was let go on for {took:?}: {said}");
    said
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.client().address.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Sends the request and returns everything received.
fn answered(server: &Server, request: &str) -> String {
    let mut stream = connect(server);
    stream.write_all(request.as_bytes()).unwrap();
    let mut said = Vec::new();
    // A refusal before the whole request is read is followed by a reset.
    let _ = stream.read_to_end(&mut said);
    String::from_utf8_lossy(&said).into_owned()
}

#[track_caller]
fn began(said: &str, status: u16) {
    assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{said}");
}

/// Checks that the server still answers others.
#[track_caller]
fn lives(server: &Server) {
    assert_eq!(server.client().outside("GET", "/health/ready").send().status, 200);
}

/// Attack API4: long or endless request heads.
#[test]
fn the_size_and_header_count_of_a_request_head_are_limited() {
    let server = Server::start(Store::Memory);
    let said = |request: &str| answered(&server, request);
    let headers = |count: usize| (0..count).map(|number| format!("X-{number}: a\r\n")).collect::<String>();
    began(&said(&get("/health/live", &headers(90))), 200);
    began(&said(&get("/health/live", &headers(1_000))), 431);
    began(&said(&get("/health/live", &format!("X-A: {}\r\n", "a".repeat(60_000)))), 200);
    began(&said(&get(&format!("/health/live?{}", "a".repeat(60_000)), "")), 200);
    began(&said(&get(&format!("/{}", "a".repeat(70_000)), "")), 400);
    for beginning in ["GET /health/live HTTP/1.1\r\nHost: x\r\nX-A: ", "GET /", ""] {
        let said = poured(&server, beginning, &[b'a'; 4_096], Duration::ZERO);
        assert!(["HTTP/1.1 431 ", "HTTP/1.1 400 ", ""].iter().any(|start| said.starts_with(start)), "{said}");
    }
    lives(&server);
}

#[test]
fn a_slow_request_head_times_out() {
    let server = impatient();
    let drip = Duration::from_millis(50);
    for beginning in ["", "GET /health/live HTTP/1.1\r\nHost: x\r\nX-A: "] {
        began(&poured(&server, beginning, b"a", drip), 408);
        // A silent client times out too.
        began(&answered(&server, beginning), 408);
    }
    lives(&server);
}

#[test]
fn a_slow_second_request_head_closes_the_connection() {
    let keys = [("server.head_timeout_seconds", "1"), ("server.keep_alive_seconds", "1")];
    let server = Server::configured(Store::Memory, &keys);
    let live = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n";
    let drip = Duration::from_millis(50);
    thread::scope(|scope| {
        scope.spawn(|| began(&answered(&server, live), 200));
        scope.spawn(|| began(&answered(&server, &format!("{live}GET /heal")), 200));
        scope.spawn(|| began(&poured(&server, &format!("{live}GET /heal"), b"t", drip), 200));
        // A connection with regular calls is never cut off.
        scope.spawn(|| {
            let mut stream = connect(&server);
            for _ in 0..40 {
                stream.write_all(live.as_bytes()).unwrap();
                let mut some = [0; 4_096];
                assert!(stream.read(&mut some).unwrap() > 0);
                thread::sleep(Duration::from_millis(100));
            }
        });
    });
    lives(&server);
}

/// Attack API4: occupying connections with slow requests.
#[test]
fn a_slow_request_body_times_out() {
    let server = impatient();
    let post = |length: &str| {
        format!(
            "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{length}\r\n\r\n"
        )
    };
    let drip = Duration::from_millis(50);
    for (beginning, piece) in
        [(post("Content-Length: 60000"), &b" "[..]), (post("Transfer-Encoding: chunked"), b"1\r\n \r\n")]
    {
        let said = poured(&server, &beginning, piece, drip);
        began(&said, 400);
        assert!(said.contains("The body took too long to arrive."), "{said}");
        assert!(said.to_lowercase().contains("connection: close"), "{said}");
    }
    began(&answered(&server, &post("Content-Length: 2")), 400);
    lives(&server);
}

#[test]
fn an_endless_body_is_cut_off() {
    let server = impatient();
    let chunked = |line: &str| {
        format!(
            "{line} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
    };
    let flood = [b"1000\r\n", &[b'a'; 4_096][..], b"\r\n"].concat();
    // The refusal of a body that is too large precedes the timeout.
    let cases = [
        (chunked("POST /api/v1/auth/login"), 413, 400),
        (chunked("POST /api/v1/wallet/topups"), 401, 401),
        (chunked("GET /health/live"), 200, 200),
        (chunked("PUT /health/live"), 405, 405),
        (chunked("POST /nowhere"), 404, 404),
        (
            "POST /api/v1/wallet/topups HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n".into(),
            401,
            401,
        ),
    ];
    thread::scope(|scope| {
        for (beginning, flooded, dripped) in &cases {
            scope.spawn(|| began(&poured(&server, beginning, &flood, Duration::ZERO), *flooded));
            scope.spawn(|| {
                began(&poured(&server, beginning, b"1\r\na\r\n", Duration::from_millis(20)), *dripped)
            });
        }
    });
    lives(&server);
}

#[test]
fn a_chunked_body_keeps_the_connection_alive() {
    let server = Server::start(Store::Memory);
    let mut stream = connect(&server);
    let chunked = "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
        Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    for _ in 0..3 {
        stream.write_all(chunked.as_bytes()).unwrap();
        let (mut said, mut some) = (String::new(), [0; 4_096]);
        while !said.ends_with('}') {
            let count = stream.read(&mut some).unwrap();
            assert!(count > 0, "{said}");
            said.push_str(std::str::from_utf8(&some[..count]).unwrap());
        }
        began(&said, 422);
        assert!(!said.to_lowercase().contains("connection: close"), "{said}");
    }
}

#[test]
fn an_upgrade_header_does_not_change_body_framing() {
    let server = Server::start(Store::Memory);
    let login = "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nUpgrade: WebSocket\r\nContent-Type: application/json\r\n";
    for body in [
        "Content-Length: 2\r\n\r\n{}",
        "Content-Length: 2\r\n\r\n{}more",
        "\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ] {
        let mut stream = connect(&server);
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        stream.write_all(format!("{login}{body}").as_bytes()).unwrap();
        let mut said = [0; 12];
        stream.read_exact(&mut said).unwrap();
        let status = if body == "\r\n" { 400 } else { 422 };
        assert_eq!(String::from_utf8_lossy(&said), format!("HTTP/1.1 {status}"), "{body:?}");
    }
}

#[test]
fn malformed_http_closes_only_its_connection() {
    let server = Server::start(Store::Memory);
    let live = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n";
    let login = "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    for (request, answers) in [
        ("\u{16}\u{3}\u{1}\0\u{a5}\u{1}\0".repeat(50), &[400][..]),
        (format!("{live}\0garbage\r\n\r\n"), &[200, 400]),
        (format!("{live}{live}GET\r\n\r\n"), &[200, 200, 400]),
        // The end of a body must be unambiguous.
        (format!("{login}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}x"), &[400]),
        (format!("{login}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{live}"), &[400]),
        (format!("{login}Content-Length: -1\r\n\r\n{live}"), &[400]),
        (format!("{login}Content-Length: +2\r\n\r\n{{}}"), &[400]),
        (format!("{login}Transfer-Encoding: gzip, chunked, x\r\n\r\n{live}"), &[400]),
    ] {
        let said = answered(&server, &request);
        let statuses: Vec<u16> =
            said.split("HTTP/1.1 ").skip(1).map(|answer| answer[..3].parse().unwrap()).collect();
        assert_eq!(statuses, answers, "{request:?}: {said}");
    }
    lives(&server);
}

/// Lines of the framing that end by a line feed alone: other programs may find the end of the body elsewhere.
#[test]
fn a_bare_line_feed_in_body_framing_closes_the_connection() {
    let server = Server::start(Store::Memory);
    let live = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n";
    let chunked =
        "HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    // A client that gets its answer without the body has five seconds to close its side.
    let cases =
        [("POST /api/v1/auth/login", 400, Duration::ZERO), ("POST /nowhere", 404, Duration::from_secs(5))];
    let ends = ["0\n\r\n", "0\r\n\n", "0\r\nX: y\n\r\n", "0\r\nX: y\r\n\n", "0\r\n\r\rX: y\n\n"];
    thread::scope(|scope| {
        for ((line, status, closing), end) in cases.into_iter().flat_map(|case| ends.map(|end| (case, end))) {
            for rest in ["", live] {
                let (server, request) = (&server, format!("{line} {chunked}2\r\n{{}}\r\n{end}{rest}"));
                scope.spawn(move || {
                    let start = Instant::now();
                    let said = answered(server, &request);
                    began(&said, status);
                    assert_eq!(said.matches("HTTP/1.1 ").count(), 1, "{end:?}: {said}");
                    assert!(
                        start.elapsed() < closing + Duration::from_secs(3),
                        "{end:?}: {:?}",
                        start.elapsed()
                    );
                });
            }
        }
    });
    lives(&server);
}

#[test]
fn connections_beyond_the_limit_wait() {
    let keys =
        [("server.max_connections", "2"), ("server.workers", "1"), ("server.head_timeout_seconds", "2")];
    let server = Server::configured(Store::Memory, &keys);
    // Both connections are held by silent clients until their timeout.
    let held = [connect(&server), connect(&server)];
    let began = Instant::now();
    lives(&server);
    assert!(began.elapsed() > Duration::from_secs(1), "{:?}", began.elapsed());
    drop(held);
}
