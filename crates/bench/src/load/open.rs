//! An open loop: requests are sent when they are due, whether or not earlier ones are answered.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use hdrhistogram::Histogram;
use mio::{Events, Poll, Token};

use super::callers::Callers;
use super::schedule::Schedule;
use super::timer::Timer;
use super::{EVENTS, PATIENCE, Requests};
use crate::figures;

/// The token of the timer; the callers' tokens follow it.
const TIMER: Token = Token(0);

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Answers {
    /// From the time at which each counted request was due to the last byte of its answer, in microseconds.
    pub(crate) latencies: Histogram<u64>,
    /// From the time at which each counted request was due to its sending, in microseconds.
    pub(crate) delays: Histogram<u64>,
    /// All responses, including those of the warm-up: as many operations were executed.
    pub(crate) all: u64,
}

/// Sends requests on a schedule until it is over or the requests run out, and waits for all answers.
///
/// # Errors
/// The first unsuccessful response, with its body; an answer that does not arrive in time; requests that run
/// out during the warm-up.
pub(crate) fn run(
    server: SocketAddr,
    mut schedule: Schedule,
    requests: &mut Requests<'_>,
) -> anyhow::Result<Answers> {
    let mut poll = Poll::new().context("cannot create the event queue")?;
    let mut timer = Timer::new(&poll, TIMER)?;
    let mut callers = Callers::new(server, TIMER.0.saturating_add(1));
    let mut sent = Sent::new(schedule.rate().warm_up_calls())?;
    let (mut events, mut request) = (Events::with_capacity(EVENTS), Vec::new());
    let (mut runs_out, mut advanced_at) = (false, Instant::now());
    loop {
        while callers.have_room()
            && !runs_out
            && let Some((number, due)) = schedule.take(Instant::now())?
        {
            request.clear();
            runs_out = !requests(&mut request);
            if !runs_out {
                let at = callers.send(&poll, number, &request)?;
                sent.add(due, at)?;
            }
        }
        let is_over = runs_out || schedule.is_over();
        if is_over && sent.is_answered() {
            return sent.answers();
        }
        if !is_over && callers.have_room() {
            timer.set(schedule.next()?)?;
        }
        poll.poll(&mut events, Some(PATIENCE)).context("cannot wait for events")?;
        for event in events.iter().filter(|event| event.token() != TIMER) {
            if let Some(number) = callers.receive(event.token())? {
                advanced_at = Instant::now();
                sent.answered(number, advanced_at)?;
            }
        }
        ensure!(sent.is_answered() || advanced_at.elapsed() < PATIENCE, "no answer within {PATIENCE:?}");
    }
}

/// The requests that were sent, by their numbers.
struct Sent {
    dues: Vec<Instant>,
    /// The number of requests of the warm-up.
    warm_up: usize,
    answered: u64,
    latencies: Histogram<u64>,
    delays: Histogram<u64>,
}

impl Sent {
    fn new(warm_up: u32) -> anyhow::Result<Self> {
        let (latencies, delays) = (figures::latencies()?, figures::latencies()?);
        Ok(Self { dues: Vec::new(), warm_up: usize::try_from(warm_up)?, answered: 0, latencies, delays })
    }

    fn add(&mut self, due: Instant, sent_at: Instant) -> anyhow::Result<()> {
        if self.dues.len() >= self.warm_up {
            self.delays.saturating_record(micros(sent_at.saturating_duration_since(due))?);
        }
        self.dues.push(due);
        Ok(())
    }

    fn answered(&mut self, number: u32, at: Instant) -> anyhow::Result<()> {
        let number = usize::try_from(number)?;
        let due = self.dues.get(number).context("an answer belongs to no request")?;
        if number >= self.warm_up {
            self.latencies.saturating_record(micros(at.saturating_duration_since(*due))?);
        }
        self.answered = self.answered.saturating_add(1);
        Ok(())
    }

    fn is_answered(&self) -> bool {
        u64::try_from(self.dues.len()).is_ok_and(|sent| sent == self.answered)
    }

    fn answers(self) -> anyhow::Result<Answers> {
        ensure!(!self.latencies.is_empty(), "the requests ran out before anything was counted");
        Ok(Answers { latencies: self.latencies, delays: self.delays, all: self.answered })
    }
}

fn micros(duration: Duration) -> anyhow::Result<u64> {
    u64::try_from(duration.as_micros()).context("a request took too long")
}
