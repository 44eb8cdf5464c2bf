//! Idempotency keys: a command sent twice is executed once and answered twice.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cuepoint_store_sqlite::testing::WriteLock;
use serde_json::{Value, json};

use crate::harness::{
    Answer, Call, Database, PASSWORD, Person, Proxy, Server, Store, Traffic, eventually, song,
};

on_every_store!(twenty_concurrent_calls_with_one_idempotency_key_have_one_effect);
on_one_store!(
    a_repeated_command_is_answered_with_a_replay,
    commands_of_guests_and_djs_accept_an_idempotency_key,
    an_idempotency_key_is_scoped_to_its_user_method_and_path,
    a_replay_takes_precedence_over_a_refusal,
    logins_ignore_idempotency_keys,
);

const REPLAYED: &str = "idempotency-replayed";

fn topup(person: &Person, key: &str, body: &str) -> Answer {
    person.call("POST", "/wallet/topups").key(key).text(body).send()
}

/// Checks that the second answer replays the first.
fn is_replay(first: &Answer, second: &Answer) {
    assert_eq!(first.header(REPLAYED), None, "{first}");
    assert_eq!(second.header(REPLAYED), Some("true"), "{second}");
    assert_eq!((first.status, &first.text), (second.status, &second.text));
    for name in ["location", "content-type"] {
        assert_eq!(first.header(name), second.header(name), "{name}");
    }
}

fn a_repeated_command_is_answered_with_a_replay(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let first = topup(&guest, "k", r#"{"amount": 5}"#);
    first.data(201);
    for _ in 0..2 {
        is_replay(&first, &topup(&guest, "k", r#"{"amount": 5}"#));
    }
    assert_eq!(guest.wallet().0, "5.00");
    // Without the key, or with another, it is a separate command.
    topup(&guest, "K", r#"{"amount": 5}"#).data(201);
    guest.topup("5");
    assert_eq!(guest.wallet().0, "15.00");
}

fn commands_of_guests_and_djs_accept_an_idempotency_key(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("100"), server.dj());
    let twice = |person: &Person, method: &str, path: &str, body: Option<Value>| -> Answer {
        let call = person.call(method, path).key("once");
        let call = match &body {
            Some(body) => call.json(body),
            None => call,
        };
        let first = call.clone().send();
        assert!(matches!(first.status, 200 | 201), "{first}");
        is_replay(&first, &call.send());
        first
    };
    twice(&dj, "PATCH", "/user/personal-info", Some(json!({"city": "Rome"})));
    let id = twice(&guest, "POST", "/music/requests", Some(song(dj.id))).data(201)["id"].clone();
    twice(&dj, "PATCH", &format!("/music/requests-update/{id}"), Some(json!({"status": "accepted"})));
    let other = guest.request_song(&dj);
    twice(&guest, "POST", &format!("/music/requests/{other}/cancel"), None);
    twice(&guest, "POST", "/wallet/topups", Some(json!({"amount": 1})));
    let body = json!({"amount": 10, "wallet_address": "a", "currency": "BTC", "network": "b"});
    let answer = twice(&guest, "POST", "/withdrawal/crypto", Some(body));
    let id = answer.json()["data"]["withdrawal_request"]["id"].clone();
    twice(&guest, "POST", &format!("/withdrawals/{id}/cancel"), Some(json!({})));
    // 100 + 1, less the fee of the accepted request.
    assert_eq!(guest.wallet(), ("96.00".into(), "5.00".into()));
    assert_eq!(guest.entries().len(), 7);
}

fn an_idempotency_key_is_scoped_to_its_user_method_and_path(store: Store) {
    let server = Server::start(store);
    let (one, two, dj) = (server.guest(), server.guest(), server.dj());
    for person in [&one, &two, &dj] {
        assert_eq!(topup(person, "k", r#"{"amount": 20}"#).header(REPLAYED), None);
    }
    let requests = [one.request_song(&dj), one.request_song(&dj)];
    for request in requests {
        let call = one.call("POST", &format!("/music/requests/{request}/cancel")).key("k");
        let answer = call.send();
        assert_eq!((answer.data(200)["id"].as_i64(), answer.header(REPLAYED)), (Some(request), None));
    }
    let answer = dj.call("PATCH", "/user/personal-info").key("k").text(r#"{"amount": 20}"#).send();
    answer.data(200);
    assert_eq!(answer.header(REPLAYED), None);
    assert_eq!([one.wallet().0, two.wallet().0, dj.wallet().0], ["20.00"; 3]);
}

/// Attack API6: repeating a command many times in parallel.
fn twenty_concurrent_calls_with_one_idempotency_key_have_one_effect(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("100"), server.dj());
    let at_once = |call: &crate::harness::Call| -> Vec<Answer> {
        thread::scope(|scope| {
            let threads: Vec<_> = (0..20).map(|_| scope.spawn(|| call.clone().send())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    };
    let body = json!({"amount": 30, "wallet_address": "a", "currency": "BTC", "network": "b"});
    let withdrawal = guest.call("POST", "/withdrawal/crypto").key("k").json(&body);
    let request = guest.call("POST", "/music/requests").key("k").json(&song(dj.id));
    let topup = guest.call("POST", "/wallet/topups").key("k").json(&json!({"amount": 7}));
    let profile = dj.call("PATCH", "/user/personal-info").key("k").json(&json!({"city": "Rome"}));
    for call in [&withdrawal, &request, &topup, &profile] {
        let answers = at_once(call);
        let fresh = answers.iter().filter(|answer| answer.header(REPLAYED).is_none()).count();
        assert_eq!(fresh, 1);
        for answer in &answers {
            assert_eq!((answer.status, &answer.text), (answers[0].status, &answers[0].text));
            assert!(matches!(answer.status, 200 | 201), "{answer}");
        }
    }
    assert_eq!(guest.wallet(), ("72.00".into(), "35.00".into()));
    assert_eq!(guest.entries().len(), 4);
}

fn a_replay_takes_precedence_over_a_refusal(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("5"), server.dj());
    let request_song = || guest.call("POST", "/music/requests").key("k").json(&song(dj.id)).send();
    let first = request_song();
    let request = first.data(201)["id"].as_i64().unwrap();
    let accept = || {
        let path = format!("/music/requests-update/{request}");
        dj.call("PATCH", &path).key("k").json(&json!({"status": "accepted"})).send()
    };
    let accepted = accept();
    assert_eq!(accepted.data(200)["status"], "accepted");
    dj.answer(request, "played").data(200);
    dj.patch("/user/personal-info", &json!({"online": 0, "fee_upcoming_artist": 50})).data(200);
    // By now the DJ is offline and more expensive, the money is spent, and the request is played.
    is_replay(&first, &request_song());
    is_replay(&accepted, &accept());
    assert_eq!(guest.get(&format!("/music/requests/{request}")).data(200)["status"], "played");
}

/// Sends the same call twice concurrently.
fn twins(call: &Call) -> [Answer; 2] {
    thread::scope(|scope| {
        let threads = [(); 2].map(|()| scope.spawn(|| call.clone().send()));
        threads.map(|thread| thread.join().unwrap())
    })
}

/// A server behind a proxy, and a top-up call with a key.
fn before_a_proxy() -> (Server, Proxy, Person, Call) {
    let database = Arc::new(Database::postgres());
    let proxy = Proxy::start(database.server());
    let server = Server::through(&database, &database.url_at(proxy.address()), &[]);
    let guest = server.guest();
    let call = guest.call("POST", "/wallet/topups").key("k").text(r#"{"amount": 5}"#);
    (server, proxy, guest, call)
}

#[test]
fn a_concurrent_duplicate_waits_and_gets_a_replay() {
    let (_server, proxy, guest, call) = before_a_proxy();
    proxy.set(Traffic::Stuck);
    one_of_twins_is_replayed(&guest, &call, || proxy.set(Traffic::Flows));
}

#[test]
fn a_duplicate_waits_for_a_locked_database_and_gets_a_replay() {
    let server = Server::start(Store::Sqlite);
    let guest = server.guest();
    let call = guest.call("POST", "/wallet/topups").key("k").text(r#"{"amount": 5}"#);
    let lock = WriteLock::take(&server.database().unwrap().file());
    one_of_twins_is_replayed(&guest, &call, || drop(lock));
}

/// Sends a call twice to a store that stalls, and then lets the store go on.
fn one_of_twins_is_replayed(guest: &Person, call: &Call, go_on: impl FnOnce()) {
    let answers = thread::scope(|scope| {
        let answers = scope.spawn(|| twins(call));
        // Long enough for both to be in flight; the test holds otherwise too.
        thread::sleep(Duration::from_millis(300));
        go_on();
        answers.join().unwrap()
    });
    let [one, other] = &answers;
    assert_eq!((one.status, &one.text), (201, &other.text), "{other}");
    let replayed = answers.iter().filter(|answer| answer.header(REPLAYED).is_some());
    assert_eq!(replayed.count(), 1);
    assert_eq!(guest.wallet().0, "5.00");
}

#[test]
fn a_duplicate_that_waits_too_long_is_refused_as_in_flight() {
    let (server, proxy, guest, call) = before_a_proxy();
    proxy.set(Traffic::Stuck);
    let begin = Instant::now();
    let mut answers = twins(&call);
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    answers.sort_by_key(|answer| answer.status);
    answers[0].refused(409, "idempotency_in_flight");
    assert_eq!(answers[0].header("retry-after"), Some("1"));
    answers[1].refused(503, "unavailable");
    proxy.set(Traffic::Flows);
    eventually("it is done after all", || (call.clone().send().status == 201).then_some(()));
    assert_eq!(guest.wallet().0, "5.00");
    assert!(!server.log().contains("panicked"));
}

fn logins_ignore_idempotency_keys(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let body = json!({"email": guest.email, "password": PASSWORD});
    let login = |key: &str| server.client().call("POST", "/auth/login").key(key).json(&body).send();
    let tokens: Vec<Value> = (0..2)
        .map(|_| {
            let answer = login("k");
            assert_eq!(answer.header(REPLAYED), None);
            answer.data(200)["refresh_token"].clone()
        })
        .collect();
    assert_ne!(tokens[0], tokens[1]);
}
