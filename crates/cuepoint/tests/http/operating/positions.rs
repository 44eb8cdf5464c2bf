//! Positions of operations while one of two servers is killed or stopped between number and commit.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Answer, Call, Database, Person, SHARED_KEY, Server, eventually, operator_keys};

/// The time within which another server answers again.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);
const OPERATOR: &str = "operator@example.com";

/// Two servers on one database; the first one crashes in this way before the commit of a top-up with a key.
fn servers(database: &Arc<Database>, crash_by: &str) -> (Server, Server, Person) {
    let keys = [&operator_keys(OPERATOR)[..], &[SHARED_KEY]].concat();
    let crash = [
        ("CUEPOINT_CRASH_AT", "before_commit"),
        ("CUEPOINT_CRASH_ON", "open_topup"),
        ("CUEPOINT_CRASH_BY", crash_by),
    ];
    let doomed = Server::on(database, &[&keys[..], &crash].concat());
    let other = Server::on(database, &keys);
    let operator = other.client().login(OPERATOR);
    (doomed, other, operator)
}

fn topup(guest: &Person) -> Call {
    guest.call("POST", "/wallet/topups").key("once").json(&json!({"amount": 1}))
}

/// The positions and the users of all events, after checking that the former have no gap.
fn topups(operator: &Person) -> Vec<i64> {
    let page: Value = operator.get("/operator/events").data(200);
    let events = page["events"].as_array().unwrap();
    let positions: Vec<i64> = events.iter().map(|event| event["position"].as_i64().unwrap()).collect();
    assert_eq!(positions, (1..=page["head"].as_i64().unwrap()).collect::<Vec<_>>());
    events.iter().map(|event| event["data"]["topup"]["user_id"].as_i64().unwrap()).collect()
}

/// Waits until the process of a server has this state.
fn until_stopped(server: &Server) {
    let state = format!("/proc/{}/stat", server.pid());
    eventually("the server is stopped", || {
        let stat = std::fs::read_to_string(&state).unwrap();
        stat.rsplit_once(") ").unwrap().1.starts_with('T').then_some(())
    });
}

/// Opens a top-up, repeating refused attempts under its key, and returns the time until it was answered.
fn time_of_topup(guest: &Person) -> Duration {
    let start = Instant::now();
    eventually("the top-up is answered", || {
        let answer = topup(guest).send();
        assert!([201, 503].contains(&answer.status), "{answer}");
        (answer.status == 201).then_some(())
    });
    start.elapsed()
}

#[test]
fn a_server_frozen_before_its_commit_delays_other_servers_under_five_seconds() {
    let database = Arc::new(Database::postgres());
    let (stopped, other, operator) = servers(&database, "stop");
    let (ada, bob) = (stopped.guest(), other.guest());
    let answer: Answer = thread::scope(|scope| {
        let waiting = scope.spawn(|| topup(&ada).send());
        until_stopped(&stopped);
        let took = time_of_topup(&bob);
        assert!(took < ANSWERS_WITHIN, "{took:?}");
        assert_eq!(topups(&operator), [bob.id], "the stopped server has committed nothing");
        stopped.signal("CONT");
        waiting.join().unwrap()
    });
    // PostgreSQL has ended its transaction; it answers with a failure, or after another attempt.
    assert!([201, 503].contains(&answer.status), "{answer}");
    let ada = ada.moved_to(&other.client());
    topup(&ada).send().data(201);
    assert_eq!(topups(&operator), [bob.id, ada.id], "applied once");
}

#[test]
fn a_server_killed_before_its_commit_leaves_no_gap() {
    let database = Arc::new(Database::postgres());
    let (mut killed, other, operator) = servers(&database, "abort");
    let (ada, bob) = (killed.guest(), other.guest());
    let mut stream = operator.stream("/operator/events/stream", &[]);
    assert!(topup(&ada).try_send().is_err(), "the server is killed");
    killed.ended();
    let took = time_of_topup(&bob);
    assert!(took < ANSWERS_WITHIN, "{took:?}");
    let ada = ada.moved_to(&other.client());
    topup(&ada).send().data(201);
    assert_eq!(topups(&operator), [bob.id, ada.id]);
    let seen = stream.events(2);
    assert_eq!(seen.iter().map(|event| event.id).collect::<Vec<_>>(), [1, 2]);
}
