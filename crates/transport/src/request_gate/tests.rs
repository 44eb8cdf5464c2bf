//! The ends of heads and bodies, at every split of the bytes.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use actix_web::{App, HttpServer, web};

use super::*;

/// The number of bytes of a text that are admitted, if it arrives in two parts, split anywhere.
fn admitted(make: fn() -> Admitted, text: &str) -> Vec<usize> {
    let count = |split: usize| {
        let mut state = State { admitted: make(), ..State::default() };
        let (first, second) = text.as_bytes().split_at(split);
        let count = state.admit(first);
        let more = if count == first.len() { state.admit(second) } else { 0 };
        count.saturating_add(more)
    };
    let mut counts: Vec<usize> = (0..=text.len()).map(count).collect();
    counts.dedup();
    counts
}

#[test]
fn a_request_head_ends_with_the_first_empty_line_after_its_first_line() {
    for head in [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\n\n",
        "GET / HTTP/1.1\r\nHost: x\n\r\n",
        "\r\n\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "nonsense\r\n\r\n",
    ] {
        for rest in ["", "G", "\r\n\r\n", "HEAD / HTTP/1.1\r\n\r\n"] {
            assert_eq!(admitted(|| Admitted::Head, &format!("{head}{rest}")), [head.len()], "{head:?}");
        }
    }
    let open = "GET / HTTP/1.1\r\nHost: x\r\n\rX: \r\r\n";
    assert_eq!(admitted(|| Admitted::Head, open), [open.len()]);
}

#[test]
fn a_chunked_body_ends_with_its_trailer() {
    for body in [
        "0\r\n\r\n",
        "5\r\nhello\r\n0\r\n\r\n",
        "A;name=value\r\n0\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n",
        "1\r\n\n\r\n000\r\nName: value\r\n\r\n",
        "ffffffffffffffffffff\r\n",
    ] {
        let make = || Admitted::Chunks(ChunkedBody::default());
        let is_endless = body.starts_with('f');
        let rest = if is_endless { "" } else { "HEAD / HTTP/1.1\r\n\r\n" };
        assert_eq!(admitted(make, &format!("{body}{rest}")), [body.len()], "{body:?}");
    }
}

#[test]
fn a_bare_line_feed_in_a_trailer_is_replaced_so_that_parsing_fails() {
    const NEXT: &str = "GET / HTTP/1.1\r\n\r\n";
    for (admitted, body) in [("0\r\n", "0\r\n\n"), ("0\r\nX: y", "0\r\nX: y\n\r\n")] {
        let text = format!("{body}{NEXT}");
        for split in 0..=text.len() {
            let make = || Admitted::Chunks(ChunkedBody::default());
            let mut state = State { admitted: make(), is_next_admitted: true, ..State::default() };
            let mut read = Vec::new();
            let (first, second) = text.as_bytes().split_at(split);
            for part in [first, second] {
                state.held.extend_from_slice(part);
                loop {
                    // Room for one byte.
                    let mut byte = [0];
                    let mut buffer = ReadBuf::new(&mut byte);
                    if state.take_held(&mut buffer) == 0 {
                        break;
                    }
                    read.extend_from_slice(buffer.filled());
                }
            }
            let read = String::from_utf8(read).unwrap();
            let begin = format!("{admitted}\r\r");
            assert!(read.starts_with(&begin), "{body:?} at {split}: {read:?}");
        }
    }
}

#[test]
fn a_body_ends_after_its_declared_length() {
    assert_eq!(admitted(|| Admitted::Body(4), "{\"\"}HEAD"), [4]);
    assert_eq!(admitted(|| Admitted::Body(9), "{\"\"}"), [4]);
    assert_eq!(admitted(|| Admitted::Nothing, "GET"), [0]);
    assert_eq!(admitted(|| Admitted::Everything, "GET / HTTP/1.1\r\n\r\nGET"), [21]);
}

#[test]
fn a_head_request_is_recognized_before_its_headers_are_complete() {
    for (text, expected) in [
        ("HEAD / HTTP/1.1\r\n", true),
        ("\r\nHEAD ", true),
        ("HEAD", false),
        ("HEADS / HTTP/1.1\r\n", false),
        ("GET HEAD ", false),
        ("GET / HTTP/1.1\r\n\r\nHEAD /", true),
        ("HEAD / HTTP/1.1\r\n\r\nGET /", false),
    ] {
        for split in 0..=text.len() {
            let (first, second) = text.as_bytes().split_at(split);
            let mut state = State::default();
            for mut bytes in [first, second] {
                while !bytes.is_empty() {
                    state.admitted = Admitted::Head;
                    bytes = &bytes[state.admit(bytes)..];
                }
            }
            assert_eq!(state.head.is_head(), expected, "{text:?} at {split}");
        }
    }
}

/// The defect of actix-http that this gate works around. Once this test fails, the gate is no longer needed.
#[actix_web::test]
async fn without_the_gate_a_pipelined_request_changes_the_previous_answer() {
    // An answer that is not ready immediately, so that the next request is decoded first.
    let answer = || async {
        tokio::task::yield_now().await;
        "the body"
    };
    let server = HttpServer::new(move || App::new().default_service(web::to(answer)));
    let server = server.workers(1).disable_signals().bind(("127.0.0.1", 0)).unwrap();
    let address = *server.addrs().first().unwrap();
    let server = server.run();
    let handle = server.handle();
    actix_web::rt::spawn(server);
    let exchange = move |methods: [&'static str; 2]| {
        web::block(move || {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            let [first, second] = methods;
            let close = "Host: x\r\nConnection: close\r\n\r\n";
            let requests = format!("{first} / HTTP/1.1\r\nHost: x\r\n\r\n{second} / HTTP/1.1\r\n{close}");
            stream.write_all(requests.as_bytes()).unwrap();
            let mut answers = String::new();
            stream.read_to_string(&mut answers).unwrap();
            answers.matches("the body").count()
        })
    };
    assert_eq!(exchange(["GET", "GET"]).await.unwrap(), 2);
    assert_eq!(exchange(["HEAD", "HEAD"]).await.unwrap(), 0);
    assert_eq!(exchange(["GET", "HEAD"]).await.unwrap(), 0, "the GET lost its body");
    assert_eq!(exchange(["HEAD", "GET"]).await.unwrap(), 2, "the HEAD got a body");
    handle.stop(false).await;
}
