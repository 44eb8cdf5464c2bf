//! Personal access tokens: what they read, what they do not, and when they end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::accounts::email_change::verify;
use crate::accounts::passwords::{reset, reset_token};
use crate::accounts::sessions::is_refused_within_two_seconds;
use crate::harness::gig_scene::{open, title};
use crate::harness::{
    Answer, Client, Database, PASSWORD, Person, SHARED_KEY, Server, Store, eventually, keys, song,
};

on_one_store!(
    a_token_reads_what_its_scopes_allow_and_nothing_else,
    the_secret_of_a_token_is_shown_once,
    invalid_fields_of_a_token_are_named,
    a_token_needs_the_password,
    a_user_has_at_most_ten_tokens,
    a_stranger_cannot_end_a_token,
    logout_everywhere_ends_a_token_and_a_changed_password_does_not,
    a_password_reset_ends_a_token,
    the_owner_of_a_verified_address_is_told_of_a_new_token,
    a_message_about_a_new_password_lists_the_valid_tokens,
    a_token_is_refused_while_its_owner_is_suspended,
    guesses_and_polls_of_tokens_leave_other_quotas,
    creations_and_ends_of_tokens_are_in_the_security_log,
    an_ended_token_is_refused_immediately,
    a_stream_of_a_token_ends_with_the_token,
);

const ALL: [&str; 2] = ["events:read", "gigs:read"];

fn get(client: &Client, secret: &str, path: &str) -> Answer {
    client.call("GET", path).bearer(secret).send()
}

fn tokens(person: &Person) -> Vec<Value> {
    person.get("/auth/tokens").data(200)["tokens"].as_array().unwrap().clone()
}

/// Attack API5: an operation beyond the scope of a personal access token.
fn a_token_reads_what_its_scopes_allow_and_nothing_else(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let client = server.client();
    let (dj, guest) = (server.dj(), server.payer("20"));
    let gig = open(&dj, &title("Friday"));
    guest.post("/music/requests", &song(dj.id)).data(201);
    let of_gigs = ["/gigs".to_owned()]
        .into_iter()
        .chain(["", "/queue", "/report"].map(|part| format!("/gigs/{}{part}", gig["id"])));
    let of_gigs: Vec<String> = of_gigs.collect();
    let of_events = vec!["/events?after=0".to_owned()];
    let (_, gigs) = dj.personal_token(&["gigs:read"]);
    let (_, events) = dj.personal_token(&["events:read"]);
    for (paths, reads, refuses) in [(&of_gigs, &gigs, &events), (&of_events, &events, &gigs)] {
        for path in paths {
            assert_eq!(get(&client, reads, path).data(200), dj.get(path).data(200), "{path}");
            get(&client, refuses, path).refused(403, "insufficient_scope");
        }
    }
    let (_, both) = dj.personal_token(&ALL);
    let (_, of_operator) = operator.personal_token(&ALL);
    for secret in [&both, &of_operator] {
        for path in [
            "/user/personal-info",
            "/wallet",
            "/auth/sessions",
            "/auth/tokens",
            "/djs",
            "/user/export",
            "/webhook-endpoints",
            "/operator/events?after=0",
            "/operator/events/stream",
            "/operator/users",
            &format!("/boards/{}/mine", gig["code"].as_str().unwrap()),
        ] {
            get(&client, secret, path).refused(403, "insufficient_scope");
        }
        for (method, path) in [
            ("POST", "/gigs".to_owned()),
            ("PATCH", format!("/gigs/{}", gig["id"])),
            ("POST", format!("/gigs/{}/end", gig["id"])),
            ("POST", "/auth/tokens".to_owned()),
            ("POST", "/auth/logout-everywhere".to_owned()),
            ("POST", "/withdrawal/crypto".to_owned()),
        ] {
            let call = client.call(method, &path).json(&json!({"title": "Mine"})).bearer(secret);
            call.send().refused(403, "insufficient_scope");
        }
        get(&client, secret, &format!("/boards/{}", gig["code"].as_str().unwrap())).data(200);
    }
    assert_eq!(get(&client, &of_operator, "/events?after=0").data(200)["events"], json!([]));
    get(&client, &of_operator, "/gigs").refused(403, "dj_only");
    get(&client, &of_operator, &of_gigs[1]).refused(404, "not_found");
    assert_eq!(dj.get(&of_gigs[1]).data(200)["gig"]["title"], "Friday");
}

fn the_secret_of_a_token_is_shown_once(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let body = json!({"name": " Display ", "scopes": ["gigs:read", "events:read", "gigs:read"],
        "expires_in_days": 1, "password": PASSWORD});
    let created = guest.post("/auth/tokens", &body).data(201);
    assert_eq!(keys(&created), ["secret", "token"]);
    let secret = created["secret"].as_str().unwrap();
    assert!(secret.starts_with("cpt_") && secret.len() == 47, "{}", secret.len());
    let mut found = keys(&created["token"]);
    found.sort_unstable();
    assert_eq!(found, ["created_at", "expires_at", "id", "last_used_at", "name", "scopes"]);
    let token = &created["token"];
    assert_eq!((&token["name"], &token["scopes"]), (&json!("Display"), &json!(ALL)));
    assert_eq!(token["last_used_at"], json!(null));
    assert_eq!(tokens(&guest), std::slice::from_ref(token));
    get(&server.client(), secret, "/events").data(200);
    assert!(tokens(&guest)[0]["last_used_at"].as_str() > token["created_at"].as_str());
    let exported = guest.get("/user/export").json();
    assert_eq!(exported["data"]["personal_tokens"][0]["id"], token["id"]);
    for shown in [exported, guest.get("/auth/tokens").json()] {
        assert!(!shown.to_string().contains(&secret[4..]), "{shown}");
    }
    assert_eq!(guest.get("/auth/sessions").data(200)["total"], 1, "a token is no login");
}

fn invalid_fields_of_a_token_are_named(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    guest.post("/auth/tokens", &json!({})).invalid(&["name", "scopes", "password"]);
    for (field, value) in [
        ("name", json!("")),
        ("name", json!("a\nb")),
        ("scopes", json!([])),
        ("scopes", json!("gigs:read")),
        ("scopes", json!(["gigs:write"])),
        ("scopes", json!(["gigs:read", 7])),
        ("expires_in_days", json!(0)),
        ("expires_in_days", json!(366)),
        ("expires_in_days", json!(1.5)),
        ("expires_in_days", json!(70_000)),
    ] {
        let mut body = json!({"name": "Display", "scopes": ["gigs:read"], "password": PASSWORD});
        body[field] = value;
        guest.post("/auth/tokens", &body).invalid(&[field]);
    }
    assert_eq!(tokens(&guest), Vec::<Value>::new());
}

/// Attack API2: creating a lasting token with a stolen access token.
fn a_token_needs_the_password(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let body = json!({"name": "Display", "scopes": ["gigs:read"], "password": "not the password"});
    guest.post("/auth/tokens", &body).invalid(&["password"]);
    assert_eq!(tokens(&guest), Vec::<Value>::new());
}

fn a_user_has_at_most_ten_tokens(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let ids: Vec<i64> = (0..10).map(|_| guest.personal_token(&ALL).0).collect();
    let body = json!({"name": "Display", "scopes": ALL, "password": PASSWORD});
    guest.post("/auth/tokens", &body).refused(422, "limit_exceeded");
    guest.delete(&format!("/auth/tokens/{}", ids[0])).data(200);
    let newest = guest.personal_token(&ALL).0;
    let listed: Vec<Value> = tokens(&guest).iter().map(|token| token["id"].clone()).collect();
    assert_eq!((listed.len(), &listed[0], &listed[9]), (10, &json!(newest), &json!(ids[1])));
}

/// Attack API1: ending the token of another user.
fn a_stranger_cannot_end_a_token(store: Store) {
    let server = Server::start(store);
    let (guest, stranger) = (server.guest(), server.guest());
    let (id, secret) = guest.personal_token(&ALL);
    stranger.delete(&format!("/auth/tokens/{id}")).refused(404, "not_found");
    guest.delete(&format!("/auth/sessions/{id}")).refused(404, "not_found");
    guest.delete(&format!("/auth/tokens/{}", guest.session())).refused(404, "not_found");
    assert_eq!(tokens(&stranger), Vec::<Value>::new());
    get(&server.client(), &secret, "/events").data(200);
}

/// Attack API2: a stolen token after its owner has ended it.
fn an_ended_token_is_refused_immediately(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let ((id, secret), (_, other)) = (guest.personal_token(&ALL), guest.personal_token(&ALL));
    let client = server.client();
    for secret in [&secret, &other] {
        get(&client, secret, "/events").data(200);
    }
    guest.delete(&format!("/auth/tokens/{id}")).data(200);
    get(&client, &secret, "/events").refused(401, "session_ended");
    get(&client, &other, "/events").data(200);
    guest.delete(&format!("/auth/tokens/{id}")).refused(404, "not_found");
    guest.get("/wallet").data(200);
}

/// Attack API2: a stolen token after the owner has ended all sessions.
fn logout_everywhere_ends_a_token_and_a_changed_password_does_not(store: Store) {
    let server = Server::start(store);
    let (guest, client) = (server.guest(), server.client());
    let (_, secret) = guest.personal_token(&ALL);
    get(&client, &secret, "/events").data(200);
    let body = json!({"current_password": PASSWORD, "password": "correct horse battery staple"});
    guest.post("/auth/password", &body).data(200);
    get(&client, &secret, "/events").data(200);
    guest.call("POST", "/auth/logout-everywhere").send().data(200);
    get(&client, &secret, "/events").refused(401, "session_ended");
}

fn a_password_reset_ends_a_token(store: Store) {
    let server = Server::start(store);
    let (guest, client) = (server.guest(), server.client());
    let (_, secret) = guest.personal_token(&ALL);
    get(&client, &secret, "/events").data(200);
    reset(&server, &reset_token(&server, &guest.email, 0), "correct horse battery staple").data(200);
    get(&client, &secret, "/events").refused(401, "session_ended");
}

/// Attack API2: creating a token with a stolen login, unnoticed.
fn the_owner_of_a_verified_address_is_told_of_a_new_token(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    guest.personal_token(&ALL);
    verify(&server, &guest);
    let (id, secret) = guest.personal_token(&["gigs:read"]);
    let told = eventually("the message", || {
        let messages = server.messages(&guest.email);
        messages.into_iter().find(|message| message.contains("A personal access token"))
    });
    assert!(
        told.contains(&format!("Token {id}: gigs:read")),
        "not of the one before the verification: {told}"
    );
    assert!(!told.contains(&secret[4..]), "{told}");
}

fn a_message_about_a_new_password_lists_the_valid_tokens(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let ((kept, _), (ended, _)) = (guest.personal_token(&ALL), guest.personal_token(&ALL));
    guest.delete(&format!("/auth/tokens/{ended}")).data(200);
    let body = json!({"current_password": PASSWORD, "password": "correct horse battery staple"});
    guest.post("/auth/password", &body).data(200);
    let told = server.message(&guest.email, 0);
    assert!(told.contains(&format!("Token {kept}: events:read, gigs:read")), "{told}");
    assert!(!told.contains(&format!("Token {ended}:")), "{told}");
}

fn a_token_is_refused_while_its_owner_is_suspended(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, client) = (server.guest(), server.client());
    let (_, secret) = guest.personal_token(&ALL);
    get(&client, &secret, "/events").data(200);
    let path = format!("/operator/users/{}", guest.id);
    operator.post(&format!("{path}/suspend"), &json!({"reason": "a test"})).data(200);
    get(&client, &secret, "/events").refused(403, "account_suspended");
    operator.post(&format!("{path}/restore"), &json!({"reason": "a test"})).data(200);
    get(&client, &secret, "/events").refused(401, "session_ended");
}

/// Attack API2: guessing personal access tokens.
fn guesses_and_polls_of_tokens_leave_other_quotas(store: Store) {
    let quotas = [("rate_limits.enabled", "true"), ("rate_limits.default_per_minute", "5")];
    let server = Server::configured(store, &quotas);
    let (guest, client) = (server.guest(), server.client());
    let ((_, known), (_, new)) = (guest.personal_token(&ALL), guest.personal_token(&ALL));
    get(&client, &known, "/events").data(200);
    let guess = |number: usize| get(&client, &format!("cpt_{number:043}"), "/events");
    // An address has ten times the quota of a user.
    assert!((0..50).all(|number| guess(number).status == 401));
    assert!((50..53).all(|number| guess(number).status == 429));
    get(&client, &known, "/events").data(200);
    get(&client, &new, "/events").data(200);
    let polls: Vec<u16> = (0..5).map(|_| get(&client, &known, "/events").status).collect();
    assert_eq!(polls, [200, 200, 200, 429, 429], "two were before");
    guest.get("/wallet").data(200);
}

fn creations_and_ends_of_tokens_are_in_the_security_log(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.guest();
    let (id, _) = guest.personal_token(&ALL);
    guest.delete(&format!("/auth/tokens/{id}")).data(200);
    let log = operator.get(&format!("/operator/security-log?user_id={}", guest.id)).data(200);
    let kinds: Vec<(&str, &Value)> = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| (event["kind"].as_str().unwrap(), &event["detail"]))
        .take(2)
        .collect();
    let detail = json!(format!("personal access token {id}"));
    assert_eq!(kinds, [("personal_token_ended", &detail), ("personal_token_created", &detail)]);
}

fn a_stream_of_a_token_ends_with_the_token(store: Store) {
    let server = Server::start(store);
    let (guest, other) = (server.payer("10"), server.guest());
    let ((id, secret), (_, kept)) = (guest.personal_token(&ALL), other.personal_token(&ALL));
    let mut streams = [(&guest, &secret), (&other, &kept)].map(|(owner, secret)| {
        let mut program = owner.clone();
        program.token.clone_from(secret);
        program.stream("/events/stream", &[])
    });
    guest.delete(&format!("/auth/tokens/{id}")).data(200);
    let ended = Instant::now();
    assert_eq!(streams[0].rest(), []);
    assert!(ended.elapsed() < Duration::from_secs(2), "{:?}", ended.elapsed());
    other.topup("5");
    assert_eq!(streams[1].events(1)[0].event_type, "topup.created");
}

#[test]
fn other_servers_refuse_an_ended_token_within_two_seconds() {
    let database = Arc::new(Database::postgres());
    let keys = [SHARED_KEY];
    let (here, there) = (Server::on(&database, &keys), Server::on(&database, &keys));
    let guest = here.guest();
    let (id, secret) = guest.personal_token(&ALL);
    let there = there.client();
    get(&there, &secret, "/events").data(200);
    guest.delete(&format!("/auth/tokens/{id}")).data(200);
    is_refused_within_two_seconds(Instant::now(), || get(&there, &secret, "/events"));
}
