//! Expired requests: shown as expired at once, and refunded by the sweeper.

use serde_json::{Value, json};

use crate::harness::{Person, Server, Store, eventually};

on_one_store!(
    a_pending_request_expires,
    an_accepted_request_expires,
    the_sweeper_releases_money_of_expired_requests,
);

/// A sweeper that never runs during a test.
const NO_SWEEP: (&str, &str) = ("requests.sweep_interval_seconds", "3600");

fn seen_expired(person: &Person, request: i64) -> Value {
    eventually("the request is seen expired", || {
        let request = person.get(&format!("/music/requests/{request}")).data(200);
        (request["status"] == "expired").then_some(request)
    })
}

/// Checks that the request cannot change any more and that every list shows it as expired.
fn is_over(guest: &Person, dj: &Person, shown: &Value) {
    let request = shown["id"].as_i64().unwrap();
    for status in ["accepted", "rejected", "played"] {
        let body = dj.answer(request, status).refused(409, "invalid_transition");
        assert_eq!((&body["current"], &body["allowed"]), (&json!("expired"), &json!([])));
    }
    assert_eq!(guest.cancel(request).refused(409, "invalid_transition")["current"], "expired");
    for (person, list) in [(guest, "/music/user/requests"), (dj, "/music/dj/requests")] {
        for (status, total) in [("expired", 1), ("pending", 0), ("accepted", 0)] {
            let page = person.get(&format!("{list}?status={status}")).data(200);
            assert_eq!((&page["total"], page["data"].as_array().unwrap().len()), (&json!(total), total));
        }
        assert_eq!(person.get(list).data(200)["data"], json!([shown]));
    }
}

/// Microseconds of a timestamp since midnight, so that timestamps of one test can be subtracted.
fn micros(moment: &Value) -> i64 {
    let time = moment.as_str().unwrap().split_once('T').unwrap().1.trim_end_matches('Z');
    let parts: Vec<i64> = time.split([':', '.']).map(|part| part.parse().unwrap()).collect();
    ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1_000_000 + parts[3]
}

/// The time between two timestamps in microseconds, across midnight too.
fn between(from: &Value, to: &Value) -> i64 {
    (micros(to) - micros(from)).rem_euclid(86_400_000_000)
}

fn a_pending_request_expires(store: Store) {
    let server = Server::configured(store, &[("requests.pending_ttl_seconds", "1"), NO_SWEEP]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let request = guest.request_song(&dj);
    let shown = seen_expired(&guest, request);
    assert_eq!(between(&shown["created_at"], &shown["updated_at"]), 1_000_000);
    is_over(&guest, &dj, &shown);
    // The money is not released yet.
    assert_eq!(guest.wallet(), ("15.00".into(), "5.00".into()));
}

fn an_accepted_request_expires(store: Store) {
    let server = Server::configured(store, &[("requests.accepted_ttl_seconds", "1"), NO_SWEEP]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let request = guest.request_song(&dj);
    let accepted = dj.answer(request, "accepted").data(200);
    let shown = seen_expired(&guest, request);
    assert_eq!(between(&accepted["updated_at"], &shown["updated_at"]), 1_000_000);
    is_over(&guest, &dj, &shown);
}

fn the_sweeper_releases_money_of_expired_requests(store: Store) {
    let keys = [("requests.pending_ttl_seconds", "1"), ("requests.sweep_interval_seconds", "1")];
    let server = Server::configured(store, &keys);
    let (guest, dj) = (server.payer("20"), server.dj());
    let request = guest.request_song(&dj);
    let seen = seen_expired(&guest, request);
    eventually("the money is back", || (guest.wallet() == ("20.00".into(), "0.00".into())).then_some(()));
    let entries = guest.entries();
    assert_eq!(entries.last().unwrap()["kind"], "release");
    assert_eq!(entries.last().unwrap()["reference"], json!({"type": "music_request", "id": request}));
    assert_eq!(entries.len(), 3);
    // The sweep changes nothing visible.
    assert_eq!(guest.get(&format!("/music/requests/{request}")).data(200), seen);
    is_over(&guest, &dj, &seen);
}
