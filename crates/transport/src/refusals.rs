//! The failure envelope for requests that the web server's parser refuses.
//!
//! actix-http answers a malformed head (400), one that is too large (431) or too slow (408) itself, before
//! there is a request: with its own head, no body, and no hook for another answer (`poll_request` and
//! `poll_head_timer` of `h1/dispatcher.rs`, version 3.20). The stream recognises such a head as it is
//! written, and writes the envelope instead. No answer of the service looks like one, since each has a
//! request id.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::body::MessageBody as _;
use actix_web::http::StatusCode;
use actix_web::rt::net::TcpStream;
use actix_web::rt::time::{Sleep, sleep};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::request_gate::RequestGate;

/// Makes the response to a request that the parser refused with a status.
pub(crate) type Refuse = Arc<dyn Fn(StatusCode) -> HttpResponse>;

/// The maximum length of the parser's refusal, in bytes.
const LONGEST_HEAD: usize = 256;
/// The time for which a refused client may keep sending. Closing a connection with unread bytes resets it,
/// and the reset may overtake the answer.
const LINGER: Duration = Duration::from_secs(1);
/// The maximum number of bytes read during that time.
const MAX_UNREAD: usize = 1 << 20;
const CHUNK: usize = 8_192;

/// A client connection that delivers one request at a time, and sends the parser's refusals as envelopes.
pub(crate) struct Stream {
    tcp: TcpStream,
    gate: RequestGate,
    refuse: Refuse,
    refusal: Option<Refusal>,
}

/// An envelope being sent in place of the parser's answer.
struct Refusal {
    answer: Vec<u8>,
    written: usize,
    /// The number of bytes received since then.
    undrained_body: usize,
    /// The end of reading from the client; set once the answer is written.
    end: Option<Pin<Box<Sleep>>>,
}

impl Stream {
    /// Wraps the connection.
    pub(crate) fn new(tcp: TcpStream, refuse: Refuse) -> Self {
        Self { tcp, gate: RequestGate::default(), refuse, refusal: None }
    }

    /// The underlying TCP connection.
    pub(crate) const fn tcp(&self) -> &TcpStream {
        &self.tcp
    }

    /// The gate in front of its requests.
    pub(crate) const fn gate(&self) -> &RequestGate {
        &self.gate
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { tcp, gate, .. } = self.get_mut();
        gate.poll_read(tcp, context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Self { tcp, gate, refuse, refusal } = self.get_mut();
        if refusal.is_none() {
            match Bare::at_the_end_of(bytes) {
                None => return Pin::new(tcp).poll_write(context, bytes),
                Some(bare) if !bare.before.is_empty() => {
                    return Pin::new(tcp).poll_write(context, bare.before);
                }
                Some(bare) => *refusal = Some(Refusal::instead_of(&bare, refuse, gate.is_head())),
            }
        }
        if let Some(refusal) = refusal {
            ready!(refusal.poll_sent(tcp, context))?;
        }
        *refusal = None;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_shutdown(context)
    }
}

impl Refusal {
    fn instead_of(bare: &Bare<'_>, refuse: &Refuse, is_head: bool) -> Self {
        let (head, body) = refuse(bare.status).into_parts();
        let body = body.try_into_bytes().unwrap_or_default();
        let reason = bare.status.canonical_reason().unwrap_or_default();
        let mut answer = format!(
            "HTTP/1.{} {} {reason}\r\ncontent-length: {}\r\nconnection: close\r\ndate: {}\r\n",
            bare.minor_version,
            bare.status.as_str(),
            body.len(),
            bare.date,
        )
        .into_bytes();
        for (name, value) in head.headers() {
            answer.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        answer.extend(b"\r\n");
        if !is_head {
            answer.extend(body);
        }
        Self { answer, written: 0, undrained_body: 0, end: None }
    }

    /// Writes the answer, then keeps reading for a limited time so that the client can read it.
    fn poll_sent(&mut self, tcp: &mut TcpStream, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest) = self.answer.get(self.written..).filter(|rest| !rest.is_empty()) {
            let count = ready!(Pin::new(&mut *tcp).poll_write(context, rest))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written = self.written.saturating_add(count);
        }
        if self.end.is_none() {
            ready!(Pin::new(&mut *tcp).poll_shutdown(context))?;
            self.end = Some(Box::pin(sleep(LINGER)));
        }
        let over = self.end.as_mut().is_none_or(|end| end.as_mut().poll(context).is_ready());
        while !over && self.undrained_body < MAX_UNREAD {
            let mut chunk = [0; CHUNK];
            let mut chunk = ReadBuf::new(&mut chunk);
            let read = ready!(Pin::new(&mut *tcp).poll_read(context, &mut chunk));
            if read.is_err() || chunk.filled().is_empty() {
                break;
            }
            self.undrained_body = self.undrained_body.saturating_add(chunk.filled().len());
        }
        Poll::Ready(Ok(()))
    }
}

/// A refusal written by the parser.
struct Bare<'a> {
    /// The bytes before it: answers to earlier requests.
    before: &'a [u8],
    status: StatusCode,
    minor_version: u8,
    date: String,
}

impl<'a> Bare<'a> {
    /// The refusal at the end of these bytes, which are never a partial one: a refusal is written last.
    fn at_the_end_of(bytes: &'a [u8]) -> Option<Self> {
        if !bytes.ends_with(b"\r\n\r\n") {
            return None;
        }
        let (_, tail) = bytes.split_at_checked(bytes.len().saturating_sub(LONGEST_HEAD))?;
        let start = tail.windows(7).rposition(|window| window == b"HTTP/1.")?;
        let length = tail.len().checked_sub(start)?;
        let (before, head) = bytes.split_at_checked(bytes.len().checked_sub(length)?)?;
        let mut headers = [httparse::EMPTY_HEADER; 3];
        let mut parsed = httparse::Response::new(&mut headers);
        if !matches!(parsed.parse(head), Ok(httparse::Status::Complete(whole)) if whole == length) {
            return None;
        }
        let status = StatusCode::from_u16(parsed.code?).ok()?;
        let mut date = None;
        let mut is_empty = false;
        for header in parsed.headers.iter() {
            match header.name {
                "content-length" => is_empty = header.value == b"0",
                "date" => date = Some(String::from_utf8(header.value.to_vec()).ok()?),
                "connection" => {}
                _ => return None,
            }
        }
        let failed = status.is_client_error() || status.is_server_error();
        let found = Self { before, status, minor_version: parsed.version?, date: date? };
        (failed && is_empty).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "date: Thu, 01 Jan 2026 00:00:00 GMT\r\n";

    fn bare(text: &str) -> Option<(String, u16)> {
        let found = Bare::at_the_end_of(text.as_bytes())?;
        Some((String::from_utf8(found.before.to_vec()).unwrap(), found.status.as_u16()))
    }

    #[test]
    fn parser_refusals_are_recognized_alone_and_after_another_answer() {
        let refusal =
            |line: &str| format!("HTTP/1.1 {line}\r\ncontent-length: 0\r\nconnection: close\r\n{DATE}\r\n");
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-request-id: a\r\n\r\n{}";
        for (line, status) in [
            ("400 Bad Request", 400),
            ("408 Request Timeout", 408),
            ("431 Request Header Fields Too Large", 431),
        ] {
            assert_eq!(bare(&refusal(line)), Some((String::new(), status)));
            let second = format!("{answer}{}", refusal(line));
            assert_eq!(bare(&second), Some((answer.to_owned(), status)));
        }
    }

    #[test]
    fn service_responses_are_not_mistaken_for_parser_refusals() {
        for answer in [
            "HTTP/1.1 100 Continue\r\n\r\n".to_owned(),
            format!("HTTP/1.1 204 No Content\r\n{DATE}\r\n"),
            format!("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n{DATE}\r\n"),
            // The head of a failure whose body follows in the next write.
            format!("HTTP/1.1 404 Not Found\r\ncontent-length: 90\r\n{DATE}\r\n"),
            format!("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nx-request-id: a\r\n{DATE}\r\n"),
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n".to_owned(),
            "text that ends with empty lines\r\n\r\n".to_owned(),
            format!("{} \r\n\r\n", "HTTP/1.".repeat(100)),
        ] {
            assert_eq!(bare(&answer), None, "{answer}");
        }
    }
}
