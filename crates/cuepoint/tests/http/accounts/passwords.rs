//! Password changes with the current password, and resets by e-mail.

use std::sync::Arc;

use serde_json::json;

use crate::harness::{Answer, Database, PASSWORD, Person, Server, Store, eventually};

on_one_store!(
    a_password_change_ends_all_other_sessions,
    a_wrong_current_password_changes_nothing,
    a_password_reset_request_does_not_reveal_whether_a_user_exists,
    a_reset_token_can_be_used_only_once,
    a_breached_password_is_refused_and_does_not_use_up_the_reset_token,
    a_login_rehashes_an_outdated_password_hash,
);

const NEW: &str = "battery staple";

fn change(person: &Person, present: &str, new: &str) -> Answer {
    person.post("/auth/password", &json!({"current_password": present, "password": new}))
}

fn login(server: &Server, email: &str, password: &str) -> Answer {
    server.client().post("/auth/login", &json!({"email": email, "password": password}))
}

fn forgot(server: &Server, email: &str) -> Answer {
    server.client().post("/auth/password/forgot", &json!({"email": email}))
}

/// Sets a password with the token of a message.
pub(crate) fn reset(server: &Server, token: &str, password: &str) -> Answer {
    server.client().post("/auth/password/reset", &json!({"token": token, "password": password}))
}

/// Requests a reset, and returns the token of the message that is this many after the first.
pub(crate) fn reset_token(server: &Server, email: &str, number: usize) -> String {
    forgot(server, email).data(200);
    let message = server.message(email, number);
    let (_, after) = message.split_once("with this token: ").unwrap_or_else(|| panic!("{message}"));
    after.split_whitespace().next().unwrap().to_owned()
}

/// Attack API2: a thief's session after the owner has changed the password.
fn a_password_change_ends_all_other_sessions(store: Store) {
    let server = Server::start(store);
    let (guest, stranger) = (server.guest(), server.guest());
    let elsewhere = server.client().login(&guest.email);
    assert_eq!(change(&guest, PASSWORD, NEW).data(200), json!({}));
    guest.get("/wallet").data(200);
    elsewhere.get("/wallet").refused(401, "session_ended");
    let refresh = |person: &Person| {
        server.client().post("/auth/refresh", &json!({"refresh_token": person.refresh_token}))
    };
    refresh(&elsewhere).refused(401, "invalid_refresh_token");
    refresh(&guest).data(200);
    stranger.get("/wallet").data(200);
    login(&server, &guest.email, PASSWORD).refused(401, "invalid_credentials");
    login(&server, &guest.email, NEW).data(200);
    let told = server.message(&guest.email, 0);
    assert!(told.contains("was changed") && told.contains("IP address: unknown"), "unverified: {told}");
}

fn a_wrong_current_password_changes_nothing(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let elsewhere = server.client().login(&guest.email);
    for wrong in ["Correct horse", &"x".repeat(60_000)] {
        let errors = change(&guest, wrong, NEW).invalid(&["current_password"]);
        assert_eq!(errors["current_password"], json!(["The current password is incorrect."]));
    }
    elsewhere.get("/wallet").data(200);
    login(&server, &guest.email, PASSWORD).data(200);
}

/// Attack API2: finding out by a password reset whether an address is known.
fn a_password_reset_request_does_not_reveal_whether_a_user_exists(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let known = forgot(&server, &guest.email);
    known.data(200);
    for email in ["nobody@example.com", &guest.email.to_uppercase(), &guest.email] {
        assert_eq!(forgot(&server, email).seen(), known.seen(), "{email}");
    }
    forgot(&server, "no address").invalid(&["email"]);
    server.message(&guest.email, 2);
    assert!(server.messages("nobody@example.com").is_empty());
}

fn a_reset_token_can_be_used_only_once(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let elsewhere = server.client().login(&guest.email);
    let token = reset_token(&server, &guest.email, 0);
    let stale = |token: &str| {
        let errors = reset(&server, token, "another one").invalid(&["token"]);
        assert_eq!(errors["token"], json!(["The token is invalid or has expired."]));
    };
    stale("unknown");
    stale(&token.to_lowercase());
    guest.get("/wallet").data(200);
    assert_eq!(reset(&server, &token, NEW).data(200), json!({}));
    for ended in [&guest, &elsewhere] {
        ended.get("/wallet").refused(401, "session_ended");
    }
    login(&server, &guest.email, PASSWORD).refused(401, "invalid_credentials");
    // Use of the token verifies the address.
    assert_eq!(login(&server, &guest.email, NEW).data(200)["user"]["email_verified"], true);
    stale(&token);
    assert!(server.message(&guest.email, 1).contains("was changed"));
}

/// Attack API2: trying the passwords of data leaks.
fn a_breached_password_is_refused_and_does_not_use_up_the_reset_token(store: Store) {
    let server = Server::configured(store, &[("auth.breached_passwords", "refuse")]);
    let guest = server.guest();
    let token = reset_token(&server, &guest.email, 0);
    for common in ["password", "PASSWORD", "12345678", "iloveyou"] {
        let body = json!({"name": "Eve", "email": "eve@example.com", "password": common});
        let errors = server.client().post("/auth/register", &body).invalid(&["password"]);
        let sentence = "The given password has appeared in a data leak. Please choose a different password.";
        assert_eq!(errors["password"], json!([sentence]));
        change(&guest, PASSWORD, common).invalid(&["password"]);
        reset(&server, &token, common).invalid(&["password"]);
    }
    reset(&server, &token, "short").invalid(&["password"]);
    reset(&server, &token, NEW).data(200);
}

fn a_login_rehashes_an_outdated_password_hash(store: Store) {
    let database = Arc::new(Database::of(store));
    let hash = || database.rows("SELECT password_hash FROM users")[0][0].clone().unwrap();
    let before =
        || Server::on(&database, &[("auth.argon2_memory_kib", "8192"), ("auth.argon2_iterations", "3")]);
    let server = before();
    let guest = server.guest();
    assert!(hash().starts_with("$argon2id$v=19$m=8192,t=3,p=1$"), "{}", hash());
    drop(server);
    let today = Server::on(&database, &[]);
    login(&today, &guest.email, "wrong horse").refused(401, "invalid_credentials");
    assert!(hash().contains("m=8192,t=3,"), "{}", hash());
    login(&today, &guest.email, PASSWORD).data(200);
    eventually("the hash of today", || hash().starts_with("$argon2id$v=19$m=7168,t=1,p=1$").then_some(()));
    login(&today, &guest.email, PASSWORD).data(200);
    drop(today);
    login(&before(), &guest.email, PASSWORD).data(200);
}
