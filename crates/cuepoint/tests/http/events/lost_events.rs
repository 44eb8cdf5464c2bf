//! Events that a restore has lost. Readers learn of the loss, and miss no remaining event.

use serde_json::{Value, json};

use crate::harness::{Answer, PASSWORD, Person, Server, WEBHOOK_URL};

/// The least distance between the positions before and after a gap.
const MIN_DISTANCE: i64 = 1_000_000;

/// The events and the newest position of a page.
fn page(person: &Person, after: i64) -> (Vec<i64>, i64) {
    let page = person.get(&format!("/events?after={after}")).data(200);
    let events = page["events"].as_array().unwrap().iter();
    assert_eq!(page["next"], page["head"]);
    (events.map(|event| event["position"].as_i64().unwrap()).collect(), page["head"].as_i64().unwrap())
}

/// The newest position.
pub(crate) fn head(person: &Person) -> i64 {
    person.get("/events?limit=1").data(200)["head"].as_i64().unwrap()
}

/// Checks that a position is refused as lost, with another position to continue after.
pub(crate) fn is_lost(refused: &Answer, continue_after: i64) {
    assert_eq!(refused.refused(410, "events_lost")["continue_after"], continue_after);
}

/// The answer to a stream after a position.
fn refused_stream(person: &Person, after: i64) -> Answer {
    let stream = person.try_stream("/events/stream", &[("last-event-id", &after.to_string())]);
    *stream.err().expect("no stream begins")
}

/// Checks what a person sees after a restore, and returns the newest position. `last` is the newest restored position,
/// and the person has seen `seen`, a later one.
pub(crate) fn are_noticed(server: &Server, person: &Person, last: i64, seen: i64) -> i64 {
    assert!(last < seen);
    let after = |position: i64| person.get(&format!("/events?after={position}"));
    // Before the first operation, the position is beyond the newest one; later it is in the gap.
    is_lost(&after(seen), last);
    is_lost(&refused_stream(person, seen), last);
    assert_eq!(page(person, last), (vec![], last));
    let body = json!({"url": WEBHOOK_URL, "types": ["adjustment.created"], "password": PASSWORD});
    let endpoint =
        person.post("/webhook-endpoints", &body).data(201)["webhook_endpoint"]["id"].as_i64().unwrap();
    let mut stream = person.stream("/events/stream", &[("last-event-id", &last.to_string())]);
    for _ in 0..3 {
        person.topup("1");
    }

    let next = page(person, last).0[0];
    assert!(next >= last + MIN_DISTANCE && next > seen, "{next}");
    for lost in [last + 1, seen, next - 1, next + 3] {
        let continue_after = if lost < next { last } else { next + 2 };
        is_lost(&after(lost), continue_after);
        is_lost(&refused_stream(person, lost), continue_after);
    }
    assert_eq!(page(person, last), (vec![next, next + 1, next + 2], next + 2));
    let received: Vec<i64> = stream.events(3).iter().map(|event| event.id).collect();
    assert_eq!(received, [next, next + 1, next + 2], "a stream goes on after the gap");

    let cursor = || -> Value {
        let shown = person.get(&format!("/webhook-endpoints/{endpoint}")).data(200);
        shown["webhook_endpoint"]["cursor"].clone()
    };
    crate::harness::eventually("the endpoint's cursor passes the gap", || {
        (cursor() == next + 2).then_some(())
    });
    let replay = |range: Value| person.post(&format!("/webhook-endpoints/{endpoint}/replay"), &range);
    for range in [json!({"after": seen}), json!({"after": last, "until": seen})] {
        is_lost(&replay(range), last);
    }
    replay(json!({"after": last, "until": next})).data(202);
    assert!(!server.log().contains("panicked"), "{}", server.log());
    next + 2
}
