//! The client of one stream of events.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;

use anyhow::{Context, ensure};
use mio::net::TcpStream;

use super::decoder::{Decoder, Part};

/// The path of a caller's own events.
const PATH: &str = "/api/v1/events/stream";

/// The state of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Its first block has not arrived.
    Opening,
    /// It delivers events.
    Open,
    /// The server has ended it.
    Ended,
}

/// An open stream.
pub(super) struct Stream {
    socket: TcpStream,
    decoder: Decoder,
    is_closed: bool,
}

impl Stream {
    /// Requests the stream of the owner of a token.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub(super) fn open(server: SocketAddr, token: &str) -> anyhow::Result<Self> {
        let mut socket =
            std::net::TcpStream::connect(server).with_context(|| format!("cannot connect to {server}"))?;
        let request = format!(
            "GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        socket.write_all(request.as_bytes()).context("a request cannot be sent")?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket: TcpStream::from_std(socket), decoder: Decoder::default(), is_closed: false })
    }

    pub(super) const fn socket(&mut self) -> &mut TcpStream {
        &mut self.socket
    }

    pub(super) const fn state(&self) -> State {
        match self.decoder.awaited() {
            _ if self.is_closed => State::Ended,
            Part::Head | Part::FirstBlock => State::Opening,
            Part::Block => State::Open,
            Part::Nothing => State::Ended,
        }
    }

    /// Receives the available bytes through a buffer that all streams share, and hands over the blocks that
    /// they complete.
    ///
    /// # Errors
    /// If the server refuses the stream or violates its format.
    pub(super) fn receive(&mut self, buffer: &mut [u8], mut block: impl FnMut(&[u8])) -> anyhow::Result<()> {
        loop {
            match self.socket.read(buffer) {
                Ok(0) => {
                    ensure!(self.state() != State::Opening, "the server closed a stream before it began");
                    self.is_closed = true;
                    return Ok(());
                }
                Ok(length) => {
                    self.decoder.decode(buffer.get(..length).unwrap_or_default(), &mut block)?;
                    // A read that does not fill the buffer has drained the socket.
                    if length < buffer.len() {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                    self.is_closed = true;
                    return Ok(());
                }
                Err(error) => return Err(error).context("a stream cannot be read"),
            }
        }
    }
}
