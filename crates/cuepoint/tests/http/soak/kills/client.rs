//! One client: draws commands, and repeats each under its key until it is answered.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde_json::{Value, json};

use super::super::books::Fact;
use super::{DJS, Town};
use crate::harness::{Answer, cents, song};

/// The number of newest objects to act on; small, so that several clients act on the same object.
const NEWEST: usize = 32;
/// The time within which a command is answered, in spite of kills.
const PATIENCE: Duration = Duration::from_secs(60);

/// The refusals of commands that end them.
const REFUSALS: [&str; 4] =
    ["422 insufficient_funds", "422 limit_exceeded", "409 invalid_transition", "409 conflict"];
/// The failures after which a command is repeated.
const TRANSIENT: [&str; 2] = ["503 unavailable", "409 idempotency_in_flight"];

/// A request with its guest and DJ, by index.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    id: i64,
    guest: usize,
    dj: usize,
}

/// A command and its answer.
pub(super) struct Acknowledged {
    command: Command,
    text: String,
}

/// A call that can be repeated.
struct Command {
    who: usize,
    method: &'static str,
    path: String,
    key: String,
    body: Value,
    /// The kind of its operation; `move` is any change of a status.
    kind: &'static str,
}

impl Command {
    /// Sends it once, to the current address.
    fn send(&self, town: &Town) -> Result<Answer, ureq::Error> {
        let person = town.people[self.who].moved_to(&town.address());
        person.call(self.method, &self.path).key(&self.key).json(&self.body).try_send()
    }
}

impl Acknowledged {
    /// Checks that a repetition gets the same answer, as a replay.
    pub(super) fn assert_replayed(&self, town: &Town) {
        let answer = self.command.send(town).unwrap();
        assert_eq!(answer.text, self.text, "{answer}");
        assert!(answer.header("idempotency-replayed").is_some(), "{answer}");
    }
}

/// The outcome of a client's commands.
#[derive(Default)]
pub(super) struct Report {
    pub(super) facts: Vec<Fact>,
    pub(super) acknowledged: Vec<Acknowledged>,
    refused: usize,
    /// Attempts without an answer.
    unanswered: usize,
    /// Commands that were applied by an attempt without an answer.
    found: usize,
}

impl Report {
    /// The number of acknowledged commands of each kind.
    pub(super) fn kinds(&self) -> BTreeMap<&'static str, usize> {
        let mut kinds = BTreeMap::new();
        for Acknowledged { command, .. } in &self.acknowledged {
            *kinds.entry(command.kind).or_default() += 1;
        }
        kinds
    }

    /// The sums of several reports, in words.
    pub(super) fn sum(reports: &[Self]) -> impl fmt::Display + use<> {
        let total = |count: fn(&Self) -> usize| reports.iter().map(count).sum::<usize>();
        let mut kinds = BTreeMap::<_, usize>::new();
        for (kind, count) in reports.iter().flat_map(Self::kinds) {
            *kinds.entry(kind).or_default() += count;
        }
        format!(
            "{} acknowledged {kinds:?}, {} refused, {} attempts without an answer, of which {} were applied",
            total(|report| report.acknowledged.len()),
            total(|report| report.refused),
            total(|report| report.unanswered),
            total(|report| report.found),
        )
    }
}

/// A client that acts for one user, and for others in races.
pub(super) struct KeyedClient<'a> {
    town: &'a Town,
    me: usize,
    rng: Rng,
    keys: usize,
    report: Report,
}

impl<'a> KeyedClient<'a> {
    pub(super) fn new(town: &'a Town, me: usize) -> Self {
        Self { town, me, rng: Rng::with_seed(me as u64), keys: 0, report: Report::default() }
    }

    /// Executes commands until the run is over.
    pub(super) fn live(mut self) -> Report {
        while !self.town.over.load(Ordering::Relaxed) {
            match self.rng.usize(..100) {
                0..20 => self.top_up(),
                20..45 => self.request_song(),
                45..75 => self.move_request(),
                75..90 => self.withdraw(),
                _ => self.cancel_withdrawal(),
            }
        }
        self.report
    }

    fn top_up(&mut self) {
        let cents = 100 * self.rng.usize(..25) as i64 + 1;
        let body = json!({"amount": cents as f64 / 100.0});
        let answer = self.command(self.me, "POST", "/wallet/topups".to_owned(), body, "open_topup");
        if answer.is_some() {
            self.report.facts.push(Fact::Received { who: self.me, cents });
        }
    }

    fn request_song(&mut self) {
        let (guest, dj) = (self.me, self.rng.usize(..DJS));
        if dj == guest {
            return;
        }
        let body = song(self.town.people[dj].id);
        let answer = self.command(guest, "POST", "/music/requests".to_owned(), body, "open_request");
        if let Some(answer) = answer {
            let (id, fee) = (answer.data(201)["id"].as_i64().unwrap(), cents(&answer.raw("/data/fee")));
            self.report.facts.push(Fact::Asked { request: id, guest, dj, fee });
            self.town.requests.lock().unwrap().push(Asked { id, guest, dj });
        }
    }

    fn move_request(&mut self) {
        let Some(Asked { id, guest, dj }) = self.newest(&self.town.requests) else { return };
        let verdicts = ["accepted", "accepted", "played", "played", "rejected", "cancelled"];
        let answer = match *self.rng.choice(&verdicts).unwrap() {
            "cancelled" => {
                let path = format!("/music/requests/{id}/cancel");
                self.command(guest, "POST", path, json!({}), "move")
            }
            verdict => {
                let path = format!("/music/requests-update/{id}");
                self.command(dj, "PATCH", path, json!({"status": verdict}), "move")
            }
        };
        if let Some(answer) = answer {
            let status = answer.data(200)["status"].as_str().unwrap().to_owned();
            self.report.facts.push(Fact::Request { request: id, status });
        }
    }

    fn withdraw(&mut self) {
        let (who, cents) = (self.me, 100 + self.rng.usize(..900) as i64);
        let body = json!({
            "amount": cents as f64 / 100.0, "wallet_address": "bc1q", "currency": "BTC", "network": "bitcoin"
        });
        let path = "/withdrawal/crypto".to_owned();
        if let Some(answer) = self.command(who, "POST", path, body, "open_withdrawal") {
            let withdrawal = answer.json()["data"]["withdrawal_request"]["id"].as_i64().unwrap();
            self.report.facts.push(Fact::Withdrew { withdrawal, who, cents });
            self.town.withdrawals.lock().unwrap().push((withdrawal, who));
        }
    }

    fn cancel_withdrawal(&mut self) {
        let Some((withdrawal, owner)) = self.newest(&self.town.withdrawals) else { return };
        let path = format!("/withdrawals/{withdrawal}/cancel");
        if let Some(answer) = self.command(owner, "POST", path, json!({}), "move") {
            let status = answer.data(200)["status"].as_str().unwrap().to_owned();
            self.report.facts.push(Fact::Withdrawal { withdrawal, status });
        }
    }

    fn newest<T: Copy>(&mut self, candidates: &Mutex<Vec<T>>) -> Option<T> {
        let candidates = candidates.lock().unwrap();
        let newest = &candidates[candidates.len().saturating_sub(NEWEST)..];
        self.rng.choice(newest).copied()
    }

    /// Repeats a command under a new key until it is answered; returns its success, if any.
    fn command(
        &mut self,
        who: usize,
        method: &'static str,
        path: String,
        body: Value,
        kind: &'static str,
    ) -> Option<Answer> {
        self.keys += 1;
        let key = format!("{}-{}", self.me, self.keys);
        let command = Command { who, method, path, key, body, kind };
        let (begin, mut lost) = (Instant::now(), 0);
        loop {
            assert!(begin.elapsed() < PATIENCE, "{method} {} is not answered", command.path);
            let Ok(answer) = command.send(self.town) else {
                lost += 1;
                thread::sleep(Duration::from_millis(2));
                continue;
            };
            if (200..300).contains(&answer.status) {
                self.report.unanswered += lost;
                if answer.header("idempotency-replayed").is_some() {
                    self.report.found += 1;
                    self.town.found.fetch_add(1, Ordering::Relaxed);
                }
                self.report.acknowledged.push(Acknowledged { command, text: answer.text.clone() });
                self.town.acknowledged.fetch_add(1, Ordering::Relaxed);
                return Some(answer);
            }
            let outcome = format!("{} {}", answer.status, answer.json()["code"].as_str().unwrap_or_default());
            if REFUSALS.contains(&outcome.as_str()) {
                self.report.unanswered += lost;
                self.report.refused += 1;
                return None;
            }
            assert!(TRANSIENT.contains(&outcome.as_str()), "{answer}");
        }
    }
}
