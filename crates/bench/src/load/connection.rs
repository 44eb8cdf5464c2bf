//! A persistent connection.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use mio::net::TcpStream;

use super::Requests;
use super::answer;

/// The initial size of the receive buffer.
const ROOM: usize = 16 * 1_024;
/// The longest accepted response.
const MAX_ROOM: usize = 16 * 1_024 * 1_024;

/// A connection with at most one request in flight.
pub(crate) struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    /// The receive buffer, and how much of it is filled.
    answer: Vec<u8>,
    arrived: usize,
    sent_at: Instant,
}

impl Connection {
    pub(crate) fn open(server: SocketAddr) -> anyhow::Result<Self> {
        let stream =
            std::net::TcpStream::connect(server).with_context(|| format!("cannot connect to {server}"))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream: TcpStream::from_std(stream),
            request: Vec::new(),
            answer: vec![0; ROOM],
            arrived: 0,
            sent_at: Instant::now(),
        })
    }

    pub(crate) const fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// The time at which its request was sent.
    pub(crate) const fn sent_at(&self) -> Instant {
        self.sent_at
    }

    /// Sends the next request; returns false if there is none.
    pub(crate) fn send(&mut self, requests: &mut Requests<'_>) -> anyhow::Result<bool> {
        self.request.clear();
        if !requests(&mut self.request) {
            return Ok(false);
        }
        self.sent_at = Instant::now();
        let written = self.stream.write(&self.request).context("a request cannot be sent")?;
        // A request is far smaller than the buffer of an idle socket.
        ensure!(written == self.request.len(), "a request was sent in part");
        Ok(true)
    }

    /// Receives the available bytes; returns true once they are a complete, successful response.
    pub(crate) fn receive(&mut self) -> anyhow::Result<bool> {
        loop {
            let room = self.answer.get_mut(self.arrived..).unwrap_or_default();
            let capacity = room.len();
            let length = match self.stream.read(room) {
                Ok(0) => bail!("the server closed a connection"),
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error).context("an answer cannot be read"),
            };
            self.arrived = self.arrived.saturating_add(length);
            let arrived = self.answer.get(..self.arrived).unwrap_or_default();
            if let Some(answer) = answer::parse(arrived)? {
                let body = || String::from_utf8_lossy(answer.body);
                ensure!((200..300).contains(&answer.status), "an answer was {}: {}", answer.status, body());
                self.arrived = 0;
                return Ok(true);
            }
            // A read that does not fill the buffer has drained the socket, and later bytes raise a new event.
            if length < capacity {
                return Ok(false);
            }
            ensure!(self.answer.len() < MAX_ROOM, "an answer is longer than {MAX_ROOM} bytes");
            self.answer.resize(self.answer.len().saturating_mul(2), 0);
        }
    }
}
