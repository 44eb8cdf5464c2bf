//! Gigs of a DJ, and what tests ask of them.

use serde_json::{Value, json};

use super::{Answer, Person, eventually, song};

/// The body of a gig with a title alone.
pub(crate) fn title(text: &str) -> Value {
    json!({"title": text})
}

/// Opens a gig.
pub(crate) fn open(dj: &Person, body: &Value) -> Value {
    dj.post("/gigs", body).data(201)["gig"].clone()
}

/// Ends a gig.
pub(crate) fn end(dj: &Person, gig: &Value) -> Answer {
    dj.post(&format!("/gigs/{}/end", gig["id"]), &json!({}))
}

/// The queue of a gig.
pub(crate) fn queue(dj: &Person, gig: &Value) -> Value {
    dj.get(&format!("/gigs/{}/queue", gig["id"])).data(200)
}

/// Requests a song at this fee.
pub(crate) fn ask(guest: &Person, dj: &Person, fee: &str) -> i64 {
    let mut body = song(dj.id);
    body["fee"] = json!(fee.parse::<f64>().unwrap());
    guest.post("/music/requests", &body).data(201)["id"].as_i64().unwrap()
}

/// The status of a request.
pub(crate) fn status(person: &Person, request: i64) -> String {
    let request = person.get(&format!("/music/requests/{request}")).data(200);
    request["status"].as_str().unwrap().to_owned()
}

/// Waits until the guest's money is available again, and nothing is held.
pub(crate) fn is_released(guest: &Person, available: &str) {
    eventually("the fees are released", || {
        (guest.wallet() == (available.to_owned(), "0.00".to_owned())).then_some(())
    });
}
