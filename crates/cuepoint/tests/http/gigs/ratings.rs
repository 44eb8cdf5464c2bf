//! Ratings of played requests by their guests.

use serde_json::{Value, json};

use crate::harness::{Answer, Person, Server, Store};

on_one_store!(
    a_guest_rates_a_played_request_and_changes_the_rating,
    only_the_guest_of_a_played_request_can_rate_it,
    a_rating_survives_a_refund_and_is_exported_only_to_the_guest,
);

fn rate(person: &Person, request: i64, body: &Value) -> Answer {
    person.post(&format!("/music/requests/{request}/rating"), body)
}

fn stars(number: i64) -> Value {
    json!({"stars": number})
}

/// A request of the guest that the DJ has played.
fn played(guest: &Person, dj: &Person) -> i64 {
    let request = guest.request_song(dj);
    dj.answer(request, "played").data(200);
    request
}

/// The DJ's mean rating and the number of ratings, as everybody sees them.
fn ratings(dj: &Person) -> (String, i64) {
    let answer = dj.get(&format!("/djs/{}", dj.id));
    (answer.raw("/data/dj/rating"), answer.data(200)["dj"]["rating_count"].as_i64().unwrap())
}

fn a_guest_rates_a_played_request_and_changes_the_rating(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("50"), server.dj());
    let (request, other) = (played(&guest, &dj), played(&guest, &dj));
    assert_eq!(ratings(&dj), ("0".to_owned(), 0));
    let rating = rate(&guest, request, &stars(4)).data(200)["rating"].clone();
    let keys: Vec<&String> = rating.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["request_id", "stars", "rated_at"]);
    assert_eq!((&rating["request_id"], &rating["stars"]), (&json!(request), &json!(4)));
    assert_eq!(ratings(&dj), ("4.00".to_owned(), 1));
    assert_eq!(rate(&guest, request, &stars(4)).data(200)["rating"], rating, "the same stars change nothing");
    rate(&guest, other, &stars(5)).data(200);
    assert_eq!(ratings(&dj), ("5.00".to_owned(), 1), "the newest rating of a guest counts");
    // A repeated call with its key is answered alike, and counts once.
    let path = format!("/music/requests/{request}/rating");
    let first = guest.call("POST", &path).json(&stars(2)).key("k").send().data(200);
    rate(&guest, request, &stars(3)).data(200);
    assert_eq!(guest.call("POST", &path).json(&stars(2)).key("k").send().data(200), first);
    assert_eq!(ratings(&dj), ("3.00".to_owned(), 1));
}

fn only_the_guest_of_a_played_request_can_rate_it(store: Store) {
    let server = Server::start(store);
    let (guest, dj, stranger) = (server.payer("50"), server.dj(), server.guest());
    let request = guest.request_song(&dj);
    let refused = rate(&guest, request, &stars(5)).refused(409, "invalid_transition");
    assert_eq!((&refused["current"], &refused["allowed"]), (&json!("pending"), &json!([])));
    dj.answer(request, "played").data(200);
    rate(&dj, request, &stars(5)).refused(403, "not_your_request");
    rate(&stranger, request, &stars(5)).refused(404, "not_found");
    rate(&guest, 999_999_999, &stars(5)).refused(404, "not_found");
    assert_eq!(ratings(&dj), ("0".to_owned(), 0));
}

fn a_rating_survives_a_refund_and_is_exported_only_to_the_guest(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.payer("50"), server.dj());
    let request = played(&guest, &dj);
    let rating = rate(&guest, request, &stars(2)).data(200)["rating"].clone();
    let path = format!("/operator/music/requests/{request}/refund");
    operator.post(&path, &json!({"reason": "the song was cut short"})).data(200);
    let export = |person: &Person| person.get("/user/export").data(200)["ratings"].clone();
    assert_eq!((export(&guest), export(&dj)), (json!([rating]), json!([])));
}
