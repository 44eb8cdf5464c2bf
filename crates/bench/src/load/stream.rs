//! The client of one stream of events.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;

use anyhow::Context;
use mio::net::TcpStream;

use super::decoder::Decoder;

/// An open stream.
pub(super) struct Stream {
    socket: TcpStream,
    decoder: Decoder,
    is_closed: bool,
}

impl Stream {
    /// Requests the stream at a path, of the owner of a token.
    pub(super) fn open(server: SocketAddr, path: &str, token: Option<&str>) -> anyhow::Result<Self> {
        let mut socket =
            std::net::TcpStream::connect(server).with_context(|| format!("cannot connect to {server}"))?;
        let owner = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n{owner}\r\n");
        socket.write_all(request.as_bytes()).context("a request cannot be sent")?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket: TcpStream::from_std(socket), decoder: Decoder::default(), is_closed: false })
    }

    pub(super) const fn socket(&mut self) -> &mut TcpStream {
        &mut self.socket
    }

    /// Whether the server has ended it.
    pub(super) const fn has_ended(&self) -> bool {
        self.is_closed || self.decoder.has_ended()
    }

    /// Receives the available bytes through a buffer that all streams share, and hands over the blocks that
    /// they complete.
    ///
    /// # Errors
    /// If the server refuses the stream or violates its format.
    pub(super) fn receive(&mut self, buffer: &mut [u8], mut block: impl FnMut(&[u8])) -> anyhow::Result<()> {
        loop {
            match self.socket.read(buffer) {
                Ok(length @ 1..) => {
                    self.decoder.decode(buffer.get(..length).unwrap_or_default(), &mut block)?;
                    // A read that does not fill the buffer has drained the socket.
                    if length < buffer.len() {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() != ErrorKind::ConnectionReset => {
                    return Err(error).context("a stream cannot be read");
                }
                Ok(0) | Err(_) => {
                    self.is_closed = true;
                    return Ok(());
                }
            }
        }
    }
}
