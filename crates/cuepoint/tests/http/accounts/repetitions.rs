//! Repeated registrations and refreshes after a lost answer: they return the same session within a minute.

use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};

use super::keys::{FILE, KeyFolder, kid};
use crate::harness::{Answer, Client, Database, PASSWORD, Person, SHARED_KEY, Server, Store, eventually};

on_every_store!(concurrent_registrations_return_the_same_session);
on_one_store!(
    a_repeated_refresh_returns_the_same_token,
    concurrent_refreshes_return_the_same_token,
    reusing_a_refresh_token_whose_successor_was_used_ends_the_session,
    a_refresh_can_be_repeated_after_a_signing_key_rotation,
    a_repeated_registration_returns_the_same_session,
    repeating_a_registration_requires_the_same_password,
    a_registration_cannot_be_repeated_after_a_refresh_logout_or_password_change,
    repeated_calls_after_a_restart_return_the_same_tokens,
    a_refresh_repeated_after_a_minute_ends_the_session,
    a_registration_repeated_after_a_minute_is_refused,
);

fn refresh(client: &Client, token: &str) -> Answer {
    client.post("/auth/refresh", &json!({"refresh_token": token}))
}

/// Exchanges a refresh token, and returns the new tokens.
fn refreshed(client: &Client, token: &str) -> Person {
    Person::signed_in(client, &refresh(client, token).data(200))
}

fn register(client: &Client, email: &str, password: &str) -> Answer {
    client.post("/auth/register", &json!({"name": "Ada", "email": email, "password": password}))
}

/// Checks that two answers are of the same session, with the same refresh token and a working access token.
fn is_same(first: &Person, second: &Person) {
    assert_eq!(first.id, second.id);
    assert_eq!(first.session(), second.session());
    assert_eq!(first.refresh_token, second.refresh_token);
    second.get("/wallet").data(200);
}

/// The answers to concurrent executions of the same call.
fn at_once(call: impl Fn() -> Answer + Sync) -> Vec<Answer> {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(&call)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn a_repeated_refresh_returns_the_same_token(store: Store) {
    let server = Server::start(store);
    let (client, guest) = (server.client(), server.guest());
    let mut now = guest;
    for _ in 0..3 {
        let next = refreshed(&client, &now.refresh_token);
        assert_ne!(next.refresh_token, now.refresh_token);
        for _ in 0..3 {
            is_same(&next, &refreshed(&client, &now.refresh_token));
        }
        now = next;
    }
}

fn concurrent_refreshes_return_the_same_token(store: Store) {
    let server = Server::start(store);
    let client = server.client();
    for _ in 0..3 {
        let guest = server.guest();
        let answers = at_once(|| refresh(&client, &guest.refresh_token));
        let people: Vec<Person> =
            answers.iter().map(|answer| Person::signed_in(&client, &answer.data(200))).collect();
        people.iter().for_each(|person| is_same(&people[0], person));
        refreshed(&client, &people[0].refresh_token).get("/wallet").data(200);
    }
}

/// Attack API2: a stolen refresh token, used after its owner has refreshed.
fn reusing_a_refresh_token_whose_successor_was_used_ends_the_session(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (client, guest) = (server.client(), server.guest());
    let second = refreshed(&client, &guest.refresh_token);
    let third = refreshed(&client, &second.refresh_token);
    // The thief presents the token within the minute.
    refresh(&client, &guest.refresh_token).refused(401, "invalid_refresh_token");
    for ended in [&guest, &second, &third] {
        ended.get("/wallet").refused(401, "session_ended");
        refresh(&client, &ended.refresh_token).refused(401, "invalid_refresh_token");
    }
    let path = format!("/operator/security-log?user_id={}&kind=refresh_token_reused", guest.id);
    assert_eq!(operator.get(&path).data(200)["total"], 1);
}

fn a_refresh_can_be_repeated_after_a_signing_key_rotation(store: Store) {
    for algorithm in ["hs256", "es256"] {
        let folder = KeyFolder::new();
        folder.rotate(&["--algorithm", algorithm]);
        let server = Server::configured(store, &[(FILE, &folder.path())]);
        let (client, guest) = (server.client(), server.guest());
        let next = refreshed(&client, &guest.refresh_token);
        let said = folder.rotate(&["--signs-in", "0"]);
        let after = said.split(' ').next().unwrap();
        eventually("the new key signs", || (kid(&server.guest().token) == after).then_some(()));
        let again = refreshed(&client, &guest.refresh_token);
        is_same(&next, &again);
        assert_eq!(kid(&again.token), after);
        refreshed(&client, &again.refresh_token).get("/wallet").data(200);
    }
}

fn a_repeated_registration_returns_the_same_session(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let client = server.client();
    let first = register(&client, "Ada@example.com", PASSWORD).data(201);
    let ada = Person::signed_in(&client, &first);
    // A login in between starts a session of its own.
    client.login("ada@example.com");
    for email in ["Ada@example.com", "ada@EXAMPLE.com"] {
        let again = register(&client, email, PASSWORD).data(201);
        is_same(&ada, &Person::signed_in(&client, &again));
        assert_eq!(again["user"], first["user"]);
    }
    assert_eq!(ada.get("/auth/sessions").data(200)["total"], 2);
    let path = format!("/operator/security-log?user_id={}&kind=registered", ada.id);
    assert_eq!(operator.get(&path).data(200)["total"], 1);
    refreshed(&client, &ada.refresh_token).get("/wallet").data(200);
}

fn concurrent_registrations_return_the_same_session(store: Store) {
    let server = Server::start(store);
    let client = server.client();
    let answers = at_once(|| register(&client, "ada@example.com", PASSWORD));
    let people: Vec<Person> =
        answers.iter().map(|answer| Person::signed_in(&client, &answer.data(201))).collect();
    people.iter().for_each(|person| is_same(&people[0], person));
    assert_eq!(people[0].get("/auth/sessions").data(200)["total"], 1);
}

/// The answer to a registration of a taken address, without its request id.
fn taken(client: &Client, email: &str, password: &str) -> Value {
    let answer = register(client, email, password);
    answer.invalid(&["email"]);
    let mut body = answer.json();
    body.as_object_mut().unwrap().remove("request_id");
    body
}

/// Attack API2: repeating a registration to take over its session.
fn repeating_a_registration_requires_the_same_password(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let client = server.client();
    let ada = Person::signed_in(&client, &register(&client, "ada@example.com", PASSWORD).data(201));
    let wrong = taken(&client, "ada@example.com", "another horse");
    // A user without a first session is answered in the same way, even with the right password.
    assert_eq!(taken(&client, &operator.email, PASSWORD), wrong);
    ada.get("/wallet").data(200);
    let path = format!("/operator/security-log?user_id={}&kind=login_failed", ada.id);
    assert_eq!(operator.get(&path).data(200)["total"], 1);
    let suspend = format!("/operator/users/{}/suspend", ada.id);
    operator.post(&suspend, &json!({"reason": "x"})).data(200);
    assert_eq!(taken(&client, "ada@example.com", PASSWORD), wrong);
}

/// Attack API2: repeating a registration after its refresh token was used.
fn a_registration_cannot_be_repeated_after_a_refresh_logout_or_password_change(store: Store) {
    let server = Server::start(store);
    let client = server.client();
    let person = |email: &str| Person::signed_in(&client, &register(&client, email, PASSWORD).data(201));
    let refreshed_once = person("ada@example.com");
    refreshed(&client, &refreshed_once.refresh_token);
    taken(&client, "ada@example.com", PASSWORD);
    let ended = person("grace@example.com");
    client.post("/auth/logout", &json!({"refresh_token": ended.refresh_token})).data(200);
    taken(&client, "grace@example.com", PASSWORD);
    let changed = person("edith@example.com");
    let passwords = json!({"current_password": PASSWORD, "password": "battery staple"});
    changed.post("/auth/password", &passwords).data(200);
    taken(&client, "edith@example.com", "battery staple");
}

#[test]
fn retries_on_another_server_return_the_same_tokens() {
    let database = Arc::new(Database::postgres());
    let first = Server::on(&database, &[SHARED_KEY]);
    let (here, there) = (first.client(), Server::on(&database, &[SHARED_KEY]));
    let ada = Person::signed_in(&here, &register(&here, "ada@example.com", PASSWORD).data(201));
    let repeated = register(&there.client(), "ada@example.com", PASSWORD).data(201);
    is_same(&ada, &Person::signed_in(&there.client(), &repeated));
    let next = refreshed(&here, &ada.refresh_token);
    is_same(&next, &refreshed(&there.client(), &ada.refresh_token));
    let session = next.session();
    drop((first, there));
    let later = Server::on(&database, &[SHARED_KEY]);
    let again = refreshed(&later.client(), &ada.refresh_token);
    assert_eq!((again.session(), again.refresh_token), (session, next.refresh_token));
}

fn repeated_calls_after_a_restart_return_the_same_tokens(store: Store) {
    let database = Arc::new(Database::of(store));
    let before = Server::on(&database, &[SHARED_KEY]);
    let client = before.client();
    let ada = Person::signed_in(&client, &register(&client, "ada@example.com", PASSWORD).data(201));
    let session = ada.session();
    drop(before);
    let after = Server::on(&database, &[SHARED_KEY]);
    let client = after.client();
    let repeated = Person::signed_in(&client, &register(&client, "ada@example.com", PASSWORD).data(201));
    let same = |person: &Person| (person.id, person.session(), person.refresh_token.clone());
    assert_eq!(same(&repeated), (ada.id, session, ada.refresh_token.clone()));
    let next = refreshed(&client, &ada.refresh_token);
    assert_eq!(next.session(), session);
    drop(after);
    let later = Server::on(&database, &[SHARED_KEY]);
    let again = refreshed(&later.client(), &ada.refresh_token);
    assert_eq!((again.session(), again.refresh_token), (session, next.refresh_token));
}

/// Attack API2: a used refresh token, presented after more than a minute.
fn a_refresh_repeated_after_a_minute_ends_the_session(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[SHARED_KEY]);
    let (client, guest) = (server.client(), server.guest());
    let next = refreshed(&client, &guest.refresh_token);
    // Time is moved in the database.
    let minute = database.sql("interval '60 seconds'", "60000000");
    database.execute(&format!("UPDATE refresh_tokens SET used_at = used_at - {minute}"));
    refresh(&client, &guest.refresh_token).refused(401, "invalid_refresh_token");
    next.get("/wallet").refused(401, "session_ended");
    refresh(&client, &next.refresh_token).refused(401, "invalid_refresh_token");
}

/// Attack API2: repeating a registration after more than a minute.
fn a_registration_repeated_after_a_minute_is_refused(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[SHARED_KEY]);
    let client = server.client();
    let ada = Person::signed_in(&client, &register(&client, "ada@example.com", PASSWORD).data(201));
    let minute = database.sql("interval '60 seconds'", "60000000");
    let sessions =
        format!("UPDATE sessions SET began_at = began_at - {minute}, used_at = used_at - {minute}");
    database.execute(&sessions);
    database.execute(&format!("UPDATE users SET created_at = created_at - {minute}"));
    taken(&client, "ada@example.com", PASSWORD);
    ada.get("/wallet").data(200);
}
