//! Names of webhook endpoints that no name server answers for.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{NameServer, PASSWORD, Person, Provider, Reply, Server, Store, eventually};

/// The time limit for the start of a delivery and for a login on a busy machine. It is less than a look-up takes.
const PROMPTLY: Duration = Duration::from_secs(3);
const USERS: usize = 100;

fn server(names: &NameServer) -> Server {
    let keys = [("webhooks.allowed_networks", "127.0.0.1"), ("webhooks.name_servers", &names.address)];
    Server::configured(Store::Memory, &keys)
}

/// A new endpoint of a person at a name that nobody answers for.
fn silent_endpoint(person: &Person, name: &str) {
    let url = format!("http://{name}.silent.example/hook");
    person.post("/webhook-endpoints", &json!({"url": url, "password": PASSWORD})).data(201);
}

#[test]
fn unanswered_lookups_do_not_delay_other_deliveries_or_logins() {
    let names = NameServer::new();
    let server = server(&names);
    let (honest, receiver) = (server.guest(), Provider::new(Reply::Says(200, String::new())));
    let url = receiver.url.replace("127.0.0.1", "hooks.known.example");
    honest.post("/webhook-endpoints", &json!({"url": url, "password": PASSWORD})).data(201);
    let delivered = |count| {
        let began = Instant::now();
        honest.topup("1");
        eventually("the event is delivered", || (receiver.received().len() == count).then_some(()));
        began.elapsed()
    };
    delivered(1);
    let silent: Vec<Person> = (0..USERS).map(|_| server.guest()).collect();
    for (number, person) in silent.iter().enumerate() {
        silent_endpoint(person, &format!("a{number}"));
        silent_endpoint(person, &format!("b{number}"));
    }
    for person in &silent {
        person.topup("1");
    }
    eventually("look-ups wait", || (names.queried().len() > 20).then_some(()));
    for count in 2..8 {
        let took = delivered(count);
        assert!(took < PROMPTLY, "the delivery took {took:?}");
        let began = Instant::now();
        server.client().login(&honest.email);
        assert!(began.elapsed() < PROMPTLY, "the login took {:?}", began.elapsed());
        println!("delivery {took:?}, login {:?}", began.elapsed());
    }
}

#[test]
fn shutdown_does_not_wait_for_name_servers() {
    let names = NameServer::new();
    let mut server = server(&names);
    let guest = server.guest();
    silent_endpoint(&guest, "a");
    guest.topup("1");
    eventually("the name is looked up", || names.queried().contains("a.silent.example").then_some(()));
    let began = Instant::now();
    server.signal("TERM");
    assert!(server.ended().success());
    assert!(began.elapsed() < Duration::from_secs(12), "the stop took {:?}", began.elapsed());
}
