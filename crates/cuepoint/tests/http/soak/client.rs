//! One client of the soak: draws operations, sends them, and records the acknowledged answers.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

use fastrand::Rng;
use serde_json::{Value, json};

use super::books::Fact;
use super::{CLIENTS, DJS};
use crate::harness::{Answer, Person, cents, song};

/// The number of newest objects to act on; small, so that many clients act on the same object.
const NEWEST: usize = 48;

const APPROVE: &str = "POST /operator/withdrawals/{id}/approve";
const REJECT: &str = "POST /operator/withdrawals/{id}/reject";
const PROCESS: &str = "POST /operator/withdrawals/{id}/process";
const BROADCAST: &str = "POST /operator/withdrawals/{id}/broadcast";
const COMPLETE: &str = "POST /operator/withdrawals/{id}/complete";
const FAIL: &str = "POST /operator/withdrawals/{id}/fail";
const REVIEW: &str = "POST /operator/withdrawals/{id}/review";

/// Every route in use, with the answers that the contract names for such calls; commands may also be answered
/// with [`OF_COMMANDS`].
const ROUTES: &[(&str, &[&str])] = &[
    ("GET", &["200"]),
    ("POST /wallet/topups", &["201"]),
    (
        "POST /music/requests",
        &["201", "422 insufficient_funds", "422 validation_failed", "409 dj_offline", "409 wallet_owes"],
    ),
    (
        "POST /music/requests/{id}/cancel",
        &["200", "409 invalid_transition", "403 not_your_request", "404 not_found"],
    ),
    (
        "PATCH /music/requests-update/{id}",
        &["200", "409 invalid_transition", "403 not_your_request", "404 not_found"],
    ),
    ("POST /withdrawal/crypto", &["201", "409 wallet_owes", "422 insufficient_funds", "422 limit_exceeded"]),
    ("POST /withdrawals/{id}/cancel", &["200", "409 invalid_transition"]),
    ("PATCH /user/personal-info", &["200"]),
    (APPROVE, &["200", "409 invalid_transition", "409 wallet_owes"]),
    (REJECT, &["200", "409 invalid_transition"]),
    (PROCESS, &["200", "409 invalid_transition", "409 wallet_owes"]),
    (BROADCAST, &["200", "409 invalid_transition"]),
    (COMPLETE, &["200", "409 invalid_transition"]),
    (FAIL, &["200", "409 invalid_transition"]),
    (REVIEW, &["200", "409 invalid_transition"]),
    ("POST /operator/music/requests/{id}/refund", &["200", "409 invalid_transition"]),
    ("POST /operator/adjustments", &["201", "422 insufficient_funds"]),
];
const OF_COMMANDS: [&str; 2] = ["409 conflict", "409 idempotency_in_flight"];

/// The count of each answer, by route, status and code.
pub(super) type Tally = BTreeMap<String, usize>;

/// A request with its guest and DJ, by index.
#[derive(Clone, Copy)]
struct Asked {
    id: i64,
    guest: usize,
    dj: usize,
}

/// The users, each on both servers, and their shared objects.
pub(super) struct Town {
    pub(super) people: Vec<[Person; 2]>,
    operator: [Person; 2],
    /// Operators who review withdrawals.
    judges: [[Person; 2]; 2],
    requests: Mutex<Vec<Asked>>,
    /// Withdrawals with their owners.
    withdrawals: Mutex<Vec<(i64, usize)>>,
}

impl Town {
    pub(super) const fn new(
        people: Vec<[Person; 2]>,
        operator: [Person; 2],
        judges: [[Person; 2]; 2],
    ) -> Self {
        let requests = Mutex::new(Vec::new());
        Self { people, operator, judges, requests, withdrawals: Mutex::new(Vec::new()) }
    }
}

/// A client that acts for one user, and for others in races.
pub(super) struct Client<'a> {
    town: &'a Town,
    me: usize,
    rng: Rng,
    keys: usize,
    facts: Vec<Fact>,
    tally: Tally,
}

impl<'a> Client<'a> {
    pub(super) fn new(town: &'a Town, me: usize) -> Self {
        let rng = Rng::with_seed(me as u64);
        Self { town, me, rng, keys: 0, facts: Vec::new(), tally: Tally::new() }
    }

    /// Executes this many operations, and returns the acknowledged facts and a tally of the answers.
    pub(super) fn live(mut self, operations: usize) -> (Vec<Fact>, Tally) {
        for _ in 0..operations {
            self.operate();
        }
        (self.facts, self.tally)
    }

    fn operate(&mut self) {
        match self.rng.usize(..100) {
            0..14 => self.top_up(),
            14..36 => self.request_song(),
            36..60 => self.move_request(),
            60..68 => self.withdraw(),
            68..72 => self.cancel_withdrawal(),
            72..82 => self.judge_withdrawal(),
            82..84 => self.refund(),
            84..86 => self.adjust(),
            86..91 => self.change_profile(),
            _ => self.read(),
        }
    }

    fn top_up(&mut self) {
        let sum = 100 * self.rng.usize(..25) as i64 + 1;
        let body = json!({"amount": sum as f64 / 100.0});
        let answer = self.command(self.me(), "POST /wallet/topups", None, &body);
        if answer.status == 201 {
            self.facts.push(Fact::Received { who: self.me, cents: sum });
        }
    }

    fn request_song(&mut self) {
        let guest = self.me;
        let dj = (guest + 1 + self.rng.usize(..DJS - 1)) % DJS;
        let mut body = song(self.town.people[dj][0].id);
        // Above every price, or below some.
        if let Some(fee) = self.one_of(&[None, None, Some(8.51), Some(4.50)]) {
            body["fee"] = json!(fee);
        }
        if dj == guest {
            return;
        }
        let answer = self.command(self.me(), "POST /music/requests", None, &body);
        if answer.status == 201 {
            let (id, fee) = (answer.data(201)["id"].as_i64().unwrap(), cents(&answer.raw("/data/fee")));
            self.facts.push(Fact::Asked { request: id, guest, dj, fee });
            self.town.requests.lock().unwrap().push(Asked { id, guest, dj });
        }
    }

    fn move_request(&mut self) {
        let Some(Asked { id, guest, dj }) = self.newest(&self.town.requests) else { return };
        let to = self.one_of(&["accepted", "accepted", "rejected", "played", "played", "cancelled"]);
        // Occasionally the request is invisible to the caller.
        let stranger = (self.rng.usize(..30) == 0).then_some(self.me);
        let answer = if to == "cancelled" {
            let who = &self.town.people[stranger.unwrap_or(guest)];
            self.command(who, "POST /music/requests/{id}/cancel", Some(id), &json!({}))
        } else {
            let who = &self.town.people[stranger.unwrap_or(dj)];
            self.command(who, "PATCH /music/requests-update/{id}", Some(id), &json!({"status": to}))
        };
        self.note_request(id, &answer);
    }

    fn refund(&mut self) {
        let Some(Asked { id, .. }) = self.newest(&self.town.requests) else { return };
        let body = json!({"reason": "another song was played"});
        let path = "POST /operator/music/requests/{id}/refund";
        let answer = self.command(&self.town.operator, path, Some(id), &body);
        self.note_request(id, &answer);
    }

    fn note_request(&mut self, request: i64, answer: &Answer) {
        if answer.status == 200 {
            let status = answer.data(200)["status"].as_str().unwrap().to_owned();
            self.facts.push(Fact::Request { request, status });
        }
    }

    fn withdraw(&mut self) {
        let who = self.me;
        let sum = 100 + self.rng.usize(..1_500) as i64;
        let body = json!({
            "amount": sum as f64 / 100.0, "wallet_address": "bc1q", "currency": "BTC", "network": "bitcoin"
        });
        let answer = self.command(self.me(), "POST /withdrawal/crypto", None, &body);
        if answer.status == 201 {
            let withdrawal = answer.json()["data"]["withdrawal_request"]["id"].as_i64().unwrap();
            self.facts.push(Fact::Withdrew { withdrawal, who, cents: sum });
            self.town.withdrawals.lock().unwrap().push((withdrawal, who));
        }
    }

    fn cancel_withdrawal(&mut self) {
        let Some((id, owner)) = self.newest(&self.town.withdrawals) else { return };
        let owner = &self.town.people[owner];
        let answer = self.command(owner, "POST /withdrawals/{id}/cancel", Some(id), &json!({}));
        self.note_withdrawal(id, &answer);
    }

    /// Advances a withdrawal, regardless of concurrent changes; two operators approve it.
    fn judge_withdrawal(&mut self) {
        let Some((id, _)) = self.newest(&self.town.withdrawals) else { return };
        let way = self.one_of(&[
            &[REJECT][..],
            &[APPROVE, REJECT],
            &[APPROVE, PROCESS, FAIL],
            &[APPROVE, PROCESS, BROADCAST, COMPLETE],
            &[PROCESS, REVIEW, COMPLETE, FAIL],
        ]);
        let body = json!({"reason": "as the bank says", "txid": format!("tx-{id}")});
        let judges = self.town.judges.each_ref();
        let judges = if self.rng.usize(..2) == 0 { judges } else { [judges[1], judges[0]] };
        for route in way {
            let by = if *route == APPROVE { &judges[..] } else { &judges[..1] };
            for judge in by {
                let answer = self.command(judge, route, Some(id), &body);
                self.note_withdrawal(id, &answer);
            }
        }
    }

    fn note_withdrawal(&mut self, withdrawal: i64, answer: &Answer) {
        if answer.status == 200 {
            let status = answer.data(200)["status"].as_str().unwrap().to_owned();
            self.facts.push(Fact::Withdrawal { withdrawal, status });
        }
    }

    fn adjust(&mut self) {
        let who = self.rng.usize(..CLIENTS);
        let sum = self.one_of(&[-301, -50, 75, 200]);
        let user = self.town.people[who][0].id;
        let body = json!({"user_id": user, "amount": sum as f64 / 100.0, "reason": "a correction"});
        let answer = self.command(&self.town.operator, "POST /operator/adjustments", None, &body);
        if answer.status == 201 {
            self.facts.push(Fact::Received { who, cents: sum });
        }
    }

    fn change_profile(&mut self) {
        let body = if self.me < DJS {
            let (online, price) = (self.one_of(&[0, 1, 1, 1]), self.one_of(&[0.0, 3.0, 4.75, 5.0]));
            json!({"online": online, "fee_upcoming_artist": price})
        } else {
            json!({"city": self.one_of(&["Rome", "Oslo"])})
        };
        self.command(self.me(), "PATCH /user/personal-info", None, &body);
    }

    fn read(&mut self) {
        let path = self.one_of(&[
            "/wallet",
            "/wallet/entries?per_page=5",
            "/wallet/topups",
            "/music/user/requests?status=expired",
            "/withdrawals",
            "/user/personal-info",
            "/djs?online=1",
        ]);
        let server = self.rng.usize(..2);
        let answer = self.me()[server].get(path);
        self.check("GET", &answer);
    }

    fn me(&self) -> &'a [Person; 2] {
        &self.town.people[self.me]
    }

    /// One of the newest objects of a kind, if any.
    fn newest<T: Copy>(&mut self, candidates: &Mutex<Vec<T>>) -> Option<T> {
        let candidates = candidates.lock().unwrap();
        let newest = &candidates[candidates.len().saturating_sub(NEWEST)..];
        self.rng.choice(newest).copied()
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        *self.rng.choice(items).unwrap()
    }

    /// Sends a command to either server, with or without a key, once or twice; returns its success, if any.
    fn command(&mut self, who: &[Person; 2], route: &'static str, id: Option<i64>, body: &Value) -> Answer {
        let (method, path) = route.split_once(' ').unwrap();
        let path = id.map_or_else(|| path.to_owned(), |id| path.replace("{id}", &id.to_string()));
        let here = self.rng.usize(..2);
        let call = |server: usize| who[server].call(method, &path).json(body);
        if self.rng.usize(..2) == 0 {
            let answer = call(here).send();
            self.check(route, &answer);
            return answer;
        }
        self.keys += 1;
        let key = format!("{}-{}", self.me, self.keys);
        let [first, second] = [call(here).key(&key), call(1 - here).key(&key)];
        let answers = match self.rng.usize(..5) {
            0 => vec![first.send(), second.send()],
            1 => thread::scope(|scope| {
                let second = scope.spawn(|| second.send());
                vec![first.send(), second.join().unwrap()]
            }),
            _ => vec![first.send()],
        };
        answers.iter().for_each(|answer| self.check(route, answer));
        one_effect(answers)
    }

    /// Checks that the contract names this answer.
    fn check(&mut self, route: &str, answer: &Answer) {
        let outcome = match answer.status {
            200..300 => answer.status.to_string(),
            status => format!("{status} {}", answer.json()["code"].as_str().unwrap_or_default()),
        };
        let (_, named) = ROUTES.iter().find(|(known, _)| *known == route).unwrap();
        let of_commands = route != "GET" && OF_COMMANDS.contains(&outcome.as_str());
        assert!(of_commands || named.contains(&outcome.as_str()), "{route} came to {answer}");
        *self.tally.entry(format!("{route} {outcome}")).or_default() += 1;
    }
}

/// The success among the answers under one key; two successes are one and its replay.
fn one_effect(answers: Vec<Answer>) -> Answer {
    let done: Vec<&Answer> = answers.iter().filter(|answer| answer.status < 300).collect();
    if let [one, other] = done[..] {
        assert_eq!((one.status, &one.text), (other.status, &other.text), "{one}");
        let replays = done.iter().filter(|answer| answer.header("idempotency-replayed").is_some());
        assert_eq!(replays.count(), 1, "{one}");
    }
    let place = answers.iter().position(|answer| answer.status < 300).unwrap_or(0);
    answers.into_iter().nth(place).unwrap()
}
