//! One request at a time on each connection.
//!
//! actix-http decodes the next request while the previous one is handled. It encodes each answer by the method and
//! version of the request that it decoded last (`Codec` in `h1/codec.rs`, version 3.20). A HEAD behind a GET
//! therefore removes the body from the answer to the GET, and a GET behind a HEAD adds one to the answer to the HEAD.
//! The gate withholds the bytes behind a request until its answer begins.

use std::cell::RefCell;
use std::io;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use actix_web::dev::{Payload, ServiceRequest};
use actix_web::http::ConnectionType;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::web::BytesMut;
use memchr::memchr;
use tokio::io::{AsyncRead, ReadBuf};

/// The beginning of a HEAD request.
const HEAD: &[u8] = b"HEAD ";
/// What the parser reads instead of a bare line feed in a trailer. It refuses this anywhere outside of data.
const REFUSED: &[u8] = b"\r\r";
/// The number of withheld bytes at which reading stops.
const MOST_HELD: usize = 64 * 1024;

/// The gate of a connection.
#[derive(Clone, Default)]
pub struct RequestGate(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    admitted: Admitted,
    /// Whether the request is answered and another may follow.
    is_next_admitted: bool,
    head: Head,
    /// Received bytes behind the admitted ones.
    held: BytesMut,
    /// Woken when they are admitted.
    waker: Option<Waker>,
}

/// What the server may read next.
#[derive(Default)]
enum Admitted {
    /// The rest of a head.
    #[default]
    Head,
    /// Nothing until the request is processed or answered.
    Nothing,
    /// This many bytes of a body.
    Body(u64),
    /// The rest of a chunked body.
    Chunks(ChunkedBody),
    /// None of the received bytes. The parser gets [`REFUSED`], answers 400 and closes the connection.
    Refused,
    /// Everything, because no further requests follow on this connection.
    Everything,
}

impl RequestGate {
    /// Reads the admitted bytes.
    ///
    /// # Errors
    /// Those of the connection.
    pub fn poll_read(
        &self,
        connection: &mut (impl AsyncRead + Unpin),
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut guard = self.0.borrow_mut();
        let state = &mut *guard;
        loop {
            let count = state.take_held(buffer);
            if count > 0 {
                return Poll::Ready(Ok(()));
            }
            if state.held.len() >= MOST_HELD {
                break;
            }
            let before = buffer.filled().len();
            // Read even while nothing is admitted, to notice the end of the connection.
            if Pin::new(&mut *connection).poll_read(context, buffer)?.is_pending() {
                break;
            }
            let read = buffer.filled().get(before..).unwrap_or_default();
            let has_ended = read.is_empty();
            let count = if state.held.is_empty() { state.admit(read) } else { 0 };
            if count == read.len() && state.held.is_empty() {
                return Poll::Ready(Ok(()));
            }
            state.held.extend_from_slice(read.get(count..).unwrap_or_default());
            buffer.set_filled(before.saturating_add(count));
            if count > 0 {
                return Poll::Ready(Ok(()));
            }
            if has_ended {
                break;
            }
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// Admits the body of a request that is taken up.
    pub fn begin(&self, request: &ServiceRequest) {
        let (request, payload) = request.parts();
        let headers = request.headers();
        let admitted = match payload {
            Payload::None => Admitted::Nothing,
            _ if headers.contains_key(header::TRANSFER_ENCODING) => Admitted::Chunks(ChunkedBody::default()),
            _ if wants_web_socket(headers) => Admitted::Everything,
            _ => {
                let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
                length
                    .and_then(|length| length.trim().parse().ok())
                    .map_or(Admitted::Everything, Admitted::Body)
            }
        };
        self.change(|state| (state.admitted, state.is_next_admitted) = (admitted, false));
    }

    /// Admits the next request behind the rest of the body, unless the connection closes after this answer.
    pub fn end(&self, connection: ConnectionType) {
        self.change(|state| {
            state.is_next_admitted = connection == ConnectionType::KeepAlive;
            if matches!(state.admitted, Admitted::Nothing) {
                state.admitted = state.next();
            }
        });
    }

    /// Whether the request that was read last, complete or not, is a HEAD.
    #[must_use]
    pub fn is_head(&self) -> bool {
        self.0.borrow().head.is_head()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let waker = {
            let mut state = self.0.borrow_mut();
            change(&mut state);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl State {
    /// Moves the withheld bytes that are admitted, and returns their number.
    fn take_held(&mut self, buffer: &mut ReadBuf<'_>) -> usize {
        if self.held.is_empty() {
            return 0;
        }
        let mut held = mem::take(&mut self.held);
        let fitting = held.len().min(buffer.remaining());
        let mut count = self.admit(held.get(..fitting).unwrap_or_default());
        if count == 0 && matches!(self.admitted, Admitted::Refused) {
            (held, self.admitted) = (BytesMut::from(REFUSED), Admitted::Everything);
            count = held.len().min(buffer.remaining());
        }
        buffer.put_slice(&held.split_to(count));
        self.held = held;
        count
    }

    /// The number of bytes at the beginning of these that are admitted.
    fn admit(&mut self, bytes: &[u8]) -> usize {
        let end = match &mut self.admitted {
            Admitted::Everything => None,
            Admitted::Nothing | Admitted::Refused => return 0,
            Admitted::Head => {
                let end = self.head.end(bytes);
                self.is_next_admitted &= end.is_none();
                end
            }
            Admitted::Body(left) => end_of_bytes(left, bytes),
            Admitted::Chunks(body) => {
                let end = body.end(bytes);
                if matches!(body, ChunkedBody::Malformed) {
                    self.admitted = Admitted::Refused;
                    return end.unwrap_or_default();
                }
                end
            }
        };
        if end.is_some() {
            self.admitted = self.next();
        }
        end.unwrap_or(bytes.len())
    }

    /// What is admitted behind the request.
    const fn next(&self) -> Admitted {
        if self.is_next_admitted { Admitted::Head } else { Admitted::Nothing }
    }
}

/// Whether the call requests an upgrade to a web socket, which no route supports, with a body that is not
/// chunked: the web server then takes everything until the end of the connection for the body, regardless of its
/// declared length.
#[must_use]
pub fn wants_web_socket(headers: &HeaderMap) -> bool {
    let wanted = |value: &HeaderValue| {
        value.to_str().is_ok_and(|value| value.trim().eq_ignore_ascii_case("websocket"))
    };
    headers.get_all(header::UPGRADE).any(wanted) && !headers.contains_key(header::TRANSFER_ENCODING)
}

/// Consumes bytes of a body with `left` bytes; returns the number of consumed bytes at its end.
fn end_of_bytes(left: &mut u64, bytes: &[u8]) -> Option<usize> {
    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
    *left = left.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
    (*left == 0).then_some(count)
}

/// The head of a request as far as it was read.
#[derive(Default)]
struct Head {
    is_complete: bool,
    has_begun: bool,
    /// The number of its first bytes that match a HEAD request; `None` after a mismatch.
    like_head: Option<usize>,
    line: Line,
}

/// The current line of a head.
#[derive(Clone, Copy, Default)]
enum Line {
    #[default]
    Text,
    Empty,
    /// Empty but for a carriage return.
    Return,
}

impl Head {
    /// The number of bytes up to its end, where an empty line is; `None` if the end is not among them.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        if self.is_complete {
            *self = Self::default();
        }
        let mut at = 0_usize;
        if !self.has_begun {
            // The parser, too, skips empty lines before a request.
            at = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
            (self.has_begun, self.like_head) = (true, Some(0));
        }
        self.compare(bytes.get(at..)?);
        while let Some(rest) = bytes.get(at..) {
            if matches!(self.line, Line::Text) {
                at = at.saturating_add(memchr(b'\n', rest)?).saturating_add(1);
                self.line = Line::Empty;
                continue;
            }
            let byte = rest.first()?;
            at = at.saturating_add(1);
            self.line = match (self.line, byte) {
                (_, b'\n') => {
                    self.is_complete = true;
                    return Some(at);
                }
                (Line::Empty, b'\r') => Line::Return,
                _ => Line::Text,
            };
        }
        None
    }

    fn compare(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match self.like_head {
                Some(count) if HEAD.get(count) == Some(byte) => self.like_head = count.checked_add(1),
                Some(count) if count < HEAD.len() => self.like_head = None,
                _ => return,
            }
        }
    }

    fn is_head(&self) -> bool {
        self.like_head == Some(HEAD.len())
    }
}

/// A chunked body as far as it was read. What the parser refuses need not be found here.
#[derive(Clone, Copy)]
enum ChunkedBody {
    /// In the size of a chunk, which is this so far.
    Size(u64),
    /// Between the size and the end of its line.
    Extension(u64),
    /// This many bytes before the end of a chunk.
    Data(u64),
    /// Between a chunk and the next line.
    End,
    /// In a line after the last chunk, which has no byte but a carriage return if it is empty.
    Trailer { is_empty: bool, has_return: bool },
    /// Before a line feed in a trailer that no carriage return precedes. The parser reads on, while other programs end
    /// the body there.
    Malformed,
}

impl Default for ChunkedBody {
    fn default() -> Self {
        Self::Size(0)
    }
}

impl ChunkedBody {
    /// The number of bytes up to its end or up to a malformed one; `None` if neither is among them.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0_usize;
        loop {
            let rest = bytes.get(at..)?;
            if let Self::Data(left) = self {
                at = at.saturating_add(end_of_bytes(left, rest)?);
                *self = Self::End;
                continue;
            }
            let byte = *rest.first()?;
            if byte == b'\n' && matches!(self, Self::Trailer { has_return: false, .. }) {
                *self = Self::Malformed;
                return Some(at);
            }
            at = at.saturating_add(1);
            if byte == b'\n' && matches!(self, Self::Trailer { is_empty: true, .. }) {
                return Some(at);
            }
            *self = self.after(byte);
        }
    }

    /// The state after a byte outside the data.
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Size(0) | Self::Extension(0) | Self::Trailer { .. }, b'\n') => {
                Self::Trailer { is_empty: true, has_return: false }
            }
            (Self::Size(size) | Self::Extension(size), b'\n') => Self::Data(size),
            (Self::End, b'\n') => Self::Size(0),
            (Self::Size(size), _) => match char::from(byte).to_digit(16) {
                Some(digit) => Self::Size(size.saturating_mul(16).saturating_add(digit.into())),
                None => Self::Extension(size),
            },
            (Self::Trailer { is_empty, .. }, _) => {
                let has_return = byte == b'\r';
                Self::Trailer { is_empty: is_empty && has_return, has_return }
            }
            (other, _) => other,
        }
    }
}

#[cfg(test)]
mod tests;
