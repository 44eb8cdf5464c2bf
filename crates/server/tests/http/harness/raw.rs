//! Raw bytes over a socket, for requests that a client library would not send.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use ureq::http::{HeaderMap, HeaderName, HeaderValue};

use crate::harness::Answer;

/// Sends these bytes and returns everything received until the server closes; the request must ask for that.
pub(crate) fn exchange(address: &str, request: &[u8]) -> String {
    let host = address.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// The consecutive answers, delimited by their declared lengths.
pub(crate) fn answers(mut said: &str) -> Vec<Answer> {
    let mut answers = Vec::new();
    while let Some((head, rest)) = said.split_once("\r\n\r\n") {
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap().parse().unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap())
        };
        let headers: HeaderMap = lines.map(header).collect();
        let length: usize = headers["content-length"].to_str().unwrap().parse().unwrap();
        let (text, next) = rest.split_at(length);
        answers.push(Answer { asked: head.to_owned(), status, headers, text: text.to_owned() });
        said = next;
    }
    assert!(said.is_empty(), "more than answers: {said:?}");
    answers
}
