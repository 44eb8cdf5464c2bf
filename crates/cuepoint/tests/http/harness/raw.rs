//! Raw bytes over a socket, for requests that a client library would not send.

use std::io::{BufRead, BufReader, Read, Write};
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
        answers.push(Answer { request: head.to_owned(), status, headers, text: text.to_owned() });
        said = next;
    }
    assert!(said.is_empty(), "more than answers: {said:?}");
    answers
}

/// A connection that stays open between requests.
pub(crate) struct RawConnection(BufReader<TcpStream>);

impl RawConnection {
    pub(crate) fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address.strip_prefix("http://").unwrap()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Self(BufReader::new(stream))
    }

    /// Sends these bytes at once.
    pub(crate) fn send(&mut self, requests: &str) {
        self.0.get_mut().write_all(requests.as_bytes()).unwrap();
    }

    /// The head of the next answer, without its body.
    pub(crate) fn head(&mut self) -> Answer {
        let mut lines = Vec::new();
        loop {
            let line = self.line();
            if line.is_empty() {
                break;
            }
            lines.push(line);
        }
        let mut status = lines[0].split(' ');
        assert!(status.next().unwrap().starts_with("HTTP/1."), "no answer: {lines:?}");
        let header = |line: &String| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap())
        };
        Answer {
            request: lines[0].clone(),
            status: status.next().unwrap().parse().unwrap(),
            headers: lines[1..].iter().map(header).collect(),
            text: String::new(),
        }
    }

    /// The next answer with its body; of an endless one, the first chunk.
    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        if let Some(length) = answer.header("content-length") {
            answer.text = self.text(length.parse().unwrap());
            return answer;
        }
        assert_eq!(answer.header("transfer-encoding"), Some("chunked"), "{answer}");
        loop {
            let size = usize::from_str_radix(&self.line(), 16).unwrap();
            let chunk = self.text(size + 2);
            answer.text.push_str(chunk.strip_suffix("\r\n").unwrap());
            if size == 0 || answer.header("content-type") == Some("text/event-stream") {
                return answer;
            }
        }
    }

    /// The rest until the server closes.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).unwrap();
        rest
    }

    /// The next line of a body.
    pub(crate) fn line_of_text(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line
    }

    /// The next line of a head, without its end.
    fn line(&mut self) -> String {
        let line = self.line_of_text();
        line.strip_suffix("\r\n").unwrap_or_else(|| panic!("{line:?}")).to_owned()
    }

    fn text(&mut self, length: usize) -> String {
        let mut text = vec![0; length];
        self.0.read_exact(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }
}
