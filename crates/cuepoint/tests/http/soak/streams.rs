//! Streams that are cut at random bytes while their server is killed and started again: whoever resumes after
//! the last event gets each event once, in order.
//!
//! `CUEPOINT_SOAK=10` makes ten times as many events.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use serde_json::json;

use crate::harness::{
    Client, Database, EventStream, Person, SHARED_KEY, Server, Store, StreamMessage, eventually,
    operator_keys, soak_times,
};

on_durable_stores!(a_stream_resumed_after_kills_shows_every_event_once);

/// The number of events in a run.
const EVENTS: usize = 5_000;
/// The number of kills in a run.
const KILLS: usize = 5;
const WRITERS: usize = 8;
/// The maximum number of bytes that a reader receives before it cuts its connection.
const CUT_WITHIN: usize = 400_000;
const SEED: u64 = 15;
const OPERATOR: &str = "operator@example.com";

/// The server at its current address; `None` from a kill to the next start.
type Address = std::sync::Mutex<Option<Client>>;

fn current(address: &Address) -> Client {
    eventually("the server starts again", || address.lock().unwrap().clone())
}

/// Opens top-ups until all events were made, repeating each under its key until it is answered.
fn write(guest: &Person, address: &Address, count: usize) {
    for number in 0..count {
        let body = json!({"amount": 0.01});
        eventually("the top-up is answered", || {
            let guest = guest.moved_to(&current(address));
            let call = guest.call("POST", "/wallet/topups").key(&number.to_string()).json(&body);
            call.try_send().ok().filter(|answer| answer.status == 201)
        });
    }
}

/// Follows the events of all users, cutting the connection again and again, and returns their positions.
fn follow(operator: &Person, address: &Address, count: usize, seed: u64) -> Vec<i64> {
    let mut random = Rng::with_seed(seed);
    let mut seen: Vec<i64> = Vec::new();
    while seen.len() < count {
        let after = seen.last().map_or_else(|| "0".to_owned(), ToString::to_string);
        let reader = operator.moved_to(&current(address));
        let bytes = random.usize(..CUT_WITHIN);
        let opened = reader.stream_of("/operator/events/stream", &[("Last-Event-ID", &after)], bytes);
        if let Ok(Ok(mut stream)) = opened {
            read(&mut stream, &mut seen, count);
        }
    }
    seen
}

/// Reads until the stream ends or breaks off.
fn read(stream: &mut EventStream, seen: &mut Vec<i64>, count: usize) {
    while seen.len() < count
        && let Ok(Some(message)) = stream.try_next()
    {
        if let StreamMessage::Event(event) = message {
            seen.push(event.id);
        }
    }
}

fn a_stream_resumed_after_kills_shows_every_event_once(store: Store) {
    let events = EVENTS * soak_times();
    let database = Arc::new(Database::of(store));
    let keys = [SHARED_KEY, ("auth.access_token_ttl_seconds", "86400")];
    let keys = [&operator_keys(OPERATOR)[..], &keys].concat();
    let mut server = Server::on(&database, &keys);
    let operator = server.client().login(OPERATOR);
    let guests: Vec<Person> = (0..WRITERS).map(|_| server.guest()).collect();
    let address = Address::new(Some(server.client()));
    let seen = thread::scope(|scope| {
        let (address, operator) = (&address, &operator);
        for guest in &guests {
            scope.spawn(move || write(guest, address, events / WRITERS));
        }
        let readers: Vec<_> = (0..2)
            .map(|number| scope.spawn(move || follow(operator, address, events, SEED + number)))
            .collect();
        for kill in 1..=KILLS {
            let until = i64::try_from(events * kill / (KILLS + 1)).unwrap();
            until_position(operator, address, until);
            *address.lock().unwrap() = None;
            server.signal("KILL");
            server.ended();
            server = Server::on(&database, &keys);
            *address.lock().unwrap() = Some(server.client());
        }
        readers.into_iter().map(|reader| reader.join().unwrap()).collect::<Vec<_>>()
    });
    let all: Vec<i64> = (1..=i64::try_from(events).unwrap()).collect();
    for positions in seen {
        assert_eq!(positions, all);
    }
    drop(server);
    database.verify();
}

/// Waits until this position is reached.
fn until_position(operator: &Person, address: &Address, position: i64) {
    let operator = operator.moved_to(&current(address));
    while operator.get("/operator/events?limit=1").data(200)["head"].as_i64().unwrap() < position {
        thread::sleep(Duration::from_millis(20));
    }
}
