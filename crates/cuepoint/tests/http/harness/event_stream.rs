//! A client of streams of events.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;
use socket2::{Domain, Socket, Type};
use ureq::http::{HeaderMap, HeaderName, HeaderValue};

use super::{Answer, Person};

/// The time within which something has to arrive: a comment comes every 15 seconds.
const WITHIN: Duration = Duration::from_secs(20);

/// A connection with small segments and a small receive buffer, so that few events fill the buffers of both sides while
/// they are not read.
///
/// # Errors
/// Those of the connection.
fn narrow_connection(address: &str) -> io::Result<TcpStream> {
    let address: SocketAddr = address.parse().map_err(io::Error::other)?;
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_tcp_mss(536)?;
    socket.set_recv_buffer_size(4_096)?;
    socket.connect(&address.into())?;
    Ok(socket.into())
}

/// A received event.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Received {
    pub(crate) id: i64,
    pub(crate) event_type: String,
    pub(crate) data: Value,
}

/// What a stream sends.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Message {
    Event(Received),
    /// The beginning: where to resume, and the time after which to reconnect, in milliseconds.
    Begin {
        id: i64,
        retry: u64,
    },
    /// A comment with the position after which to resume.
    Comment(i64),
}

/// An open stream.
pub(crate) struct EventStream {
    socket: BufReader<Cut>,
    pub(crate) headers: HeaderMap,
    /// What was received and is not a whole message yet.
    text: String,
}

/// A connection that its client can cut at any byte.
struct Cut {
    socket: TcpStream,
    /// The number of bytes until then.
    left: usize,
}

impl Read for Cut {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let end = into.len().min(self.left);
        let read = self.socket.read(&mut into[..end])?;
        self.left -= read;
        Ok(read)
    }
}

impl Person {
    /// Opens a stream at this path, which may contain parameters, with further headers.
    pub(crate) fn stream(&self, path: &str, headers: &[(&str, &str)]) -> EventStream {
        self.try_stream(path, headers).unwrap_or_else(|answer| panic!("{answer:?}"))
    }

    /// The same, or the answer to a refused stream.
    pub(crate) fn try_stream(
        &self,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<EventStream, Box<Answer>> {
        self.stream_of(path, headers, usize::MAX).unwrap()
    }

    /// The same; the connection is cut after this many bytes.
    ///
    /// # Errors
    /// When it breaks off before the head is complete.
    pub(crate) fn stream_of(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        bytes: usize,
    ) -> io::Result<Result<EventStream, Box<Answer>>> {
        let host = self.client.address.strip_prefix("http://").unwrap().to_owned();
        let mut socket = narrow_connection(&host)?;
        socket.set_read_timeout(Some(WITHIN))?;
        let token = &self.token;
        let mut head =
            format!("GET /api/v1{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        socket.write_all(head.as_bytes())?;
        EventStream::begin(Cut { socket, left: bytes }, head)
    }
}

impl EventStream {
    fn begin(socket: Cut, request: String) -> io::Result<Result<Self, Box<Answer>>> {
        let mut socket = BufReader::new(socket);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            socket.read_line(&mut line)?;
            match line.strip_suffix("\r\n") {
                Some("") => break,
                Some(line) => lines.push(line.to_owned()),
                None => return Err(ErrorKind::UnexpectedEof.into()),
            }
        }
        let status: u16 = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
        let header = |line: &String| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap())
        };
        let headers: HeaderMap = lines[1..].iter().map(header).collect();
        if status == 200 {
            return Ok(Ok(Self { socket, headers, text: String::new() }));
        }
        let mut text = vec![0; headers["content-length"].to_str().unwrap().parse().unwrap()];
        socket.read_exact(&mut text)?;
        let text = String::from_utf8(text).unwrap();
        Ok(Err(Box::new(Answer { request, status, headers, text })))
    }

    /// The next message; `None` at the end of the stream.
    ///
    /// # Errors
    /// When the connection breaks off, or nothing arrives in time.
    pub(crate) fn try_next(&mut self) -> io::Result<Option<Message>> {
        Ok(self.try_block()?.map(|block| parsed(&block)))
    }

    /// The lines of the next message; `None` at the end of the stream.
    pub(crate) fn block(&mut self) -> Option<String> {
        self.try_block().unwrap()
    }

    fn try_block(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Ok(Some(block));
            }
            match self.chunk()? {
                Some(chunk) => self.text.push_str(&chunk),
                None => return Ok(None),
            }
        }
    }

    /// A chunk of the body.
    fn chunk(&mut self) -> io::Result<Option<String>> {
        let broken = || io::Error::from(ErrorKind::UnexpectedEof);
        let mut size = String::new();
        self.socket.read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim_end(), 16).map_err(|_| broken())?;
        let mut chunk = vec![0; size + 2];
        self.socket.read_exact(&mut chunk)?;
        chunk.truncate(size);
        Ok((size > 0).then(|| String::from_utf8(chunk).unwrap()))
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) fn event(&mut self) -> Option<Received> {
        loop {
            match self.try_next().unwrap() {
                Some(Message::Event(event)) => return Some(event),
                Some(Message::Begin { .. } | Message::Comment(_)) => {}
                None => return None,
            }
        }
    }

    /// This many next events.
    pub(crate) fn events(&mut self, count: usize) -> Vec<Received> {
        (0..count).map(|_| self.event().expect("the stream ended")).collect()
    }

    /// The next event, or `None` at the end of the stream; either has to come within this time.
    pub(crate) fn event_within(&mut self, time: Duration) -> Option<Received> {
        let start = Instant::now();
        loop {
            let message = self.try_next().unwrap();
            assert!(start.elapsed() < time, "after {:?}: {message:?}", start.elapsed());
            match message {
                Some(Message::Event(event)) => return Some(event),
                Some(Message::Begin { .. } | Message::Comment(_)) => {}
                None => return None,
            }
        }
    }

    /// The events until the end of the stream.
    pub(crate) fn rest(&mut self) -> Vec<Received> {
        std::iter::from_fn(|| self.event()).collect()
    }
}

fn parsed(message: &str) -> Message {
    let field = |name: &str| {
        let values = message.lines().filter_map(|line| line.split_once(": ")).filter(|(key, _)| *key == name);
        let values: Vec<&str> = values.map(|(_, value)| value).collect();
        let [value] = values[..] else { panic!("{name} in {message:?}") };
        value.to_owned()
    };
    let id = field("id").parse().unwrap();
    if message.starts_with(":\n") {
        return Message::Comment(id);
    }
    if message.contains("\nretry: ") {
        return Message::Begin { id, retry: field("retry").parse().unwrap() };
    }
    Message::Event(Received {
        id,
        event_type: field("event"),
        data: serde_json::from_str(&field("data")).unwrap(),
    })
}
