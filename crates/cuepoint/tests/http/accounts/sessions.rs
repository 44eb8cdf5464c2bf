//! The caller's own sessions: listed, ended, and rejected from then on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Answer, Database, PASSWORD, Person, SHARED_KEY, Server, Store, keys};

on_one_store!(
    sessions_are_listed_newest_first,
    sessions_show_the_user_agent_and_ip_address_of_their_login,
    an_ended_session_is_refused_immediately,
    logging_out_everywhere_ends_every_session,
    a_session_ended_in_the_database_is_refused_within_two_seconds,
);

fn sessions(person: &Person) -> Vec<Value> {
    person.get("/auth/sessions").data(200)["data"].as_array().unwrap().clone()
}

fn is_out(server: &Server, person: &Person) {
    person.get("/wallet").refused(401, "session_ended");
    let refresh = json!({"refresh_token": person.refresh_token});
    server.client().post("/auth/refresh", &refresh).refused(401, "invalid_refresh_token");
}

fn sessions_are_listed_newest_first(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    server.guest();
    let elsewhere = server.client().login(&guest.email);
    let rows = sessions(&guest);
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in &rows {
        assert_eq!(
            keys(row),
            ["created_at", "current", "expires_at", "id", "ip_address", "last_used_at", "user_agent"]
        );
        assert_eq!(row["created_at"], row["last_used_at"]);
        assert!(row["expires_at"].as_str() > row["created_at"].as_str());
    }
    assert_eq!((&rows[0]["current"], &rows[1]["current"]), (&json!(false), &json!(true)));
    assert_eq!(rows[0]["id"], elsewhere.session());
    assert_eq!(rows[1]["id"], guest.session());
    let page = guest.get("/auth/sessions?per_page=1&page=2").data(200);
    assert_eq!((&page["total"], &page["data"][0]["id"]), (&json!(2), &rows[1]["id"]));
    // A refresh keeps the session and updates its timestamps.
    let refresh = json!({"refresh_token": elsewhere.refresh_token});
    server.client().post("/auth/refresh", &refresh).data(200);
    let row = sessions(&guest)[0].clone();
    assert_eq!(row["id"], rows[0]["id"]);
    assert!(row["last_used_at"].as_str() > row["created_at"].as_str(), "{row}");
}

fn sessions_show_the_user_agent_and_ip_address_of_their_login(store: Store) {
    let server = Server::configured(store, &[("server.trusted_proxies", "127.0.0.1")]);
    let guest = server.guest();
    let body = json!({"email": guest.email, "password": PASSWORD});
    let login = server.client().call("POST", "/auth/login").json(&body);
    let login = login.header("user-agent", "Jukebox/1.0 <b>").header("x-forwarded-for", "2001:db8::7");
    let elsewhere = Person::signed_in(&server.client(), &login.send().data(200));
    let row = sessions(&elsewhere)[0].clone();
    assert_eq!((&row["user_agent"], &row["ip_address"]), (&json!("Jukebox/1.0 <b>"), &json!("2001:db8::7")));
    assert_eq!(sessions(&elsewhere)[1]["ip_address"], "127.0.0.1");
}

/// Attack API2: the access token of an ended session.
fn an_ended_session_is_refused_immediately(store: Store) {
    let server = Server::start(store);
    let (guest, stranger) = (server.guest(), server.guest());
    let elsewhere = server.client().login(&guest.email);
    let path = format!("/auth/sessions/{}", elsewhere.session());
    stranger.delete(&path).refused(404, "not_found");
    elsewhere.get("/wallet").data(200);
    assert_eq!(guest.delete(&path).data(200), json!({}));
    is_out(&server, &elsewhere);
    guest.delete(&path).refused(404, "not_found");
    guest.get("/wallet").data(200);
    stranger.get("/wallet").data(200);
    assert_eq!(sessions(&guest).len(), 1);
}

fn logging_out_everywhere_ends_every_session(store: Store) {
    let server = Server::start(store);
    let (guest, stranger) = (server.guest(), server.guest());
    let elsewhere = server.client().login(&guest.email);
    assert_eq!(guest.call("POST", "/auth/logout-everywhere").send().data(200), json!({}));
    is_out(&server, &guest);
    is_out(&server, &elsewhere);
    stranger.get("/wallet").data(200);
    let again = server.client().login(&guest.email);
    assert_eq!(sessions(&again).len(), 1);
}

#[test]
fn other_servers_refuse_an_ended_session_within_two_seconds() {
    let database = Arc::new(Database::postgres());
    let keys = [SHARED_KEY];
    let (here, there) = (Server::on(&database, &keys), Server::on(&database, &keys));
    let guest = here.guest();
    let there = there.client();
    let call = || there.call("GET", "/wallet").bearer(&guest.token).send();
    call().data(200);
    guest.call("POST", "/auth/logout-everywhere").send().data(200);
    let ended = Instant::now();
    guest.get("/wallet").refused(401, "session_ended");
    is_refused_within_two_seconds(ended, call);
}

/// A session ended by another process: on SQLite a command of the operator, on PostgreSQL another server as
/// well.
fn a_session_ended_in_the_database_is_refused_within_two_seconds(store: Store) {
    let server = Server::start(store);
    let (guest, other) = (server.guest(), server.guest());
    let database = server.database().unwrap();
    let call = || guest.get("/withdrawals/options");
    call().data(200);
    let now = database.sql("now()", "unixepoch() * 1000000");
    database.execute(&format!("UPDATE sessions SET ended_at = {now} WHERE user_id = {}", guest.id));
    is_refused_within_two_seconds(Instant::now(), call);
    other.get("/withdrawals/options").data(200);
}

/// Calls until the session is refused.
pub(crate) fn is_refused_within_two_seconds(ended: Instant, call: impl Fn() -> Answer) {
    loop {
        let begun = Instant::now();
        let answer = call();
        if answer.status != 200 {
            answer.refused(401, "session_ended");
            break;
        }
        assert!(begun.duration_since(ended) < Duration::from_secs(2), "the token is still accepted");
    }
}
