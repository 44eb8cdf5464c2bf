//! The order of checks: a call that fails a check and all later ones is answered for the first.

use serde_json::json;

use crate::harness::{Answer, Call, Person, Server, Store, song};

on_one_store!(
    checks_are_made_in_the_documented_order,
    a_reused_idempotency_key_is_refused_before_the_fields_are_validated,
    a_non_dj_is_refused_before_the_fields_are_validated,
    a_new_music_request_is_checked_in_the_documented_order,
    withdrawal_limits_are_checked_before_the_balance,
);

/// More calls than any user but the eager one makes.
const COUNTED: [(&str, &str); 2] =
    [("rate_limits.enabled", "true"), ("rate_limits.default_per_minute", "12")];

/// Repairs one mistake of a call.
type Repair = fn(&Scene, Call) -> Call;

struct Scene {
    guest: Person,
    dj: Person,
    stranger: Person,
    /// A user who has exhausted the quota.
    eager: Person,
    /// A request of the guest, rejected by the DJ.
    request: i64,
}

impl Scene {
    fn new(server: &Server) -> Self {
        let (guest, dj, stranger, eager) = (server.payer("100"), server.dj(), server.dj(), server.guest());
        let request = guest.request_song(&dj);
        dj.answer(request, "rejected").data(200);
        Self { guest, dj, stranger, eager, request }
    }
}

/// The expected status and code, and the repair of the reported mistake.
const STEPS: &[(u16, &str, Repair)] = &[
    (401, "unauthenticated", |_, call| call.bearer("broken")),
    (401, "invalid_token", |scene, call| call.bearer(&scene.eager.token)),
    (429, "rate_limited", |scene, call| call.bearer(&scene.stranger.token)),
    (406, "not_acceptable", |_, call| call.header("accept", "application/json")),
    (413, "payload_too_large", |_, call| call.bytes(b"{\"status\"").header("content-type", "text/plain")),
    (415, "unsupported_media_type", |_, call| call.header("content-type", "application/json")),
    (400, "malformed_json", |_, call| call.text(r#"{"status": 5}"#)),
    (400, "bad_request", |_, call| call.without("idempotency-key")),
    (404, "not_found", |scene, call| call.bearer(&scene.guest.token)),
    (403, "not_your_request", |scene, call| call.bearer(&scene.dj.token)),
    (422, "validation_failed", |_, call| call.text(r#"{"status": "played"}"#)),
    (409, "invalid_transition", |_, call| call.text(r#"{"status": "rejected"}"#)),
];

fn checks_are_made_in_the_documented_order(store: Store) {
    let server = Server::configured(store, &COUNTED);
    let scene = Scene::new(&server);
    let wrong = |method: &str, path: &str| {
        server
            .client()
            .call(method, path)
            .header("accept", "text/html")
            .bytes("x".repeat(65_537).as_bytes())
            .header("content-type", "text/plain")
            // Its place among the headers is unspecified, so it is wrong only after them.
            .without("idempotency-key")
    };
    let path = format!("/music/requests-update/{}", scene.request);
    wrong("PATCH", "/music/nowhere").send().refused(404, "not_found");
    wrong("PUT", &path).send().refused(405, "method_not_allowed");
    let mut call = wrong("PATCH", &path);
    for (status, code, repair) in STEPS {
        if *code == "bad_request" {
            call = call.key(&"x".repeat(256));
        }
        if *code == "rate_limited" {
            // As late as possible, so that none of the quota is restored before the check.
            while scene.eager.get("/wallet").status == 200 {}
        }
        call.clone().send().refused(*status, code);
        call = repair(&scene, call);
    }
    assert_eq!(call.send().data(200)["status"], "rejected");
    // A wrong role is refused before the rate limit, whatever the number of requests.
    scene.eager.get("/operator/audit").refused(403, "insufficient_scope");
}

fn a_reused_idempotency_key_is_refused_before_the_fields_are_validated(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let topup = |body: &str| guest.call("POST", "/wallet/topups").key("k").text(body).send();
    topup(r#"{"amount": 1}"#).data(201);
    topup("{").refused(400, "malformed_json");
    topup(r#"{"amount": "x"}"#).refused(422, "idempotency_key_reused");
    topup(r#"{"amount": 2}"#).refused(422, "idempotency_key_reused");
    assert_eq!(guest.wallet().0, "1.00");
}

fn a_non_dj_is_refused_before_the_fields_are_validated(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let body = json!({"name": "", "online": 7, "radius": -1});
    guest.patch("/user/personal-info", &body).refused(403, "dj_only");
    let body = json!({"name": "", "radius": -1});
    guest.patch("/user/personal-info", &body).invalid(&["name", "radius"]);
}

fn a_new_music_request_is_checked_in_the_documented_order(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj(), server.guest());
    dj.patch("/user/personal-info", &json!({"online": 0})).data(200);
    let request_song = |body: &serde_json::Value| -> Answer { guest.post("/music/requests", body) };
    let mut body = song(dj.id);
    body["song_title"] = json!("");
    body["fee"] = json!(1);
    // It is unspecified whether the DJ's price is checked with the other fields; the title is reported either
    // way.
    let errors = request_song(&body).refused(422, "validation_failed")["errors"].clone();
    assert!(errors["song_title"].is_array(), "{errors}");
    body["song_title"] = json!("x");
    request_song(&body).invalid(&["fee"]);
    body["fee"] = json!(5);
    request_song(&body).refused(409, "dj_offline");
    dj.patch("/user/personal-info", &json!({"online": 1})).data(200);
    request_song(&body).refused(422, "insufficient_funds");
    guest.topup("5");
    request_song(&body).data(201);
}

fn withdrawal_limits_are_checked_before_the_balance(store: Store) {
    let keys = [("withdrawals.max_amount", "5"), ("withdrawals.max_per_24h", "7.50")];
    let server = Server::configured(store, &keys);
    let guest = server.guest();
    let limited = |amount: &str| {
        let errors = guest.withdraw(amount).refused(422, "limit_exceeded")["errors"].clone();
        assert!(errors["amount"][0].is_string(), "{errors}");
    };
    guest.withdraw("0.5").invalid(&["amount"]);
    limited("5.01");
    guest.withdraw("5").refused(422, "insufficient_funds");
    guest.topup("6");
    assert_eq!(guest.withdraw("5").status, 201);
    // Both the daily limit and the balance are exceeded.
    limited("2.51");
    guest.withdraw("2.50").refused(422, "insufficient_funds");
    guest.topup("2");
    let last = guest.withdraw("2.50").json()["data"]["withdrawal_request"]["id"].clone();
    limited("1");
    guest.call("POST", &format!("/withdrawals/{last}/cancel")).send().data(200);
    assert_eq!(guest.withdraw("2.50").status, 201);
}
