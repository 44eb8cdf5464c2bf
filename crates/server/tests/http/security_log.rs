//! The security log: what is noted, about whom, and who reads it.

use serde_json::{Value, json};

use crate::harness::{Person, Server, Store, keys};

on_both_stores!(
    what_operators_do_is_noted_with_who_did_it_to_whom_and_why,
    who_is_refused_what_staff_does_is_noted,
    logins_and_failures_are_noted,
    the_log_is_filtered,
);

const EVENT: [&str; 9] =
    ["actor_id", "created_at", "detail", "id", "ip_address", "kind", "session_id", "user_agent", "user_id"];

/// The events that a filter shows, newest first.
fn events(staff: &Person, filter: &str) -> Vec<Value> {
    let page = staff.get(&format!("/operator/security-log?per_page=100&{filter}")).data(200);
    page["data"].as_array().unwrap().clone()
}

fn what_operators_do_is_noted_with_who_did_it_to_whom_and_why(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let (withdrawal, request) = (guest.withdrawal("1"), guest.ask(&dj));
    dj.answer(request, "played").data(200);
    let mut expected: Vec<String> = Vec::new();
    let mut act = |path: &str, kind: &str, mut body: Value| {
        body["reason"] = json!(format!("reason {}", expected.len()));
        let answer = operator.post(path, &body);
        assert!([200, 201].contains(&answer.status), "{answer}");
        expected.insert(0, format!("{kind}: reason {}", expected.len()));
    };
    let person = format!("/operator/users/{}", guest.id);
    act(&format!("/operator/withdrawals/{withdrawal}/approve"), "move_withdrawal", json!({}));
    act(&format!("/operator/music/requests/{request}/refund"), "move_request", json!({}));
    act("/operator/adjustments", "adjust", json!({"user_id": guest.id, "amount": 1}));
    act(&format!("{person}/role"), "role", json!({"role": "auditor"}));
    act(&format!("{person}/suspend"), "suspend", json!({}));
    act(&format!("{person}/restore"), "restore", json!({}));
    let noted = events(&operator, &format!("user_id={}&kind=operator_action", guest.id));
    let details: Vec<&str> = noted.iter().map(|event| event["detail"].as_str().unwrap()).collect();
    assert_eq!(details, expected);
    for event in &noted {
        assert_eq!(keys(event), EVENT);
        assert_eq!(
            (&event["actor_id"], &event["user_id"]),
            (&json!(operator.id), &json!(guest.id)),
            "{event}"
        );
    }
    // A refused act leaves nothing.
    let path = format!("/operator/withdrawals/{withdrawal}/complete");
    operator.post(&path, &json!({"reason": "x", "txid": "x"})).refused(409, "invalid_transition");
    assert_eq!(events(&operator, "kind=operator_action").len(), expected.len());
}

fn who_is_refused_what_staff_does_is_noted(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, auditor) = (server.guest(), server.guest());
    operator.give_role(&auditor, "auditor");
    guest.get("/operator/users?email=x").refused(403, "insufficient_scope");
    auditor.post("/operator/users/77/suspend", &json!({})).refused(403, "insufficient_scope");
    auditor.get("/operator/users").data(200);
    server.client().call("GET", "/operator/users").send().refused(401, "unauthenticated");
    let noted = events(&auditor, "kind=access_denied");
    let shown: Vec<_> = noted
        .iter()
        .map(|event| (event["user_id"].as_i64().unwrap(), event["detail"].as_str().unwrap()))
        .collect();
    assert_eq!(
        shown,
        [(auditor.id, "POST /api/v1/operator/users/{id}/suspend"), (guest.id, "GET /api/v1/operator/users")]
    );
    assert!(noted.iter().all(|event| event["actor_id"] == event["user_id"] && event["session_id"].is_i64()));
}

fn logins_and_failures_are_noted(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.guest();
    let wrong = json!({"email": guest.email, "password": "wrong horse"});
    server.client().post("/auth/login", &wrong).refused(401, "invalid_credentials");
    server.client().login(&guest.email);
    guest.call("DELETE", "/user").json(&json!({"password": "wrong horse"})).send().invalid(&["password"]);
    let noted = events(&operator, &format!("user_id={}", guest.id));
    let kinds: Vec<&str> = noted.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["login_failed", "logged_in", "login_failed", "registered"]);
    assert_eq!((&noted[0]["detail"], &noted[0]["actor_id"]), (&json!("erasure"), &json!(guest.id)));
    assert_eq!(noted[2]["actor_id"], Value::Null);
    let secrets = noted.iter().map(Value::to_string).collect::<String>();
    assert!(!secrets.contains("horse") && !secrets.contains(&guest.refresh_token));
}

fn the_log_is_filtered(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (one, other) = (server.guest(), server.guest());
    let users: Vec<i64> =
        events(&operator, "kind=registered").iter().map(|event| event["user_id"].as_i64().unwrap()).collect();
    assert_eq!(users, [other.id, one.id, operator.id]);
    let about = events(&operator, &format!("user_id={}", one.id));
    assert!(about.len() == 1 && about[0]["kind"] == "registered", "{about:?}");
    let page = operator.get("/operator/security-log?kind=registered&per_page=1&page=2").data(200);
    assert_eq!((&page["total"], &page["data"][0]["user_id"]), (&json!(3), &json!(one.id)));
    assert!(page["first_page_url"].as_str().unwrap().contains("?kind=registered&per_page=1&page=1"));
    operator.get("/operator/security-log?kind=nonsense&user_id=x").invalid(&["kind", "user_id"]);
    operator.get("/operator/security-log?user_id=0").invalid(&["user_id"]);
}
