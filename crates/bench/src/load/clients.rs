//! The clients of a server, in one thread: open streams, and callers that send each call when it is due.

use std::net::SocketAddr;
use std::time::Instant;

use anyhow::{Context, ensure};
use mio::{Events, Interest, Poll, Token};

use super::callers::Callers;
use super::record::{Concerned, Record};
use super::schedule::Schedule;
use super::stream::Stream;
use super::timer::Timer;
use super::{EVENTS, Moment, PATIENCE};

/// The size of the receive buffer, which all streams share.
const BUFFER: usize = 64 * 1_024;
/// The number of streams that are opened at once: fewer than the listen backlog of the server.
const OPENED_AT_ONCE: usize = 250;
/// The token of the timer. Those of the streams are their places, and those of the callers follow.
const TIMER: Token = Token(usize::MAX);

/// Writes the call of this number into a buffer, and returns its involved users; `None` when no call is left.
pub(crate) type Calls<'a> = dyn FnMut(u32, &mut Vec<u8>) -> anyhow::Result<Option<Concerned>> + 'a;

/// The clients of a server.
pub(crate) struct Clients {
    server: SocketAddr,
    poll: Poll,
    streams: Vec<Stream>,
    buffer: Vec<u8>,
}

impl Clients {
    /// No clients yet.
    pub(crate) fn new(server: SocketAddr) -> anyhow::Result<Self> {
        let poll = Poll::new().context("cannot create the event queue")?;
        Ok(Self { server, poll, streams: Vec::new(), buffer: vec![0; BUFFER] })
    }

    /// Opens a stream with each of these tokens, and waits until each has delivered a block that begins it.
    ///
    /// # Errors
    /// If a stream is refused or does not begin in time.
    pub(crate) fn open(
        &mut self,
        path: &str,
        tokens: &[Option<&str>],
        mut begins: impl FnMut(&[u8]) -> bool,
    ) -> anyhow::Result<()> {
        for group in tokens.chunks(OPENED_AT_ONCE) {
            let before = self.streams.len();
            for token in group {
                let mut stream = Stream::open(self.server, path, *token)?;
                let place = Token(self.streams.len());
                self.poll.registry().register(stream.socket(), place, Interest::READABLE)?;
                self.streams.push(stream);
            }
            self.wait_for(before, &mut begins)?;
        }
        Ok(())
    }

    /// Waits until each of the streams from this place on has delivered a block that is waited for.
    ///
    /// # Errors
    /// If a stream ends before, or does not deliver it in time.
    pub(crate) fn wait_for(
        &mut self,
        first: usize,
        mut is_awaited: impl FnMut(&[u8]) -> bool,
    ) -> anyhow::Result<()> {
        let (mut events, begun_at) = (Events::with_capacity(EVENTS), Instant::now());
        let mut waiting = vec![true; self.streams.len().saturating_sub(first)];
        let mut left = waiting.len();
        while left > 0 {
            ensure!(begun_at.elapsed() < PATIENCE, "{left} streams delivered nothing within {PATIENCE:?}");
            self.poll.poll(&mut events, Some(PATIENCE)).context("cannot wait for events")?;
            for event in &events {
                let place = event.token().0;
                let Some(waits) = place.checked_sub(first).and_then(|place| waiting.get_mut(place)) else {
                    self.receive(place, |_| {})?;
                    continue;
                };
                self.receive(place, |block| {
                    if *waits && is_awaited(block) {
                        *waits = false;
                        left = left.saturating_sub(1);
                    }
                })?;
                let has_ended = self.streams.get(place).is_some_and(Stream::has_ended);
                ensure!(!*waits || !has_ended, "the server ended a stream before it delivered anything");
            }
        }
        Ok(())
    }

    /// The number of streams that the server has ended.
    pub(crate) fn ended(&self) -> usize {
        self.streams.iter().filter(|stream| stream.has_ended()).count()
    }

    /// Sends calls on a schedule into a record until it is over or none is left, reports both bounds of counting, and
    /// waits for all answers and events. Events that do not arrive in time remain missing in the record.
    ///
    /// # Errors
    /// The first unsuccessful answer, with its body; an answer that does not arrive in time; any error of
    /// `tell`.
    pub(crate) fn call(
        &mut self,
        mut schedule: Schedule,
        calls: &mut Calls<'_>,
        record: &mut Record,
        mut tell: impl FnMut(Moment) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut timer = Timer::new(&self.poll, TIMER)?;
        let mut callers = Callers::new(self.server, self.streams.len());
        let (mut events, mut request) = (Events::with_capacity(EVENTS), Vec::new());
        let (mut runs_out, mut advanced_at) = (false, Instant::now());
        loop {
            while callers.have_room()
                && !runs_out
                && let Some((number, due)) = schedule.take(Instant::now())?
            {
                if number == schedule.rate().warm_up_calls() {
                    tell(Moment::Begins)?;
                }
                request.clear();
                match calls(number, &mut request)? {
                    Some(concerned) => {
                        record.sent(due, callers.send(&self.poll, number, &request)?, concerned)
                    }
                    None => runs_out = true,
                }
                if schedule.is_over() {
                    tell(Moment::Ends)?;
                }
            }
            let is_over = runs_out || schedule.is_over();
            if is_over && record.is_complete() {
                return Ok(());
            }
            if !is_over && callers.have_room() {
                timer.set(schedule.next()?)?;
            }
            self.poll.poll(&mut events, Some(PATIENCE)).context("cannot wait for events")?;
            for event in events.iter().filter(|event| event.token() != TIMER) {
                if self.receives(event.token(), &mut callers, record)? {
                    advanced_at = Instant::now();
                }
            }
            if advanced_at.elapsed() >= PATIENCE {
                ensure!(record.is_answered(), "no answer within {PATIENCE:?}");
                if is_over {
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
        self.receive(token.0, |block| is_event |= record.event(block, token.0, Instant::now()))?;
        Ok(is_event)
    }

    fn receive(&mut self, place: usize, block: impl FnMut(&[u8])) -> anyhow::Result<()> {
        let stream = self.streams.get_mut(place).context("an event belongs to no stream")?;
        stream.receive(&mut self.buffer, block)
    }
}
