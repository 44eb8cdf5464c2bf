//! The stream of a board, as the script of a page follows it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// An open stream.
pub(super) struct BoardStream {
    socket: TcpStream,
    received: Vec<u8>,
}

impl BoardStream {
    /// Opens the stream of a board, and returns the status of its answer with it.
    ///
    /// # Errors
    /// When the connection fails.
    pub(super) fn open(host: &str, code: &str) -> io::Result<(Self, u16)> {
        let mut socket = TcpStream::connect(host)?;
        let head = format!(
            "GET /api/v1/boards/{code}/stream HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n\r\n"
        );
        socket.write_all(head.as_bytes())?;
        let mut stream = Self { socket, received: Vec::new() };
        let status = stream.line(Instant::now() + Duration::from_secs(10))?.ok_or(ErrorKind::TimedOut)?;
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok());
        Ok((stream, status.ok_or(ErrorKind::InvalidData)?))
    }

    /// The next version of the board; `None` if none arrives by this time.
    ///
    /// # Errors
    /// When the stream ends or breaks off.
    pub(super) fn version(&mut self, until: Instant) -> io::Result<Option<String>> {
        while let Some(line) = self.line(until)? {
            if let Some(version) = line.strip_prefix("data:") {
                return Ok(Some(version.trim().to_owned()));
            }
        }
        Ok(None)
    }

    fn line(&mut self, until: Instant) -> io::Result<Option<String>> {
        loop {
            if let Some(end) = self.received.iter().position(|byte| *byte == b'\n') {
                let line = self.received.drain(..=end).collect();
                return String::from_utf8(line).map(Some).map_err(io::Error::other);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.socket.set_read_timeout(Some(left))?;
            let mut piece = [0; 1_024];
            match self.socket.read(&mut piece) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.received.extend_from_slice(&piece[..length]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => return Err(error),
            }
        }
    }
}
