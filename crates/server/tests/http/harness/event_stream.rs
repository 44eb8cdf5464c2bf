//! A client of streams of events.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use ureq::http::{HeaderMap, HeaderName, HeaderValue};

use super::{Answer, Person};

/// The time within which something has to arrive: a comment comes every 15 seconds.
const WITHIN: Duration = Duration::from_secs(20);

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
    /// The time after which to reconnect, in milliseconds.
    Retry(u64),
    Comment,
}

/// An open stream.
pub(crate) struct EventStream {
    socket: BufReader<TcpStream>,
    pub(crate) headers: HeaderMap,
    /// What was received and is not a whole line yet.
    text: String,
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
        let host = self.client.address.strip_prefix("http://").unwrap().to_owned();
        let mut socket = TcpStream::connect(&host).unwrap();
        socket.set_read_timeout(Some(WITHIN)).unwrap();
        let token = &self.token;
        let mut head =
            format!("GET /api/v1{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        socket.write_all(head.as_bytes()).unwrap();
        EventStream::begin(socket, head)
    }
}

impl EventStream {
    fn begin(socket: TcpStream, asked: String) -> Result<Self, Box<Answer>> {
        let mut socket = BufReader::new(socket);
        let mut line = || {
            let mut line = String::new();
            socket.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let status: u16 = line().split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = HeaderMap::new();
        loop {
            let line = line();
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.insert(name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap());
        }
        if status == 200 {
            return Ok(Self { socket, headers, text: String::new() });
        }
        let length: usize = headers["content-length"].to_str().unwrap().parse().unwrap();
        let mut body = vec![0; length];
        std::io::Read::read_exact(&mut socket, &mut body).unwrap();
        Err(Box::new(Answer { asked, status, headers, text: String::from_utf8(body).unwrap() }))
    }

    /// The next message; `None` at the end of the stream.
    ///
    /// # Errors
    /// When the connection breaks off, or nothing arrives in time.
    pub(crate) fn try_next(&mut self) -> std::io::Result<Option<Message>> {
        loop {
            if let Some((message, rest)) = self.text.split_once("\n\n") {
                let message = parsed(message);
                self.text = rest.to_owned();
                return Ok(Some(message));
            }
            match self.chunk()? {
                Some(chunk) => self.text.push_str(&chunk),
                None => return Ok(None),
            }
        }
    }

    /// A chunk of the body.
    fn chunk(&mut self) -> std::io::Result<Option<String>> {
        let broken = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        let mut size = String::new();
        self.socket.read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim_end(), 16).map_err(|_| broken())?;
        let mut chunk = vec![0; size + 2];
        std::io::Read::read_exact(&mut self.socket, &mut chunk)?;
        chunk.truncate(size);
        Ok((size > 0).then(|| String::from_utf8(chunk).unwrap()))
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) fn event(&mut self) -> Option<Received> {
        loop {
            match self.try_next().unwrap() {
                Some(Message::Event(event)) => return Some(event),
                Some(Message::Retry(_) | Message::Comment) => {}
                None => return None,
            }
        }
    }

    /// This many next events.
    pub(crate) fn events(&mut self, count: usize) -> Vec<Received> {
        (0..count).map(|_| self.event().expect("the stream ended")).collect()
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
    if message == ":" {
        return Message::Comment;
    }
    if message.starts_with("retry: ") {
        return Message::Retry(field("retry").parse().unwrap());
    }
    Message::Event(Received {
        id: field("id").parse().unwrap(),
        event_type: field("event"),
        data: serde_json::from_str(&field("data")).unwrap(),
    })
}
