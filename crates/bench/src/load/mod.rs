//! HTTP load that takes little of the CPU it shares with the measured service: one thread, one read and one
//! write per request, and prepared requests.
//!
//! The loop of [`run`] is closed: each connection sends its next request when the previous one is answered. That of
//! `clients` follows a `schedule`.

mod answer;
mod callers;
pub(crate) mod clients;
mod connection;
pub(crate) mod decoder;
pub(crate) mod open;
pub(crate) mod record;
pub(crate) mod requests;
pub(crate) mod schedule;
mod stream;
mod timer;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use hdrhistogram::Histogram;
use mio::{Events, Interest, Poll, Token};

use connection::Connection;

use crate::figures;

/// The longest wait for a response or an event.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most events returned by one system call.
const EVENTS: usize = 1_024;

/// Writes the next request into a buffer; returns false when none is left.
pub(crate) type Requests<'a> = dyn FnMut(&mut Vec<u8>) -> bool + 'a;

/// The amount and the target of the load.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// The servers, over which connections are distributed in turn.
    pub(crate) servers: Vec<SocketAddr>,
    /// The number of connections.
    pub(crate) connections: usize,
    /// The warm-up, which is not counted.
    pub(crate) warm_up: Duration,
    /// The duration of counting; shorter if the requests run out.
    pub(crate) counted: Duration,
}

/// The bounds of the measurement window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moment {
    /// Counting starts.
    Begins,
    /// Counting ends.
    Ends,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Counted {
    /// The counted responses, all of them successful.
    pub(crate) answers: u64,
    /// The measured duration.
    pub(crate) lasted: Duration,
    /// From the sending of a request to the last byte of its answer, in microseconds.
    pub(crate) latencies: Histogram<u64>,
    /// All responses, including those outside the measurement window: as many operations were executed.
    pub(crate) all_answers: u64,
}

/// Runs the load, and reports both bounds of the measurement window.
///
/// # Errors
/// The first unsuccessful response, with its body; a malformed response; a closed connection; requests that
/// run out before counting starts; any error of `tell`.
pub(crate) fn run(
    load: &Load,
    requests: &mut Requests<'_>,
    tell: impl FnMut(Moment) -> anyhow::Result<()>,
) -> anyhow::Result<Counted> {
    let mut poll = Poll::new().context("cannot create the event queue")?;
    let mut progress = Progress::new(load, tell)?;
    let mut connections = Vec::new();
    for (number, server) in load.servers.iter().cycle().take(load.connections).enumerate() {
        let mut connection = Connection::open(*server)?;
        poll.registry().register(connection.stream(), Token(number), Interest::READABLE)?;
        // Sent at once, because a server waits only briefly for the first request of a connection.
        progress.send(&mut connection, requests)?;
        connections.push(connection);
    }
    let mut events = Events::with_capacity(EVENTS);
    while progress.under_way > 0 {
        let waited_since = Instant::now();
        poll.poll(&mut events, Some(PATIENCE)).context("cannot wait for events")?;
        ensure!(
            !events.is_empty() || waited_since.elapsed() < PATIENCE,
            "no answer within {} seconds",
            PATIENCE.as_secs()
        );
        for event in &events {
            let connection =
                connections.get_mut(event.token().0).context("an event belongs to no connection")?;
            if connection.receive()? {
                progress.answered(connection, requests)?;
            }
        }
    }
    progress.counted()
}

/// The progress of a run.
struct Progress<Tell> {
    tell: Tell,
    warm_up_ends: Instant,
    counted_for: Duration,
    /// The start of counting.
    counts_since: Option<Instant>,
    /// The duration of counting, once it has ended.
    lasted: Option<Duration>,
    under_way: usize,
    answers: u64,
    all_answers: u64,
    latencies: Histogram<u64>,
}

impl<Tell: FnMut(Moment) -> anyhow::Result<()>> Progress<Tell> {
    fn new(load: &Load, tell: Tell) -> anyhow::Result<Self> {
        let now = Instant::now();
        Ok(Self {
            tell,
            warm_up_ends: now.checked_add(load.warm_up).context("the warm-up is too long")?,
            counted_for: load.counted,
            counts_since: None,
            lasted: None,
            under_way: 0,
            answers: 0,
            all_answers: 0,
            latencies: figures::latencies()?,
        })
    }

    /// Sends the next request unless counting has ended; counting ends when no request is left.
    fn send(&mut self, connection: &mut Connection, requests: &mut Requests<'_>) -> anyhow::Result<()> {
        if self.lasted.is_some() {
            return Ok(());
        }
        if connection.send(requests)? {
            self.under_way = self.under_way.saturating_add(1);
            return Ok(());
        }
        let since = self.counts_since.context("the requests ran out before anything was counted")?;
        self.end(since)
    }

    fn answered(&mut self, connection: &mut Connection, requests: &mut Requests<'_>) -> anyhow::Result<()> {
        let now = Instant::now();
        self.under_way = self.under_way.saturating_sub(1);
        self.all_answers = self.all_answers.saturating_add(1);
        match self.counts_since {
            None if now >= self.warm_up_ends => {
                (self.tell)(Moment::Begins)?;
                self.counts_since = Some(Instant::now());
            }
            Some(since) if self.lasted.is_none() => {
                self.answers = self.answers.saturating_add(1);
                let took = now.saturating_duration_since(connection.sent_at());
                self.latencies.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
                if now.saturating_duration_since(since) >= self.counted_for {
                    self.end(since)?;
                }
            }
            _ => {}
        }
        self.send(connection, requests)
    }

    fn end(&mut self, since: Instant) -> anyhow::Result<()> {
        self.lasted = Some(since.elapsed());
        (self.tell)(Moment::Ends)
    }

    fn counted(self) -> anyhow::Result<Counted> {
        ensure!(self.answers > 0, "no request was answered");
        Ok(Counted {
            answers: self.answers,
            lasted: self.lasted.context("the counting did not end")?,
            latencies: self.latencies,
            all_answers: self.all_answers,
        })
    }
}

#[cfg(test)]
mod tests;
