//! A storage outage: calls are refused at once, or in bounded time without an answer, and the service
//! recovers by itself.

use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cuepoint_store_sqlite::testing::WriteLock;
use serde_json::Value;

use crate::harness::{
    Answer, Browser, Call, Database, Person, Proxy, Server, Store, Traffic, cents, eventually,
};

/// The longest wait for a 503.
const BOUND: Duration = Duration::from_secs(5);

/// A server whose database can fail, and a guest with a balance.
struct Scene {
    server: Server,
    guest: Person,
}

impl Scene {
    fn of(server: Server) -> Self {
        let guest = server.payer("1000");
        Self { server, guest }
    }

    /// A server that reaches its database through a proxy.
    fn behind_a_proxy() -> (Self, Proxy) {
        let database = Arc::new(Database::postgres());
        let proxy = Proxy::start(database.server());
        (Self::of(Server::through(&database, &database.url_at(proxy.address()), &[])), proxy)
    }

    /// Takes the lock without which the server cannot write to its file.
    fn lock(&self) -> WriteLock {
        WriteLock::take(&self.server.database().unwrap().file())
    }

    fn withdrawal(&self, key: usize) -> Call {
        let body = r#"{"amount": 1, "wallet_address": "a", "currency": "BTC", "network": "b"}"#;
        self.guest.call("POST", "/withdrawal/crypto").key(&format!("key-{key}")).text(body)
    }

    fn health(&self, path: &str) -> Call {
        self.server.client().outside("GET", path)
    }

    /// Calls of every kind that needs the storage.
    fn calls(&self) -> Vec<Call> {
        let ready = self.health("/health/ready");
        [self.changes(), self.reads(), vec![ready]].concat()
    }

    /// Calls that only read.
    fn reads(&self) -> Vec<Call> {
        ["/wallet", "/music/user/requests"].map(|path| self.guest.call("GET", path)).to_vec()
    }

    /// Calls of every kind that changes the storage.
    fn changes(&self) -> Vec<Call> {
        let login = format!(r#"{{"email": "{}", "password": "correct horse"}}"#, self.guest.email);
        let client = self.server.client();
        let mut calls: Vec<Call> = (0..12).map(|key| self.withdrawal(key)).collect();
        calls.push(self.guest.call("PATCH", "/user/personal-info").text(r#"{"city": "Rome"}"#));
        calls.push(self.guest.call("POST", "/wallet/topups").key("topup").text(r#"{"amount": 7}"#));
        calls.push(client.call("POST", "/auth/login").text(&login));
        calls
    }

    fn is_well(&self) {
        eventually("it is ready again", || (self.health("/health/ready").send().status == 200).then_some(()));
        eventually("it takes commands again", || (self.withdrawal(100).send().status == 201).then_some(()));
    }

    /// Checks that every command refused during the outage is applied exactly once when it is resent with its
    /// key.
    fn assert_retries_succeed(&self) {
        for key in 0..12 {
            assert_eq!(self.withdrawal(key).send().status, 201);
        }
        self.calls().iter().for_each(|call| assert!(call.clone().send().status < 300));
        // Twelve, and the one of `is_well`.
        let (available, held) = self.guest.wallet();
        assert_eq!((cents(&available), cents(&held)), (100_700 - 1_300, 1_300));
        assert_eq!(self.guest.get("/withdrawals").data(200)["total"], 13);
        assert!(!self.server.log().contains("panicked"), "{}", self.server.log());
    }
}

/// The answers to concurrent calls, with their durations.
fn at_once(calls: Vec<Call>) -> Vec<(Answer, Duration)> {
    thread::scope(|scope| {
        let send = |call: Call| {
            let begin = Instant::now();
            let answer = call.send();
            (answer, begin.elapsed())
        };
        let threads: Vec<_> = calls.into_iter().map(|call| scope.spawn(move || send(call))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn is_unavailable(answers: &[(Answer, Duration)]) {
    for (answer, took) in answers {
        let body: Value = answer.refused(503, "unavailable");
        assert!(*took <= BOUND, "{took:?}: {answer}");
        let printed = body.to_string().to_lowercase();
        for cause in ["postgres", "connection", "sql", "timeout", "locked", "127.0.0.1"] {
            assert!(!printed.contains(cause), "the cause is shown: {answer}");
        }
    }
}

fn unavailable_while(traffic: Traffic) {
    let (scene, proxy) = Scene::behind_a_proxy();
    proxy.set(traffic);
    for _ in 0..2 {
        is_unavailable(&at_once(scene.calls()));
        assert_eq!(scene.health("/health/live").send().status, 200);
    }
    proxy.set(Traffic::Flows);
    scene.is_well();
    scene.assert_retries_succeed();
}

#[test]
fn calls_are_answered_with_503_while_the_database_is_unreachable() {
    unavailable_while(Traffic::Cut);
}

#[test]
fn calls_are_answered_with_503_while_the_database_does_not_respond() {
    unavailable_while(Traffic::Stuck);
}

#[test]
fn a_page_that_was_only_read_says_that_no_money_moved() {
    let (scene, proxy) = Scene::behind_a_proxy();
    let browser = Browser::logged_in(&scene.server.client(), &scene.guest);
    assert_eq!(browser.get("/wallet").status, 200);
    proxy.set(Traffic::Cut);
    let unknown = "We do not know yet whether the change was made.";
    for path in ["/wallet", "/account", "/"] {
        let page = browser.get(path);
        assert_eq!(page.status, 503, "{page}");
        assert!(page.text.contains("No money has moved.") && !page.text.contains(unknown), "{page}");
        assert!(page.text.contains(&format!("<a class=\"button\" href=\"{path}\">Try again</a>")), "{page}");
    }
    let form = browser.form("/account/name", &[("name", "Ada")]).header("referer", "http://x/account");
    let sent = browser.send(form);
    assert_eq!(sent.status, 503, "{sent}");
    assert!(sent.text.contains(unknown) && !sent.text.contains("No money has moved."), "{sent}");
    assert!(sent.text.contains("<a class=\"button\" href=\"/account\">Back</a>"), "{sent}");
    proxy.set(Traffic::Flows);
    scene.is_well();
}

#[test]
fn only_calls_that_write_are_answered_with_503_while_the_database_is_locked() {
    let scene = Scene::of(Server::start(Store::Sqlite));
    let lock = scene.lock();
    for _ in 0..2 {
        is_unavailable(&at_once(scene.changes()));
        let unready = at_once(vec![scene.health("/health/ready")]);
        is_unavailable(&unready);
        assert_eq!(unready[0].0.json()["message"], "Not ready: storage.");
        // Readers wait for no writer.
        for (answer, took) in at_once(scene.reads()) {
            answer.data(200);
            assert!(took < Duration::from_secs(1), "{took:?}: {answer}");
        }
        assert_eq!(scene.health("/health/live").send().status, 200);
    }
    drop(lock);
    scene.is_well();
    scene.assert_retries_succeed();
}

#[test]
fn a_logout_refused_during_a_database_lock_succeeds_on_a_retry() {
    let scene = Scene::of(Server::start(Store::Sqlite));
    let session = scene.guest.at(&scene.server.client());
    let lock = scene.lock();
    session.call("POST", "/auth/logout-everywhere").send().refused(503, "unavailable");
    session.get("/withdrawals/options").data(200);
    drop(lock);
    eventually("it is ended", || {
        (session.call("POST", "/auth/logout-everywhere").send().status == 200).then_some(())
    });
    for ended in [&session, &scene.guest] {
        ended.get("/withdrawals/options").refused(401, "session_ended");
    }
}

#[test]
fn retried_commands_take_effect_once_after_database_outages_under_load() {
    let (scene, proxy) = Scene::behind_a_proxy();
    outages_under_load(&scene, |round| {
        proxy.set(if round % 2 == 0 { Traffic::Cut } else { Traffic::Stuck });
        thread::sleep(Duration::from_millis(20));
        proxy.set(Traffic::Flows);
    });
}

#[test]
fn retried_commands_take_effect_once_after_database_locks_under_load() {
    let scene = Scene::of(Server::start(Store::Sqlite));
    outages_under_load(&scene, |round| {
        let lock = scene.lock();
        // Below and above the time for which the server waits.
        thread::sleep(Duration::from_millis(if round % 2 == 0 { 300 } else { 1_500 }));
        drop(lock);
    });
}

/// Runs six outages, each during 40 concurrent calls.
fn outages_under_load(scene: &Scene, fail: impl Fn(usize)) {
    for round in 0..6 {
        let keys: Vec<usize> = (0..40).map(|number| 1_000 + round * 40 + number).collect();
        thread::scope(|scope| {
            for key in &keys {
                scope.spawn(move || {
                    let answer = scene.withdrawal(*key).send();
                    if answer.status != 201 {
                        answer.refused(503, "unavailable");
                    }
                });
            }
            fail(round);
        });
        eventually("it is ready again", || {
            (scene.health("/health/ready").send().status == 200).then_some(())
        });
        for key in keys {
            eventually("each is applied", || (scene.withdrawal(key).send().status == 201).then_some(()));
        }
        let total = 40 * (round + 1);
        assert_eq!(scene.guest.get("/withdrawals").data(200)["total"], total);
        assert_eq!(cents(&scene.guest.wallet().1), 100 * total as i64);
    }
    assert!(!scene.server.log().contains("panicked"), "{}", scene.server.log());
}

#[test]
fn a_server_does_not_start_if_its_database_is_unreachable() {
    // A port that was free just now.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("postgres://somebody:hunter2@{address}/nowhere");
    let begin = Instant::now();
    let (status, printed) = crate::harness::run(&["serve"], Some(&url), &[]);
    assert!(!status.success() && begin.elapsed() < Duration::from_secs(15), "{printed}");
    assert!(printed.contains("storage.postgres") && !printed.contains("hunter2"), "{printed}");
}
