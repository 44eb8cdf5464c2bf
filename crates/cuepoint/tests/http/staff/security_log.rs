//! The security log: its events, and its readers.

use serde_json::{Value, json};

use crate::harness::{Person, Server, Store, eventually, keys};

on_one_store!(
    operator_actions_are_recorded_with_change_reason_and_client,
    an_export_does_not_show_from_which_session_or_client_an_operator_acted,
    refused_staff_requests_are_recorded,
    logins_and_failed_logins_are_recorded,
    failed_logins_of_unknown_users_are_recorded_at_most_once_an_hour,
    the_security_log_is_filtered_by_user_and_kind,
);

const EVENT: [&str; 11] = [
    "actor_id",
    "actor_name",
    "created_at",
    "detail",
    "id",
    "ip_address",
    "kind",
    "session_id",
    "user_agent",
    "user_id",
    "user_name",
];

/// The user agent of the operator's client.
const AGENT: &str = "operator-console/2.1";

/// The events that a filter selects, newest first.
fn events(staff: &Person, filter: &str) -> Vec<Value> {
    let page = staff.get(&format!("/operator/security-log?per_page=100&{filter}")).data(200);
    page["data"].as_array().unwrap().clone()
}

/// The session, IP address and user agent of an event.
fn client(event: &Value) -> (&Value, &Value, &Value) {
    (&event["session_id"], &event["ip_address"], &event["user_agent"])
}

/// The current session of a user.
fn session(person: &Person) -> i64 {
    let sessions = person.get("/auth/sessions").data(200)["data"].clone();
    let current = sessions.as_array().unwrap().iter().find(|session| session["current"] == true);
    current.unwrap()["id"].as_i64().unwrap()
}

fn operator_actions_are_recorded_with_change_reason_and_client(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let (withdrawal, request) = (guest.withdrawal("1"), guest.request_song(&dj));
    dj.answer(request, "played").data(200);
    let mut expected: Vec<String> = Vec::new();
    let mut act = |path: &str, change: &str, mut body: Value| {
        body["reason"] = json!(format!("reason {}", expected.len()));
        let answer = operator.call("POST", path).header("user-agent", AGENT).json(&body).send();
        assert!([200, 201].contains(&answer.status), "{answer}");
        let id = answer.json()["data"]["adjustment"]["id"].to_string();
        expected.insert(0, format!("{}: reason {}", change.replace("{id}", &id), expected.len()));
    };
    let person = format!("/operator/users/{}", guest.id);
    let path = format!("/operator/withdrawals/{withdrawal}");
    for (step, action, transition) in [
        ("approve", "approve_withdrawal", "pending → approved"),
        ("process", "move_withdrawal", "approved → processing"),
        ("broadcast", "move_withdrawal", "processing → broadcast"),
        ("complete", "move_withdrawal", "broadcast → completed"),
    ] {
        let change = format!("{action}: withdrawal {withdrawal} {transition}");
        act(&format!("{path}/{step}"), &change, json!({"txid": "t"}));
    }
    let refunded = format!("move_request: request {request} played → refunded");
    act(&format!("/operator/music/requests/{request}/refund"), &refunded, json!({}));
    let adjusted = format!("adjust: adjustment {{id}} of user {}", guest.id);
    act("/operator/adjustments", &adjusted, json!({"user_id": guest.id, "amount": 1}));
    let user = format!("user {}", guest.id);
    act(&format!("{person}/role"), &format!("role: {user} member → auditor"), json!({"role": "auditor"}));
    act(&format!("{person}/suspend"), &format!("suspend: {user} active → suspended"), json!({}));
    act(&format!("{person}/restore"), &format!("restore: {user} suspended → active"), json!({}));
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
        assert_eq!(
            client(event),
            (&json!(session(&operator)), &json!("127.0.0.1"), &json!(AGENT)),
            "{event}"
        );
    }
    // A refused action leaves no event.
    let path = format!("/operator/withdrawals/{withdrawal}/complete");
    operator.post(&path, &json!({"reason": "x", "txid": "another"})).refused(409, "invalid_transition");
    assert_eq!(events(&operator, "kind=operator_action").len(), expected.len());
}

fn an_export_does_not_show_from_which_session_or_client_an_operator_acted(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.guest();
    operator
        .post("/operator/adjustments", &json!({"user_id": guest.id, "amount": 1, "reason": "x"}))
        .data(201);
    let data = guest.get("/user/export").data(200);
    let noted = data["security_events"].as_array().unwrap();
    let adjusted = noted.iter().find(|event| event["kind"] == "operator_action").unwrap();
    assert_eq!(client(adjusted), (&Value::Null, &Value::Null, &Value::Null), "{adjusted}");
    let registered = noted.iter().find(|event| event["kind"] == "registered").unwrap();
    assert_eq!(client(registered).1, "127.0.0.1", "{registered}");
}

fn refused_staff_requests_are_recorded(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, auditor) = (server.guest(), server.guest());
    operator.give_role(&auditor, "auditor");
    // A repetition within the hour is not recorded, unless the hour has just ended.
    for _ in 0..5 {
        guest.get("/operator/users?email=x").refused(403, "insufficient_scope");
    }
    auditor.post("/operator/users/77/suspend", &json!({})).refused(403, "insufficient_scope");
    auditor.get("/operator/users").data(200);
    server.client().call("GET", "/operator/users").send().refused(401, "unauthenticated");
    let mut noted = events(&auditor, "kind=access_denied");
    assert!((2..=3).contains(&noted.len()), "{noted:?}");
    noted.dedup_by_key(|event| (event["user_id"].clone(), event["detail"].clone()));
    let shown: Vec<_> = noted
        .iter()
        .map(|event| (event["user_id"].as_i64().unwrap(), event["detail"].as_str().unwrap()))
        .collect();
    assert_eq!(
        shown,
        [(auditor.id, "POST /api/v1/operator/users/{id}/suspend"), (guest.id, "GET /api/v1/operator/users")]
    );
    for (event, person) in noted.iter().zip([&auditor, &guest]) {
        assert_eq!(event["actor_id"], event["user_id"]);
        let from = client(event);
        assert_eq!((from.0, from.1), (&json!(session(person)), &json!("127.0.0.1")), "{event}");
        assert!(from.2.as_str().is_some_and(|agent| agent.starts_with("ureq/")), "{event}");
    }
}

/// The level, client and account of each logged failure of a login, once there are this many.
fn logged_failures(server: &Server, count: usize) -> Vec<String> {
    eventually("the failed logins are logged", || {
        let log = server.log();
        let lines = log.lines().filter_map(|line| {
            let (before, after) = line.split_once(" a login failed event=\"login_failed\" ")?;
            Some(format!("{} {after}", before.split_whitespace().nth(1)?))
        });
        Some(lines.collect::<Vec<_>>()).filter(|lines| lines.len() >= count)
    })
}

fn logins_and_failed_logins_are_recorded(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.guest();
    let wrong = json!({"email": guest.email, "password": "wrong horse"});
    server.client().post("/auth/login", &wrong).refused(401, "invalid_credentials");
    let staff = json!({"email": operator.email, "password": "wrong horse"});
    server.client().post("/auth/login", &staff).refused(401, "invalid_credentials");
    let unknown = json!({"email": "nobody@example.com", "password": "wrong horse"});
    server.client().post("/auth/login", &unknown).refused(401, "invalid_credentials");
    assert_eq!(
        logged_failures(&server, 3),
        [
            "INFO client=127.0.0.1 staff=false",
            "WARN client=127.0.0.1 staff=true",
            "INFO client=127.0.0.1 staff=false"
        ]
    );
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

/// Failed logins with unknown addresses leave one event per network and hour, and are counted in the metrics.
///
/// Attack API4: flooding the security log with failed logins.
fn failed_logins_of_unknown_users_are_recorded_at_most_once_an_hour(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    for number in 0..20 {
        let wrong = json!({"email": format!("nobody-{number}@example.com"), "password": "wrong horse"});
        server.client().post("/auth/login", &wrong).refused(401, "invalid_credentials");
    }
    assert_eq!(logged_failures(&server, 20).len(), 20);
    let noted = events(&operator, "kind=login_failed");
    // The hour may end in between.
    assert!((1..=2).contains(&noted.len()), "{noted:?}");
    let event = &noted[0];
    assert_eq!((&event["user_id"], &event["actor_id"]), (&Value::Null, &Value::Null));
    assert_eq!((&event["detail"], &event["ip_address"]), (&json!("unknown account"), &json!("127.0.0.1")));
    assert!(!event.to_string().contains("nobody"), "{event}");
    let metrics = server.client().outside("GET", "/metrics").send().text;
    let counted = r#"http_requests_total{method="POST",route="/api/v1/auth/login",status="401"}"#;
    assert!(metrics.contains(counted), "{metrics}");
    // Each failed login of an existing user is recorded.
    let guest = server.guest();
    for _ in 0..3 {
        let wrong = json!({"email": guest.email, "password": "wrong horse"});
        server.client().post("/auth/login", &wrong).refused(401, "invalid_credentials");
    }
    assert_eq!(events(&operator, &format!("kind=login_failed&user_id={}", guest.id)).len(), 3);
}

fn the_security_log_is_filtered_by_user_and_kind(store: Store) {
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
