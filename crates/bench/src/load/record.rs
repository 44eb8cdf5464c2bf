//! What happened to each call, and how long it took.

use std::time::Instant;

use hdrhistogram::Histogram;

use crate::figures::latencies;

/// The two involved users of a call, by their places among all users.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Concerned {
    /// The guest who calls.
    pub(crate) guest: usize,
    /// The DJ who is asked for the song.
    pub(crate) dj: usize,
}

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

/// Returns the number of the call that an event is about; `None` for other events and for comments.
pub(crate) type NumberIn = fn(&[u8]) -> Option<u32>;

/// All calls of a run, in the order of their numbers.
#[derive(Debug)]
pub(crate) struct Record {
    calls: Vec<Call>,
    /// The number of calls of the warm-up.
    warm_up: u32,
    number_in: Option<NumberIn>,
    unanswered: u64,
    /// The events that are expected, of all calls.
    pub(crate) expected: u64,
    /// The expected events that were received.
    pub(crate) received: u64,
    /// Events that were received twice or on the wrong stream.
    pub(crate) unexpected: u64,
}

impl Record {
    /// A record without calls, of which these are for the warm-up. If events can be read, the stream at the place of each
    /// user has to receive those of the user; otherwise no event is expected.
    pub(crate) const fn new(warm_up: u32, number_in: Option<NumberIn>) -> Self {
        let (expected, received, unexpected) = (0, 0, 0);
        Self { calls: Vec::new(), warm_up, number_in, unanswered: 0, expected, received, unexpected }
    }

    /// Adds the next call.
    pub(crate) fn sent(&mut self, due: Instant, sent: Instant, concerned: Concerned) {
        let Concerned { guest, dj } = concerned;
        let events =
            [guest, dj].map(|stream| self.number_in.is_some().then_some(Delivery { stream, received: None }));
        self.unanswered = self.unanswered.saturating_add(1);
        if self.number_in.is_some() {
            self.expected = self.expected.saturating_add(2);
        }
        self.calls.push(Call { due, sent, answered: None, events });
    }

    /// Adds the answer of a call.
    pub(crate) fn answered(&mut self, number: u32, at: Instant) {
        let call = usize::try_from(number).ok().and_then(|number| self.calls.get_mut(number));
        if let Some(call) = call {
            self.unanswered = self.unanswered.saturating_sub(1);
            call.answered = Some(at);
        }
    }

    /// Adds what the stream at this place delivered; returns whether it is an event about a call.
    pub(crate) fn event(&mut self, block: &[u8], stream: usize, at: Instant) -> bool {
        let number = self.number_in.and_then(|number_in| number_in(block));
        if let Some(number) = number {
            self.received(number, stream, at);
        }
        number.is_some()
    }

    /// Adds an event about the call of this number, on the stream at this place.
    fn received(&mut self, number: u32, stream: usize, at: Instant) {
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

    /// The number of calls that are answered, including those of the warm-up.
    pub(crate) fn answered_calls(&self) -> u64 {
        u64::try_from(self.calls.len()).unwrap_or(u64::MAX).saturating_sub(self.unanswered)
    }

    /// Whether every call so far is answered.
    pub(crate) const fn is_answered(&self) -> bool {
        self.unanswered == 0
    }

    /// Whether every call so far is answered, and every event of it received.
    pub(crate) const fn is_complete(&self) -> bool {
        self.is_answered() && self.received == self.expected
    }

    /// The time from one stage of each counted call to each occurrence of another one, in microseconds; 0 if the other one came
    /// first.
    pub(crate) fn between(&self, one: Stage, other: Stage) -> anyhow::Result<Histogram<u64>> {
        let mut histogram = latencies()?;
        for call in self.calls.iter().skip(usize::try_from(self.warm_up)?) {
            let [begun, _] = one.of(call);
            for (begun, ended) in begun.into_iter().flat_map(|at| other.of(call).map(|end| (at, end))) {
                let took = ended.map(|ended| ended.saturating_duration_since(begun).as_micros());
                took.into_iter()
                    .for_each(|took| histogram.saturating_record(u64::try_from(took).unwrap_or(u64::MAX)));
            }
        }
        Ok(histogram)
    }
}

/// A stage of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Due,
    Sent,
    Answered,
    /// An event about it was received.
    Delivered,
}

impl Stage {
    /// The times at which a call reached it.
    fn of(self, call: &Call) -> [Option<Instant>; 2] {
        match self {
            Self::Due => [Some(call.due), None],
            Self::Sent => [Some(call.sent), None],
            Self::Answered => [call.answered, None],
            Self::Delivered => call.events.map(|delivery| delivery?.received),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Stage::{Answered, Delivered, Due, Sent};
    use super::*;

    const FIRST: Concerned = Concerned { guest: 4, dj: 7 };
    const SECOND: Concerned = Concerned { guest: 5, dj: 7 };

    /// The digit of an event.
    fn number_in(block: &[u8]) -> Option<u32> {
        block.first().and_then(|byte| char::from(*byte).to_digit(10))
    }

    /// The smallest and the greatest latency, in milliseconds.
    fn range(histogram: &Histogram<u64>) -> (u64, u64) {
        (histogram.min().div_ceil(1_000), histogram.max().div_euclid(1_000))
    }

    #[test]
    fn lost_duplicated_and_misdirected_events_are_detected() {
        let now = Instant::now();
        let mut record = Record::new(0, Some(number_in));
        record.sent(now, now, FIRST);
        record.sent(now, now, SECOND);
        for (event, stream) in [(b"0", 4), (b"0", 7), (b"0", 7), (b"1", 4), (b"1", 5), (b"9", 4)] {
            assert!(record.event(event, stream, now));
        }
        assert!(!record.event(b":", 4, now));
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
        let mut record = Record::new(1, Some(number_in));
        for (number, concerned, seconds) in [(0, FIRST, 1_000), (1, SECOND, 10)] {
            record.sent(now, at(1), concerned);
            record.received(number, concerned.guest, at(seconds));
            record.answered(number, at(seconds + 2));
            record.received(number, concerned.dj, at(seconds + 7));
        }
        assert_eq!(range(&record.between(Due, Sent).unwrap()), (1, 1));
        assert_eq!(range(&record.between(Sent, Answered).unwrap()), (11, 11));
        assert_eq!(range(&record.between(Due, Answered).unwrap()), (12, 12));
        assert_eq!(range(&record.between(Sent, Delivered).unwrap()), (9, 16));
        assert_eq!(range(&record.between(Answered, Delivered).unwrap()), (0, 5));
    }

    #[test]
    fn no_events_are_expected_for_calls_without_streams() {
        let now = Instant::now();
        let mut record = Record::new(0, None);
        record.sent(now, now, FIRST);
        assert!(!record.event(b"0", 4, now));
        record.answered(0, now);
        assert!(record.is_complete());
        assert_eq!((record.answered_calls(), record.unexpected), (1, 0));
    }
}
