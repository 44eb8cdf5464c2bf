//! A failover to a standby that lacks acknowledged commits. Clients learn which positions are lost, and miss no
//! remaining event.

use std::time::Duration;

use serde_json::{Value, json};

use crate::failovers::load::Kind;
use crate::failovers::replicas::Replicas;
use crate::failovers::scene::{insist, without_load};
use crate::harness::{Answer, PASSWORD, Person, SHARED_KEY, Server, WEBHOOK_URL, eventually, run, within};

/// The least distance between the positions before and after a gap.
const MIN_DISTANCE: i64 = 1_000_000;

fn feed(person: &Person, after: i64) -> Answer {
    person.get(&format!("/events?after={after}"))
}

/// The positions of all events after one, and the newest position.
fn positions(person: &Person, after: i64) -> (Vec<i64>, i64) {
    let page = feed(person, after).data(200);
    let events = page["events"].as_array().unwrap().iter();
    (events.map(|event| event["position"].as_i64().unwrap()).collect(), page["head"].as_i64().unwrap())
}

/// Waits until a server reads again, and checks that a lost position is refused.
fn is_refused(person: &Person, lost: i64, continue_after: i64) {
    let answer = eventually("the server reads again", || {
        Some(feed(person, lost)).filter(|answer| answer.status != 503)
    });
    assert_eq!(answer.refused(410, "events_lost")["continue_after"], continue_after);
    let stream = person.try_stream("/events/stream", &[("last-event-id", &lost.to_string())]);
    let refused = stream.err().expect("no stream begins").refused(410, "events_lost");
    assert_eq!(refused["continue_after"], continue_after);
}

/// The positions that were attempted at a webhook endpoint.
fn attempted(person: &Person, endpoint: &Value) -> Vec<i64> {
    let page = person.get(&format!("/webhook-endpoints/{endpoint}/attempts?per_page=100")).data(200);
    let attempts = page["data"].as_array().unwrap().iter();
    attempts.filter(|attempt| attempt["number"] == 1).map(|one| one["position"].as_i64().unwrap()).collect()
}

#[test]
fn servers_refuse_the_positions_of_commits_lost_in_a_failover() {
    let _cores = without_load();
    let mut replicas = Replicas::start();
    // One key, with which both decrypt the secret of the endpoint.
    let servers = [(); 2].map(|()| Server::reaching(&replicas.url(), &[SHARED_KEY]));
    let one = servers[0].payer("100");
    let other = one.at(&servers[1].client());
    let created =
        one.post("/webhook-endpoints", &json!({"url": WEBHOOK_URL, "password": PASSWORD})).data(201);
    let endpoint = &created["webhook_endpoint"]["id"];
    insist(Kind::TopUp, &one, "kept");
    let (_, last) = positions(&one, 0);
    // A turn that is going on at the failover would keep its lease.
    eventually("the first event is attempted", || attempted(&one, endpoint).contains(&last).then_some(()));

    replicas.commit_without_standbys();
    replicas.stop_wal_senders();
    for key in ["lost", "lost-too"] {
        assert_eq!(Kind::TopUp.send(&other, key).status, 201);
    }
    let (seen, lost) = positions(&one, last);
    assert_eq!((&seen[..], lost), (&[last + 1, last + 2][..], last + 2));
    let mut stream = one.stream("/events/stream", &[("last-event-id", &lost.to_string())]);
    replicas.fail_over();
    is_refused(&one, lost, last);
    is_refused(&other, lost, last);

    // The first operations come from the one server, the next ones from the other.
    for (person, key) in [(&other, "first"), (&other, "second"), (&one, "third")] {
        insist(Kind::TopUp, person, key);
    }
    let next = positions(&one, last).0[0];
    assert!(next >= last + MIN_DISTANCE, "{next}");
    for person in [&one, &other] {
        is_refused(person, lost, last);
        assert_eq!(positions(person, last), (vec![next, next + 1, next + 2], next + 2));
    }
    assert!(stream.rest().iter().all(|event| event.id >= next), "no event comes twice");
    // A lease ends within a minute.
    within(Duration::from_secs(75), "the endpoint continues after the gap", || {
        let attempted = attempted(&one, endpoint);
        [next, next + 1, next + 2].iter().all(|position| attempted.contains(position)).then_some(())
    });
    let (status, printed) = run(&["ledger", "verify"], Some(&replicas.primary().url()), &[]);
    assert_eq!(status.code(), Some(0), "{printed}");
    assert!(servers.iter().all(|server| !server.log().contains("panicked")));
}
