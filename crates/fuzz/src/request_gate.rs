//! Requests on a connection: through the gate, the parser reads what it would read without it, at any split of the
//! bytes, and nothing of a request before the answer to the previous one begins.

use std::io;
use std::iter::{Copied, Cycle};
use std::pin::Pin;
use std::slice;
use std::task::{Context, Poll, Waker};

use actix_http::Request;
use actix_http::h1::{Codec, Message, MessageType};
use actix_web::HttpMessage;
use actix_web::dev::Payload;
use actix_web::http::{ConnectionType, Method};
use actix_web::test::TestRequest;
use actix_web::web::BytesMut;
use cuepoint_transport::request_gate::RequestGate;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::task::LocalSet;
use tokio_util::codec::Decoder;

use crate::split;

/// The size of the buffer of a read, in bytes.
const BUFFER: usize = 4_096;

/// The input is a line with a byte for the length of each read, as a distance from the digit 0, and what a client
/// sends.
pub(crate) fn check(input: &[u8]) {
    let (lengths, sent) = split(input);
    // The parser starts a clock, which is never polled.
    let local = LocalSet::new();
    let _guard = local.enter();
    let direct = Reader::new(None, sent, &[]).read(Answered::AfterBody);
    for answered in [Answered::AfterBody, Answered::BeforeBody] {
        let gated = |lengths| Reader::new(Some(RequestGate::default()), sent, lengths).read(answered);
        let (whole, parts) = (gated(&[]), gated(if lengths.is_empty() { b"1" } else { lengths }));
        assert_eq!(parts.heads(), whole.heads(), "{answered:?}");
        let both = parts.passed.len().min(whole.passed.len());
        assert_eq!(parts.passed.get(..both), whole.passed.get(..both), "{answered:?}");
        assert_eq!(parts.is_refused, whole.is_refused, "{answered:?}");
        // Behind an error, the parser may have got more of what arrived with it.
        assert!(whole.is_refused || parts == whole, "{answered:?}: {parts:?} {whole:?}");
        check_direct(&whole, &direct);
    }
}

/// Checks that the parser reads the same without the gate, up to a trailer with a bare line feed, which it takes.
fn check_direct(gated: &Conversation, direct: &Conversation) {
    if gated.is_refused && gated.passed.ends_with(b"\r\r") {
        assert!(direct.heads().starts_with(&gated.heads()), "{gated:?} {direct:?}");
    } else {
        assert_eq!(gated.requests, direct.requests);
        assert_eq!(gated.is_refused, direct.is_refused);
    }
}

/// When a request is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answered {
    AfterBody,
    BeforeBody,
}

/// What the parser read.
#[derive(PartialEq, Eq, Debug, Default)]
struct Conversation {
    requests: Vec<Exchange>,
    /// Whether it found an error.
    is_refused: bool,
    /// The bytes that it got.
    passed: Vec<u8>,
}

/// A request.
#[derive(PartialEq, Eq, Debug)]
struct Exchange {
    head: String,
    body: Vec<u8>,
    is_complete: bool,
}

impl Conversation {
    fn heads(&self) -> Vec<&str> {
        self.requests.iter().map(|request| request.head.as_str()).collect()
    }
}

/// What a client sends, in reads of these lengths; all at once if there are none.
struct Source<'a> {
    rest: &'a [u8],
    lengths: Cycle<Copied<slice::Iter<'a, u8>>>,
}

impl Source<'_> {
    fn next_length(&mut self) -> usize {
        self.lengths.next().map_or(BUFFER, |byte| byte.wrapping_sub(b'0').max(1).into())
    }
}

impl AsyncRead for Source<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let length = self.next_length().min(buffer.remaining()).min(self.rest.len());
        let (read, rest) = self.rest.split_at(length);
        buffer.put_slice(read);
        self.rest = rest;
        // The client waits for answers.
        if read.is_empty() { Poll::Pending } else { Poll::Ready(Ok(())) }
    }
}

/// The parser of a connection.
struct Reader<'a> {
    source: Source<'a>,
    gate: Option<RequestGate>,
    codec: Codec,
    unread: BytesMut,
    said: Conversation,
}

impl<'a> Reader<'a> {
    fn new(gate: Option<RequestGate>, sent: &'a [u8], lengths: &'a [u8]) -> Self {
        let source = Source { rest: sent, lengths: lengths.iter().copied().cycle() };
        Self { source, gate, codec: Codec::default(), unread: BytesMut::new(), said: Conversation::default() }
    }

    /// Reads and answers requests until one closes the connection.
    fn read(mut self, answered: Answered) -> Conversation {
        let mut connection = ConnectionType::KeepAlive;
        loop {
            match self.codec.decode(&mut self.unread) {
                Ok(Some(Message::Item(request))) => {
                    connection = request.head().connection_type();
                    let has_body = self.codec.message_type() != MessageType::None;
                    self.begin(&request, has_body);
                    if !has_body {
                        self.ensure_nothing_is_passed();
                    }
                    if !has_body || answered == Answered::BeforeBody {
                        self.answer(connection);
                    }
                    if request.head().method == Method::CONNECT || !has_body && !is_kept(connection) {
                        return self.said;
                    }
                }
                Ok(Some(Message::Chunk(Some(bytes)))) => {
                    if let Some(last) = self.said.requests.last_mut() {
                        last.body.extend_from_slice(&bytes);
                    }
                }
                Ok(Some(Message::Chunk(None))) => {
                    if let Some(last) = self.said.requests.last_mut() {
                        last.is_complete = true;
                    }
                    if answered == Answered::AfterBody {
                        self.ensure_nothing_is_passed();
                        self.answer(connection);
                    }
                    if !is_kept(connection) {
                        return self.said;
                    }
                }
                Ok(None) if self.pass() => {}
                Ok(None) => return self.said,
                Err(_) => {
                    self.said.is_refused = true;
                    return self.said;
                }
            }
        }
    }

    /// Takes up a request.
    fn begin(&mut self, request: &Request, has_body: bool) {
        self.ensure_nothing_is_passed();
        let head = format!("{:?}", request.head());
        self.said.requests.push(Exchange { head, body: Vec::new(), is_complete: !has_body });
        if let Some(gate) = &self.gate {
            let taken = request.headers().iter().fold(TestRequest::default(), TestRequest::append_header);
            let mut taken = taken.to_srv_request();
            if !has_body {
                taken.set_payload(Payload::None);
            }
            gate.begin(&taken);
        }
    }

    fn answer(&self, connection: ConnectionType) {
        if let Some(gate) = &self.gate {
            gate.end(connection);
        }
    }

    /// Checks that the gate keeps what follows a head or a body.
    fn ensure_nothing_is_passed(&mut self) {
        if self.gate.is_some() {
            assert!(self.unread.is_empty() && !self.pass(), "passed before the answer: {:?}", self.unread);
        }
    }

    /// Passes what the next read gives, and returns whether that is anything.
    fn pass(&mut self) -> bool {
        let room = self.source.next_length();
        let mut bytes = [0; BUFFER];
        let mut buffer = ReadBuf::new(bytes.get_mut(..room).unwrap_or_default());
        let mut context = Context::from_waker(Waker::noop());
        let polled = match &self.gate {
            Some(gate) => gate.poll_read(&mut self.source, &mut context, &mut buffer),
            None => Pin::new(&mut self.source).poll_read(&mut context, &mut buffer),
        };
        assert!(polled.is_ready() || buffer.filled().is_empty(), "bytes without a notice");
        self.unread.extend_from_slice(buffer.filled());
        self.said.passed.extend_from_slice(buffer.filled());
        !buffer.filled().is_empty()
    }
}

fn is_kept(connection: ConnectionType) -> bool {
    connection == ConnectionType::KeepAlive
}
