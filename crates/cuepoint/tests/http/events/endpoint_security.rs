//! Webhook endpoints and stolen tokens: passwords, keys of creations, ends of sessions, and quotas.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::events::webhook_endpoints::{ALL, OWN, confirmed, endpoint, paused};
use crate::harness::{Database, PASSWORD, Person, Server, Store, WEBHOOK_URL, eventually};

on_one_store!(
    sensitive_endpoint_changes_require_the_password,
    a_no_op_endpoint_change_is_not_in_the_security_log,
    two_creations_with_one_idempotency_key_make_one_endpoint,
    a_repeated_endpoint_creation_gets_a_replay_after_a_password_change,
    ending_all_sessions_disables_endpoints_of_the_users_own_feed,
    a_no_op_endpoint_change_writes_nothing,
    endpoint_creation_stores_no_readable_secret,
    stored_urls_are_shown_in_canonical_form,
);

/// Attack API2: receiving events at a webhook endpoint that was set with a stolen token.
fn sensitive_endpoint_changes_require_the_password(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let other = operator.new_operator(&server);
    for (person, list) in [(&server.guest(), OWN), (&operator, ALL)] {
        person.post(list, &json!({"url": WEBHOOK_URL})).invalid(&["password"]);
        let wrong =
            person.post(list, &json!({"url": WEBHOOK_URL, "password": "wrong"})).invalid(&["password"]);
        assert_eq!(wrong["password"], json!(["The password is incorrect."]));
        let path = paused(person, list);
        for change in [json!({"url": "https://example.org/"}), json!({"paused": false})] {
            let before = endpoint(&person.get(&path), 200);
            let missing = person.patch(&path, &change).invalid(&["password"]);
            assert_eq!(missing["password"], json!(["The password field is required."]));
            let mut wrong = change.clone();
            wrong["password"] = json!("wrong");
            person.patch(&path, &wrong).invalid(&["password"]);
            assert_eq!(endpoint(&person.get(&path), 200), before);
            person.patch(&path, &confirmed(change)).data(200);
        }
        person.patch(&path, &json!({"paused": true, "description": "a note"})).data(200);
        let rotate = |body: Value| person.post(&format!("{path}/rotate"), &body);
        rotate(json!({})).invalid(&["password"]);
        rotate(json!({"password": "wrong"})).invalid(&["password"]);
        rotate(confirmed(json!({}))).data(200);
        if list == ALL {
            let taken = json!({"url": "https://example.org/"});
            other.patch(&path, &taken).invalid(&["password"]);
            assert_eq!(endpoint(&other.patch(&path, &confirmed(taken)), 200)["user_id"], other.id);
        }
        person.delete(&path).data(200);
        let log = format!("/operator/security-log?kind=login_failed&user_id={}", person.id);
        let events = operator.get(&log).data(200);
        assert_eq!((&events["total"], &events["data"][0]["detail"]), (&json!(4), &json!("webhook endpoint")));
    }
}

/// Attack API4: flooding the security log with changes of webhook endpoints.
fn a_no_op_endpoint_change_is_not_in_the_security_log(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.guest();
    let path = paused(&guest, OWN);
    let log = format!("/operator/security-log?user_id={}", guest.id);
    let before = operator.get(&log).data(200)["total"].clone();
    for change in [json!({}), json!({"paused": true}), json!({"types": null, "url": WEBHOOK_URL})] {
        assert_eq!(endpoint(&guest.patch(&path, &change), 200)["status"], "paused");
    }
    assert_eq!(operator.get(&log).data(200)["total"], before);
}

fn a_no_op_endpoint_change_writes_nothing(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[]);
    let guest = server.guest();
    let path = paused(&guest, OWN);
    let refuse = database.sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'written'; END $$; \
         CREATE TRIGGER refuse BEFORE UPDATE ON webhook_endpoints FOR EACH ROW EXECUTE FUNCTION refuse()",
        "CREATE TRIGGER refuse BEFORE UPDATE ON webhook_endpoints BEGIN SELECT RAISE(ABORT, 'written'); END",
    );
    database.execute(refuse);
    for change in [json!({}), json!({"paused": true}), json!({"types": null, "url": WEBHOOK_URL})] {
        assert_eq!(endpoint(&guest.patch(&path, &change), 200)["status"], "paused");
    }
    assert!(guest.patch(&path, &json!({"description": "a note"})).status >= 500, "a change is written");
}

fn two_creations_with_one_idempotency_key_make_one_endpoint(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, colleague) = (server.guest(), operator.new_operator(&server));
    for (person, list) in [(&guest, OWN), (&operator, ALL)] {
        let create = |body: Value| person.call("POST", list).json(&body).key("once").send();
        let body = json!({"url": WEBHOOK_URL, "types": ["topup.created"], "password": PASSWORD});
        let first = create(body.clone());
        let again = create(body.clone());
        assert_eq!(again.data(201), first.data(201), "with the secret, which the client may not have");
        assert_eq!(
            (first.header("idempotency-replayed"), again.header("idempotency-replayed")),
            (None, Some("true"))
        );
        assert_eq!(again.header("location"), first.header("location"));
        create(json!({"url": WEBHOOK_URL, "types": ["topup.created"], "password": "wrong"}))
            .invalid(&["password"]);
        for other in [json!({"url": "https://example.org/"}), json!({"url": WEBHOOK_URL})] {
            create(confirmed(other)).refused(422, "idempotency_key_reused");
        }
        let path = format!("{list}/{}", first.data(201)["webhook_endpoint"]["id"]);
        let rotated = person.post(&format!("{path}/rotate"), &json!({"password": PASSWORD})).data(200);
        assert_eq!(create(body.clone()).data(201)["secret"], rotated["secret"], "the current secret");
        assert_eq!(person.get(list).data(200)["total"], 1);
        if list == ALL {
            colleague.patch(&path, &confirmed(json!({"url": "https://example.org/"}))).data(200);
            create(body.clone()).refused(409, "endpoint_taken");
            person.patch(&path, &confirmed(json!({"url": WEBHOOK_URL}))).data(200);
            assert_eq!(create(body.clone()).data(201)["secret"], rotated["secret"]);
        }
        let other = person.call("POST", list).json(&body).key("twice").send().data(201);
        assert_ne!(other["webhook_endpoint"]["id"], first.data(201)["webhook_endpoint"]["id"]);
        person.delete(&path).data(200);
        assert_eq!(create(body).header("idempotency-replayed"), None, "the key ends with its endpoint");
    }
    let log = format!("/operator/security-log?kind=webhook_endpoint_changed&user_id={}", guest.id);
    assert_eq!(operator.get(&log).data(200)["total"], 5, "three creations, a rotation and a removal");
}

fn a_repeated_endpoint_creation_gets_a_replay_after_a_password_change(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let new = "battery staple";
    let create = |password: &str| {
        let body = json!({"url": WEBHOOK_URL, "password": password});
        guest.call("POST", OWN).json(&body).key("once").send()
    };
    let first = create(PASSWORD).data(201)["secret"].clone();
    guest.post("/auth/password", &json!({"current_password": PASSWORD, "password": new})).data(200);
    create(PASSWORD).invalid(&["password"]);
    let again = create(new);
    assert_eq!(again.data(201)["secret"], first);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
}

fn endpoint_creation_stores_no_readable_secret(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[]);
    let guest = server.guest();
    let body = json!({"url": WEBHOOK_URL, "description": "to be found", "password": PASSWORD});
    let created = guest.call("POST", OWN).json(&body).key("once").send().data(201);
    let (_, secret) = created["secret"].as_str().unwrap().split_once('_').unwrap();
    assert_eq!(database.tables_with("to be found"), ["webhook_endpoints"]);
    for hidden in [secret, PASSWORD] {
        assert!(database.tables_with(hidden).is_empty(), "{:?}", database.tables_with(hidden));
    }
}

/// The states of the endpoints at these paths.
fn states(person: &Person, paths: &[&String]) -> Vec<String> {
    let status = |path: &&String| {
        let shown = endpoint(&person.get(path), 200);
        shown["disabled_reason"].as_str().or(shown["status"].as_str()).unwrap().to_owned()
    };
    paths.iter().map(status).collect()
}

/// Attack API2: a thief's webhook endpoint after the owner has ended all sessions.
fn ending_all_sessions_disables_endpoints_of_the_users_own_feed(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("notifier.email", "log")]);
    let (mine, all) = (operator.webhook_endpoint(OWN), operator.webhook_endpoint(ALL));
    let (mine, all) = (format!("{OWN}/{mine}"), format!("{ALL}/{all}"));
    operator.call("POST", "/auth/logout-everywhere").send().data(200);
    let operator = server.client().login(&operator.email);
    assert_eq!(states(&operator, &[&mine, &all]), ["security", "active"]);
    operator.patch(&mine, &json!({"paused": true})).data(200);
    assert_eq!(states(&operator, &[&mine]), ["security"], "the reason stays visible");
    operator.patch(&mine, &json!({"paused": false})).invalid(&["password"]);
    operator.patch(&mine, &confirmed(json!({"paused": false}))).data(200);
    // A reset.
    server.client().post("/auth/password/forgot", &json!({"email": operator.email})).data(200);
    let reset = eventually("the reset", || {
        let message = (0..9).map(|number| server.message(&operator.email, number));
        message.take(3).find_map(|text| text.split_once("with this token:").map(|(_, rest)| rest.to_owned()))
    });
    let body = json!({"token": reset.split_whitespace().next(), "password": PASSWORD});
    server.client().post("/auth/password/reset", &body).data(200);
    let operator = server.client().login(&operator.email);
    assert_eq!(states(&operator, &[&mine, &all]), ["security", "active"]);
}

fn stored_urls_are_shown_in_canonical_form(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, database) = (server.guest(), server.database().unwrap());
    let log = format!("/operator/security-log?kind=webhook_endpoint_changed&user_id={}", guest.id);
    for (stored, shown, host) in [
        (
            r"https://evil.example\@hooks.good.example/",
            "https://evil.example/@hooks.good.example/",
            "evil.example",
        ),
        (
            "https://hooks.good.example:1@EVIL.example:8443/",
            "https://hooks.good.example:1@evil.example:8443/",
            "evil.example:8443",
        ),
    ] {
        let id = guest.webhook_endpoint(OWN);
        database.execute(&format!("UPDATE webhook_endpoints SET url = '{stored}' WHERE id = {id}"));
        let path = format!("{OWN}/{id}");
        assert_eq!(endpoint(&guest.get(&path), 200)["url"], shown);
        assert_eq!(endpoint(&guest.patch(&path, &json!({"paused": true})), 200)["status"], "paused");
        let event = operator.get(&log).data(200)["data"][0].clone();
        let detail = event["detail"].as_str().unwrap();
        assert_eq!(detail, format!("change_webhook_endpoint: endpoint {id} at {host}, active → paused"));
    }
}

#[test]
fn passwords_sent_with_endpoint_changes_count_against_the_guess_quota() {
    let keys = [("rate_limits.enabled", "true"), ("rate_limits.guess_per_minute", "3")];
    let (server, _) = Server::with_operator(Store::Memory, &keys);
    let guest = server.guest();
    let path = format!("{OWN}/{}", guest.webhook_endpoint(OWN));
    for _ in 0..2 {
        guest.patch(&path, &json!({"description": "x", "password": "wrong"})).invalid(&["password"]);
    }
    guest.patch(&path, &confirmed(json!({"description": "x"}))).refused(429, "rate_limited");
    guest.post(OWN, &confirmed(json!({"url": WEBHOOK_URL}))).refused(429, "rate_limited");
    guest.patch(&path, &json!({"paused": true})).data(200);
}

/// Attack API2: using up the owner's changes of webhook endpoints.
#[test]
fn sessions_have_separate_quotas_for_endpoint_changes() {
    let keys = [("rate_limits.enabled", "true"), ("rate_limits.webhook_changes_per_hour", "3")];
    let (server, _) = Server::with_operator(Store::Memory, &keys);
    let owner = server.guest();
    let path = format!("{OWN}/{}", owner.webhook_endpoint(OWN));
    let rotate = |person: &Person| person.post(&format!("{path}/rotate"), &json!({}));
    rotate(&owner).invalid(&["password"]);
    owner.patch(&path, &json!({"paused": true})).data(200);
    owner.patch(&path, &json!({})).data(200);
    for refused in [rotate(&owner), owner.patch(&path, &json!({})), owner.delete(&path)] {
        refused.refused(429, "rate_limited");
    }
    let again = server.client().login(&owner.email);
    again.patch(&path, &json!({"description": "a note"})).data(200);
    again.delete(&path).data(200);
}
