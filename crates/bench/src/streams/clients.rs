//! The clients of a server, in one thread: open streams, and callers that send each call when it is due.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use mio::{Events, Interest, Poll, Token};

use super::calls::{Calls, number_in};
use super::record::Record;
use super::stream::{State, Stream};
use crate::load::Moment;
use crate::load::callers::Callers;
use crate::load::schedule::{Rate, Schedule};

/// The longest wait for an answer or an event.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most events returned by one system call.
const EVENTS: usize = 1_024;
/// The size of the receive buffer, which all streams share.
const BUFFER: usize = 64 * 1_024;
/// The number of streams that are opened at once: fewer than the listen backlog of the server.
const OPENED_AT_ONCE: usize = 250;

/// The clients of a server.
pub(super) struct Clients {
    server: SocketAddr,
    poll: Poll,
    streams: Vec<Stream>,
    buffer: Vec<u8>,
}

impl Clients {
    /// No clients yet.
    ///
    /// # Errors
    /// If the event queue cannot be created.
    pub(super) fn new(server: SocketAddr) -> anyhow::Result<Self> {
        let poll = Poll::new().context("cannot create the event queue")?;
        Ok(Self { server, poll, streams: Vec::new(), buffer: vec![0; BUFFER] })
    }

    /// Opens a stream for each of these tokens, and waits until all of them have begun.
    ///
    /// # Errors
    /// If a stream is refused or does not begin in time.
    pub(super) fn open(&mut self, tokens: &[&str]) -> anyhow::Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        for group in tokens.chunks(OPENED_AT_ONCE) {
            let before = self.streams.len();
            for token in group {
                let mut stream = Stream::open(self.server, token)?;
                let place = Token(self.streams.len());
                self.poll.registry().register(stream.socket(), place, Interest::READABLE)?;
                self.streams.push(stream);
            }
            let begun_at = Instant::now();
            while self.streams.iter().skip(before).any(|stream| stream.state() == State::Opening) {
                ensure!(begun_at.elapsed() < PATIENCE, "a stream did not begin within {PATIENCE:?}");
                self.poll.poll(&mut events, Some(PATIENCE)).context("cannot wait for events")?;
                for event in &events {
                    self.receive(event.token(), |_| {})?;
                }
            }
        }
        Ok(())
    }

    /// The number of streams that the server has ended.
    pub(super) fn ended(&self) -> usize {
        self.streams.iter().filter(|stream| stream.state() == State::Ended).count()
    }

    /// Sends calls at a rate into a record, reports both bounds of counting, and waits for all answers and
    /// events. Events that do not arrive in time remain missing in the record.
    ///
    /// # Errors
    /// The first unsuccessful answer, with its body; an answer that does not arrive in time; any error of
    /// `tell`.
    pub(super) fn call(
        &mut self,
        rate: Rate,
        calls: &mut Calls,
        record: &mut Record,
        mut tell: impl FnMut(Moment) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut callers = Callers::new(self.server, self.streams.len());
        let mut schedule = Schedule::even(rate, Instant::now());
        let mut events = Events::with_capacity(EVENTS);
        let mut request = Vec::new();
        let mut advanced_at = Instant::now();
        loop {
            while callers.have_room()
                && let Some((number, due)) = schedule.take(Instant::now())?
            {
                if number == rate.warm_up_calls() {
                    tell(Moment::Begins)?;
                }
                request.clear();
                let concerned = calls.write(number, &mut request)?;
                record.sent(due, callers.send(&self.poll, number, &request)?, concerned);
                if schedule.is_over() {
                    tell(Moment::Ends)?;
                }
            }
            if schedule.is_over() && record.is_complete() {
                return Ok(());
            }
            let wait = if schedule.is_over() || !callers.have_room() {
                PATIENCE.saturating_sub(advanced_at.elapsed())
            } else {
                schedule.next()?.saturating_duration_since(Instant::now())
            };
            self.poll.poll(&mut events, Some(wait)).context("cannot wait for events")?;
            for event in &events {
                if self.receives(event.token(), &mut callers, record)? {
                    advanced_at = Instant::now();
                }
            }
            if advanced_at.elapsed() >= PATIENCE {
                ensure!(record.is_answered(), "no answer within {PATIENCE:?}");
                if schedule.is_over() {
                    return Ok(());
                }
            }
        }
    }

    /// Receives what is available for the client of this token; returns whether it was an answer or an event.
    fn receives(&mut self, token: Token, callers: &mut Callers, record: &mut Record) -> anyhow::Result<bool> {
        if token.0 >= self.streams.len() {
            let answered = callers.receive(token)?;
            if let Some(number) = answered {
                record.answered(number, Instant::now());
            }
            return Ok(answered.is_some());
        }
        let mut is_event = false;
        self.receive(token, |block| {
            if let Some(number) = number_in(block) {
                is_event = true;
                record.received(number, token.0, Instant::now());
            }
        })?;
        Ok(is_event)
    }

    fn receive(&mut self, token: Token, block: impl FnMut(&[u8])) -> anyhow::Result<()> {
        let stream = self.streams.get_mut(token.0).context("an event belongs to no stream")?;
        stream.receive(&mut self.buffer, block)
    }
}
