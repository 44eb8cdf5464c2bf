//! Clients who move money all the time, each command under a key that is sent until it is acknowledged.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{Answer, Person, Server};

/// Clients of a load, each with a person of its own.
pub(crate) const CLIENTS: usize = 32;

/// The pause between two commands of a client.
const PAUSE: Duration = Duration::from_millis(50);
/// The pause before a command is sent again.
const PAUSE_BEFORE_RETRY: Duration = Duration::from_millis(100);
/// How long a command is sent again and again.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(30);

/// What a command does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    /// Pays in 2.00.
    TopUp,
    /// Withdraws 1.00.
    Withdrawal,
}

impl Kind {
    /// The command, under this key.
    pub(crate) fn send(self, person: &Person, key: &str) -> Answer {
        let (path, body) = match self {
            Self::TopUp => ("/wallet/topups", r#"{"amount": 2}"#),
            Self::Withdrawal => (
                "/withdrawal/crypto",
                r#"{"amount": 1, "wallet_address": "a", "currency": "BTC", "network": "b"}"#,
            ),
        };
        person.call("POST", path).key(key).text(body).send()
    }

    /// The id of what a success made.
    pub(crate) fn id(self, answer: &Answer) -> i64 {
        let name = match self {
            Self::TopUp => "topup",
            Self::Withdrawal => "withdrawal_request",
        };
        answer.json()["data"][name]["id"].as_i64().unwrap_or_else(|| panic!("{answer}"))
    }
}

/// An answer: when it was asked for, how long it took, and which it was.
#[derive(Clone, Copy)]
struct Sample {
    sent: Instant,
    took: Duration,
    status: u16,
}

/// What a client knows at the end.
#[derive(Default)]
pub(crate) struct Diary {
    /// The ids of what was made, as acknowledged.
    pub(crate) acknowledged: BTreeMap<Kind, Vec<i64>>,
    /// Commands that were given up: each may have had its effect or not.
    pub(crate) given_up: BTreeMap<Kind, usize>,
}

/// The person of a client, who has paid in 100.00 before.
pub(crate) struct Payer {
    /// The person at every server.
    pub(crate) at: Vec<Person>,
    pub(crate) first_topup: i64,
}

/// A load on some servers.
pub(crate) struct Load {
    people: Vec<Payer>,
    ends: AtomicBool,
    samples: Mutex<Vec<Sample>>,
    /// Answers that no client should see.
    unexpected: Mutex<Vec<String>>,
}

/// Sets a flag at the end of its life.
pub(crate) struct SetOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The answers to what was sent from some moment on, in numbers.
pub(crate) struct Span {
    pub(crate) successes: usize,
    pub(crate) first_success: Option<Instant>,
    pub(crate) refused: usize,
    pub(crate) slowest_refusal: Duration,
    pub(crate) slowest_success: Duration,
}

impl Load {
    /// Registers the clients' people and logs them in at every server.
    pub(crate) fn prepare(servers: &[Server]) -> Self {
        let settle = || {
            let person = servers[0].guest();
            let at = servers.iter().map(|server| person.at(&server.client())).collect();
            Payer { at, first_topup: person.topup("100") }
        };
        let people = thread::scope(|scope| {
            let settling: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(settle)).collect();
            settling.into_iter().map(|person| person.join().unwrap()).collect()
        });
        Self {
            people,
            ends: AtomicBool::new(false),
            samples: Mutex::new(Vec::new()),
            unexpected: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn people(&self) -> &[Payer] {
        &self.people
    }

    /// Runs the clients until these faults are over, and each until it is done with the command that it is at.
    pub(crate) fn run(&self, faults: impl FnOnce()) -> Vec<Diary> {
        thread::scope(|scope| {
            // Also where a fault panics, so that the clients can be waited for.
            let ends = SetOnDrop(&self.ends);
            let clients: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(move || self.live(number))).collect();
            faults();
            drop(ends);
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        })
    }

    /// The answers to what was sent from this moment on. What was sent before a node was killed may be that node's answer.
    pub(crate) fn since(&self, begin: Instant) -> Span {
        let samples = self.samples.lock().unwrap();
        let samples: Vec<&Sample> = samples.iter().filter(|sample| sample.sent >= begin).collect();
        let successes = || samples.iter().filter(|sample| sample.status < 300);
        let refusals = || samples.iter().filter(|sample| sample.status == 503);
        Span {
            successes: successes().count(),
            first_success: successes().map(|sample| sample.sent + sample.took).min(),
            refused: refusals().count(),
            slowest_refusal: refusals().map(|sample| sample.took).max().unwrap_or_default(),
            slowest_success: successes().map(|sample| sample.took).max().unwrap_or_default(),
        }
    }

    /// Waits until this many commands were acknowledged after a moment; false where that takes too long.
    pub(crate) fn goes_on(&self, begin: Instant, successes: usize, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while self.since(begin).successes < successes {
            if Instant::now() > end {
                return false;
            }
            thread::sleep(Duration::from_millis(20));
        }
        true
    }

    /// Answers other than a success, a 503 and a command that is still at work.
    pub(crate) fn unexpected(&self) -> Vec<String> {
        self.unexpected.lock().unwrap().clone()
    }

    fn live(&self, number: usize) -> Diary {
        let mut diary = Diary::default();
        for count in 0.. {
            if self.ends.load(Ordering::SeqCst) {
                break;
            }
            let kind = if count % 2 == 0 { Kind::TopUp } else { Kind::Withdrawal };
            match self.insist(number, kind, &format!("load-{number}-{count}")) {
                Some(id) => diary.acknowledged.entry(kind).or_default().push(id),
                None => *diary.given_up.entry(kind).or_default() += 1,
            }
            thread::sleep(PAUSE);
        }
        diary
    }

    /// Sends a command under one key until it is acknowledged, to one server after the other.
    fn insist(&self, number: usize, kind: Kind, key: &str) -> Option<i64> {
        let end = Instant::now() + GIVEN_UP_AFTER;
        let here = &self.people[number].at;
        for attempt in 0.. {
            let sent = Instant::now();
            let answer = kind.send(&here[(number + attempt) % here.len()], key);
            let sample = Sample { sent, took: sent.elapsed(), status: answer.status };
            self.samples.lock().unwrap().push(sample);
            match answer.status {
                200..300 => return Some(kind.id(&answer)),
                503 => {}
                409 if answer.json()["code"] == "idempotency_in_flight" => {}
                _ => self.unexpected.lock().unwrap().push(answer.to_string()),
            }
            if Instant::now() > end {
                break;
            }
            thread::sleep(PAUSE_BEFORE_RETRY);
        }
        None
    }
}
