//! What happened to each call, and how long it took.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::calls::Concerned;
use crate::figures::latencies;

/// One call and its events.
#[derive(Clone, Copy, Debug)]
struct Call {
    due: Instant,
    sent: Instant,
    answered: Option<Instant>,
    /// The events, by the places of the streams that have to receive them.
    events: [Option<Delivery>; 2],
}

/// One event on one stream.
#[derive(Clone, Copy, Debug)]
struct Delivery {
    stream: usize,
    received: Option<Instant>,
}

/// All calls of a run, in the order of their numbers.
#[derive(Debug)]
pub(super) struct Record {
    calls: Vec<Call>,
    /// The number of calls of the warm-up.
    warm_up: usize,
    /// Whether the stream of each user has the place of the user.
    has_streams: bool,
    unanswered: u64,
    /// The events that are expected, of all calls.
    pub(super) expected: u64,
    /// The expected events that were received.
    pub(super) received: u64,
    /// Events that were received twice or on the wrong stream.
    pub(super) unexpected: u64,
}

impl Record {
    /// A record without calls. If users have streams, each of these has to receive the events of its
    /// user; otherwise no event is expected.
    pub(super) const fn new(warm_up: usize, has_streams: bool) -> Self {
        let (expected, received, unexpected) = (0, 0, 0);
        Self { calls: Vec::new(), warm_up, has_streams, unanswered: 0, expected, received, unexpected }
    }

    /// Adds the next call.
    pub(super) fn sent(&mut self, due: Instant, sent: Instant, concerned: Concerned) {
        let Concerned { guest, dj } = concerned;
        let events =
            [guest, dj].map(|stream| self.has_streams.then_some(Delivery { stream, received: None }));
        self.unanswered = self.unanswered.saturating_add(1);
        if self.has_streams {
            self.expected = self.expected.saturating_add(2);
        }
        self.calls.push(Call { due, sent, answered: None, events });
    }

    /// Adds the answer of a call.
    pub(super) fn answered(&mut self, number: u32, at: Instant) {
        let call = usize::try_from(number).ok().and_then(|number| self.calls.get_mut(number));
        if let Some(call) = call {
            self.unanswered = self.unanswered.saturating_sub(1);
            call.answered = Some(at);
        }
    }

    /// Adds an event about the call of this number, on the stream at this place.
    pub(super) fn received(&mut self, number: u32, stream: usize, at: Instant) {
        let call = usize::try_from(number).ok().and_then(|number| self.calls.get_mut(number));
        let deliveries = call.into_iter().flat_map(|call| call.events.iter_mut().flatten());
        let delivery = deliveries.into_iter().find(|one| one.stream == stream && one.received.is_none());
        match delivery {
            Some(delivery) => {
                delivery.received = Some(at);
                self.received = self.received.saturating_add(1);
            }
            None => self.unexpected = self.unexpected.saturating_add(1),
        }
    }

    /// Whether every call so far is answered.
    pub(super) const fn is_answered(&self) -> bool {
        self.unanswered == 0
    }

    /// Whether every call so far is answered, and every event of it received.
    pub(super) const fn is_complete(&self) -> bool {
        self.is_answered() && self.received == self.expected
    }

    /// From the sending of each counted call to each of its events, in microseconds.
    ///
    /// # Errors
    /// If the histogram cannot be created.
    pub(super) fn events_since_sent(&self) -> anyhow::Result<Histogram<u64>> {
        let of_call =
            |call: &Call| received(call).map(|at| at.saturating_duration_since(call.sent)).collect();
        self.latencies(of_call)
    }

    /// From the answer of each counted call to each of its events, in microseconds; 0 if the event came
    /// first.
    ///
    /// # Errors
    /// If the histogram cannot be created.
    pub(super) fn events_since_answer(&self) -> anyhow::Result<Histogram<u64>> {
        let of_call = |call: &Call| {
            let since = |at: Instant| call.answered.map(|answered| at.saturating_duration_since(answered));
            received(call).filter_map(since).collect()
        };
        self.latencies(of_call)
    }

    /// From the sending of each counted call to its answer, in microseconds.
    ///
    /// # Errors
    /// If the histogram cannot be created.
    pub(super) fn answers(&self) -> anyhow::Result<Histogram<u64>> {
        self.latencies(|call| {
            call.answered.map(|at| at.saturating_duration_since(call.sent)).into_iter().collect()
        })
    }

    /// From the time at which each counted call was due to its sending, in microseconds.
    ///
    /// # Errors
    /// If the histogram cannot be created.
    pub(super) fn delays(&self) -> anyhow::Result<Histogram<u64>> {
        self.latencies(|call| vec![call.sent.saturating_duration_since(call.due)])
    }

    fn latencies(&self, of_call: impl Fn(&Call) -> Vec<Duration>) -> anyhow::Result<Histogram<u64>> {
        let mut histogram = latencies()?;
        for took in self.calls.iter().skip(self.warm_up).flat_map(of_call) {
            histogram.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        }
        Ok(histogram)
    }
}

/// The times at which the events of a call were received.
fn received(call: &Call) -> impl Iterator<Item = Instant> {
    call.events.iter().flatten().filter_map(|delivery| delivery.received)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Concerned = Concerned { guest: 4, dj: 7 };
    const SECOND: Concerned = Concerned { guest: 5, dj: 7 };

    /// The smallest and the greatest latency, in milliseconds.
    fn range(histogram: &Histogram<u64>) -> (u64, u64) {
        (histogram.min().div_ceil(1_000), histogram.max().div_euclid(1_000))
    }

    #[test]
    fn lost_duplicated_and_misdirected_events_are_detected() {
        let now = Instant::now();
        let mut record = Record::new(0, true);
        record.sent(now, now, FIRST);
        record.sent(now, now, SECOND);
        for (number, stream) in [(0, 4), (0, 7), (0, 7), (1, 4), (1, 5), (9, 4)] {
            record.received(number, stream, now);
        }
        assert_eq!((record.expected, record.received, record.unexpected), (4, 3, 3));
        record.answered(0, now);
        assert!(!record.is_answered());
        record.answered(1, now);
        assert!(record.is_answered() && !record.is_complete());
        record.received(1, 7, now);
        assert!(record.is_complete());
    }

    #[test]
    fn latencies_exclude_the_warm_up() {
        let now = Instant::now();
        let at = |milliseconds| now + Duration::from_millis(milliseconds);
        let mut record = Record::new(1, true);
        for (number, concerned, seconds) in [(0, FIRST, 1_000), (1, SECOND, 10)] {
            record.sent(now, at(1), concerned);
            record.received(number, concerned.guest, at(seconds));
            record.answered(number, at(seconds + 2));
            record.received(number, concerned.dj, at(seconds + 7));
        }
        assert_eq!(range(&record.delays().unwrap()), (1, 1));
        assert_eq!(range(&record.answers().unwrap()), (11, 11));
        assert_eq!(range(&record.events_since_sent().unwrap()), (9, 16));
        assert_eq!(range(&record.events_since_answer().unwrap()), (0, 5));
    }

    #[test]
    fn no_events_are_expected_for_calls_without_streams() {
        let now = Instant::now();
        let mut record = Record::new(0, false);
        record.sent(now, now, FIRST);
        record.answered(0, now);
        assert!(record.is_complete());
        record.received(0, 4, now);
        assert_eq!(record.unexpected, 1);
    }
}
