//! Connections of callers who send each call when it is due.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

use anyhow::Context;
use mio::{Interest, Poll, Token};

use super::connection::Connection;

/// The maximum number of calls in flight; further calls are sent late.
const MAX_CALLERS: usize = 256;

/// The connections of callers, opened as they are needed and used in turn, so that none is idle for long.
pub(crate) struct Callers {
    server: SocketAddr,
    first: usize,
    callers: Vec<Caller>,
    free: VecDeque<usize>,
}

/// A connection, and the number of its last call.
struct Caller {
    connection: Connection,
    number: u32,
}

impl Callers {
    /// No callers yet; the first one gets this token.
    pub(crate) const fn new(server: SocketAddr, first: usize) -> Self {
        Self { server, first, callers: Vec::new(), free: VecDeque::new() }
    }

    /// Whether a further call can be sent.
    pub(crate) fn have_room(&self) -> bool {
        !self.free.is_empty() || self.callers.len() < MAX_CALLERS
    }

    /// Sends a call on a free connection, and returns the time at which it was sent.
    pub(crate) fn send(&mut self, poll: &Poll, number: u32, request: &[u8]) -> anyhow::Result<Instant> {
        let place = match self.free.pop_front() {
            Some(place) => place,
            None => self.open(poll)?,
        };
        let caller = self.callers.get_mut(place).context("there is no such caller")?;
        caller.number = number;
        caller.connection.send(&mut |into: &mut Vec<u8>| {
            into.extend_from_slice(request);
            true
        })?;
        Ok(caller.connection.sent_at())
    }

    /// Receives what is available; returns the number of the call if its answer is complete.
    pub(crate) fn receive(&mut self, token: Token) -> anyhow::Result<Option<u32>> {
        let place = token.0.saturating_sub(self.first);
        let caller = self.callers.get_mut(place).context("an event belongs to no caller")?;
        if !caller.connection.receive()? {
            return Ok(None);
        }
        self.free.push_back(place);
        Ok(Some(caller.number))
    }

    fn open(&mut self, poll: &Poll) -> anyhow::Result<usize> {
        let mut connection = Connection::open(self.server)?;
        let place = self.callers.len();
        let token = Token(self.first.saturating_add(place));
        poll.registry().register(connection.stream(), token, Interest::READABLE)?;
        self.callers.push(Caller { connection, number: 0 });
        Ok(place)
    }
}
