//! Changes of the e-mail address, and the token that restores the previous one.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{
    Answer, Database, MailServer, PASSWORD, Person, Post, SHARED_KEY, Server, Store, eventually,
};

on_one_store!(
    a_confirmed_code_changes_the_address_and_notifies_the_old_and_new_one,
    a_taken_address_is_not_revealed,
    confirming_an_address_taken_in_the_meantime_causes_a_field_error,
    an_email_change_requires_the_password_and_a_different_address,
    codes_to_new_addresses_are_limited_to_five_an_hour,
    the_restoration_token_recovers_a_stolen_login,
    an_unverified_previous_address_gets_a_notice_without_a_token,
    a_password_reset_request_resends_the_restoration_token,
    users_with_a_restorable_address_cannot_be_erased,
    reset_and_restoration_emails_contain_the_configured_links,
);

const NEW: &str = "battery staple";

fn change(person: &Person, email: &str) -> Answer {
    person.post("/auth/email/change", &json!({"email": email, "password": PASSWORD}))
}

fn confirm(person: &Person, code: &str) -> Answer {
    person.post("/auth/email/confirm", &json!({"code": code}))
}

fn restore(server: &Server, token: &str, password: &str) -> Answer {
    server.client().post("/auth/email/restore", &json!({"token": token, "password": password}))
}

fn login(server: &Server, email: &str, password: &str) -> Answer {
    server.client().post("/auth/login", &json!({"email": email, "password": password}))
}

/// The code in a message.
fn code(message: &str) -> String {
    let (_, after) = message.split_once(" is ").unwrap_or_else(|| panic!("{message}"));
    after.chars().take_while(char::is_ascii_digit).collect()
}

/// The token in a message.
fn token(message: &str) -> String {
    let (_, after) = message.split_once("with this token:").unwrap_or_else(|| panic!("{message}"));
    after.split_whitespace().next().unwrap().to_owned()
}

/// Verifies the present address of a user with its first message.
pub(crate) fn verify(server: &Server, person: &Person) {
    person.call("POST", "/auth/email/code").send().data(200);
    let sent = code(&server.message(&person.email, 0));
    person.post("/auth/email/verify", &json!({"code": sent})).data(200);
}

/// Changes the address of a user to one that gets its first message now.
fn moved(server: &Server, person: &Person, email: &str) -> Value {
    change(person, email).data(200);
    confirm(person, &code(&server.message(email, 0))).data(200)["user"].clone()
}

fn kinds(person: &Person) -> Vec<String> {
    let events = person.get("/user/export").data(200)["security_events"].clone();
    let kind = |event: &Value| event["kind"].as_str().unwrap().to_owned();
    let kinds: Vec<String> = events.as_array().unwrap().iter().map(kind).collect();
    kinds.into_iter().filter(|kind| kind.starts_with("email_")).collect()
}

/// Attack API2: changing the e-mail address of a stolen login unnoticed.
fn a_confirmed_code_changes_the_address_and_notifies_the_old_and_new_one(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    verify(&server, &guest);
    let new = format!("New-{}", guest.email);
    assert_eq!(change(&guest, &new).data(200), json!({}));
    let sent = code(&server.message(&new, 0));
    let wrong = if sent == "000000" { "000001" } else { "000000" };
    let errors = confirm(&guest, wrong).invalid(&["code"]);
    assert_eq!(errors["code"], json!(["The code is invalid or has expired."]));
    let user = confirm(&guest, &sent).data(200)["user"].clone();
    assert_eq!((&user["email"], &user["email_verified"]), (&json!(new), &json!(true)));
    confirm(&guest, &sent).invalid(&["code"]);
    login(&server, &guest.email, PASSWORD).refused(401, "invalid_credentials");
    login(&server, &new.to_uppercase(), PASSWORD).data(200);
    guest.get("/wallet").data(200);
    let told = server.message(&guest.email, 1);
    for part in ["was changed to another address.", "Time: 2", "IP address: 127.0.0.1", "with this token: "] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains(&new), "a notice does not tell the new address: {told}");
    assert!(server.message(&new, 1).contains("is now the e-mail address of your Cuepoint account."));
    // Until the previous address cannot be restored any more, it is reserved, and there is no second change.
    let said = change(&guest, "third@example.com").refused(409, "email_restorable");
    assert!(said["message"].as_str().unwrap().contains("cannot be changed again until 2"), "{said}");
    let other = json!({"name": "Eve", "email": guest.email, "password": PASSWORD});
    let errors = server.client().post("/auth/register", &other).invalid(&["email"]);
    assert_eq!(errors["email"], json!(["The email has already been taken."]));
    let export = guest.get("/user/export").data(200);
    assert!(export["account"]["login_changed_at"].is_string(), "{}", export["account"]);
    let sent: Vec<(&Value, &Value, bool)> = export["challenges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sent| (&sent["purpose"], &sent["address"], sent["ended_at"].is_null()))
        .collect();
    let (restores, changes) = (json!("email_restore"), json!("email_change"));
    assert!(sent.contains(&(&restores, &json!(guest.email), true)), "{sent:?}");
    assert!(sent.contains(&(&changes, &json!(new), false)), "{sent:?}");
    assert_eq!(kinds(&guest), ["email_changed", "email_change_requested", "email_verified"]);
}

/// Attack API2: finding out by a change of the e-mail address whether an address is known.
fn a_taken_address_is_not_revealed(store: Store) {
    let server = Server::start(store);
    let (guest, owner) = (server.guest(), server.guest());
    let free = change(&guest, "free@example.com");
    free.data(200);
    let taken = change(&guest, &owner.email.to_uppercase());
    assert_eq!(taken.seen(), free.seen());
    let told = server.message(&owner.email.to_uppercase(), 0);
    assert!(told.contains("did not get it") && !told.contains("code"), "{told}");
    assert!(!told.contains("127.0.0.1"), "the owner does not learn who it was: {told}");
    // The code to the free address was replaced, and no code confirms the taken one.
    confirm(&guest, &code(&server.message("free@example.com", 0))).invalid(&["code"]);
    assert_eq!(guest.get("/user/personal-info").data(200)["user"]["email"], guest.email.as_str());
}

fn confirming_an_address_taken_in_the_meantime_causes_a_field_error(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    change(&guest, "wanted@example.com").data(200);
    let eve = json!({"name": "Eve", "email": "Wanted@example.com", "password": PASSWORD});
    server.client().post("/auth/register", &eve).data(201);
    let errors = confirm(&guest, &code(&server.message("wanted@example.com", 0))).invalid(&["email"]);
    assert_eq!(errors["email"], json!(["The email has already been taken."]));
    login(&server, &guest.email, PASSWORD).data(200);
}

/// Attack API2: changing the e-mail address with a stolen token.
fn an_email_change_requires_the_password_and_a_different_address(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    let request_change = |email: &str, password: &str| {
        guest.post("/auth/email/change", &json!({"email": email, "password": password}))
    };
    let errors = request_change("new@example.com", "wrong horse").invalid(&["password"]);
    assert_eq!(errors["password"], json!(["The password is incorrect."]));
    let errors = request_change(&guest.email.to_uppercase(), PASSWORD).invalid(&["email"]);
    assert_eq!(errors["email"], json!(["The email is already yours."]));
    request_change("no address", PASSWORD).invalid(&["email"]);
    assert!(server.messages("new@example.com").is_empty());
    // A new password ends the change that a thief of the previous one began.
    request_change("thief@example.com", PASSWORD).data(200);
    let sent = code(&server.message("thief@example.com", 0));
    guest.post("/auth/password", &json!({"current_password": PASSWORD, "password": NEW})).data(200);
    confirm(&guest, &sent).invalid(&["code"]);
}

fn codes_to_new_addresses_are_limited_to_five_an_hour(store: Store) {
    let server = Server::start(store);
    let (guest, other) = (server.guest(), server.guest());
    for number in 0..5 {
        change(&guest, &format!("new{number}@example.com")).data(200);
    }
    // A taken address counts as well, and gets no notice either.
    for email in ["new5@example.com", &other.email] {
        change(&guest, email).refused(429, "rate_limited");
        assert!(server.messages(email).is_empty());
    }
    change(&other, "new5@example.com").data(200);
}

/// Attack API2: keeping a stolen login by another e-mail address and another password.
fn the_restoration_token_recovers_a_stolen_login(store: Store) {
    let server = Server::configured(store, &[("auth.breached_passwords", "refuse")]);
    let owner = server.guest();
    verify(&server, &owner);
    let endpoint = owner.webhook_endpoint("/webhook-endpoints");
    let thief = server.client().login(&owner.email);
    let (_, of_thief) = thief.personal_token(&["events:read"]);
    moved(&server, &thief, "thief@example.com");
    let taken = json!({"current_password": PASSWORD, "password": "mine for ever"});
    thief.post("/auth/password", &taken).data(200);
    owner.get("/wallet").refused(401, "session_ended");
    let token = token(&eventually("the token", || {
        server.messages(&owner.email).into_iter().find(|message| message.contains("with this token:"))
    }));
    restore(&server, &token, "password").invalid(&["password"]);
    let errors = restore(&server, "unknown", NEW).invalid(&["token"]);
    assert_eq!(errors["token"], json!(["The token is invalid or has expired."]));
    assert_eq!(restore(&server, &token, NEW).data(200), json!({}));
    thief.get("/wallet").refused(401, "session_ended");
    server.client().call("GET", "/events").bearer(&of_thief).send().refused(401, "session_ended");
    login(&server, "thief@example.com", "mine for ever").refused(401, "invalid_credentials");
    login(&server, &owner.email, "mine for ever").refused(401, "invalid_credentials");
    let data = login(&server, &owner.email, NEW).data(200);
    assert_eq!(
        (&data["user"]["email"], &data["user"]["email_verified"]),
        (&json!(owner.email), &json!(true))
    );
    let owner = Person::signed_in(&server.client(), &data);
    let shown = owner.get(&format!("/webhook-endpoints/{endpoint}")).data(200)["webhook_endpoint"].clone();
    assert_eq!(
        (&shown["status"], &shown["disabled_reason"]),
        (&json!("disabled"), &json!("security")),
        "{shown}"
    );
    assert_eq!(kinds(&owner)[..2], ["email_restored", "email_changed"]);
    restore(&server, &token, NEW).invalid(&["token"]);
    eventually("the thief's address is told", || {
        let told = server.messages("thief@example.com");
        told.into_iter().find(|message| message.contains("was changed to another address"))
    });
    // The next change is possible at once.
    change(&owner, "new@example.com").invalid(&["password"]);
    owner.post("/auth/email/change", &json!({"email": "new@example.com", "password": NEW})).data(200);
}

fn an_unverified_previous_address_gets_a_notice_without_a_token(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    moved(&server, &guest, "new@example.com");
    let told = server.message(&guest.email, 0);
    assert!(told.contains("was changed to another address") && !told.contains("token"), "{told}");
    // It is free, and the address can be changed again.
    let eve = json!({"name": "Eve", "email": guest.email, "password": PASSWORD});
    server.client().post("/auth/register", &eve).data(201);
    moved(&server, &guest, "newer@example.com");
}

/// A token whose message was lost is sent again to whoever forgot the password of the previous address.
fn a_password_reset_request_resends_the_restoration_token(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    verify(&server, &guest);
    moved(&server, &guest, "new@example.com");
    let first = token(&server.message(&guest.email, 1));
    let forgot = |address: &str| {
        server.client().post("/auth/password/forgot", &json!({"email": address})).data(200);
    };
    // Resets for the new address use nothing up, and stay valid.
    (0..6).for_each(|_| forgot("new@example.com"));
    let reset = eventually("the resets", || {
        let sent = server.messages("new@example.com");
        let tokens = sent.iter().filter(|message| message.contains("Reset your Cuepoint password"));
        let tokens: Vec<_> = tokens.map(|message| token(message)).collect();
        (tokens.len() == 5).then(|| tokens.last().cloned()).flatten()
    });
    for number in 2..7 {
        // The message is sent to the address as it was stored.
        forgot(&guest.email.to_uppercase());
        let again = server.message(&guest.email, number);
        assert_eq!(token(&again), first, "{again}");
    }
    // Five messages an hour, as for password resets.
    forgot(&guest.email);
    let body = json!({"token": reset, "password": "thief's own"});
    server.client().post("/auth/password/reset", &body).data(200);
    assert!(server.messages(&guest.email.to_uppercase()).is_empty());
    restore(&server, &first, NEW).data(200);
    assert_eq!(
        server.messages(&guest.email).iter().filter(|text| text.contains("with this token:")).count(),
        6
    );
    login(&server, &guest.email, NEW).data(200);
}

/// A thief of the login cannot end the restoration by erasing the user.
fn users_with_a_restorable_address_cannot_be_erased(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    verify(&server, &guest);
    moved(&server, &guest, "new@example.com");
    let token = token(&server.message(&guest.email, 1));
    let erase = |who: &Person, password: &str| {
        who.call("DELETE", "/user").json(&json!({"password": password})).send()
    };
    erase(&guest, PASSWORD).refused(409, "email_restorable");
    restore(&server, &token, NEW).data(200);
    let body = json!({"email": guest.email, "password": NEW});
    let owner = Person::signed_in(&server.client(), &server.client().post("/auth/login", &body).data(200));
    erase(&owner, NEW).data(200);
    let again = json!({"name": "Ada", "email": guest.email, "password": PASSWORD});
    server.client().post("/auth/register", &again).data(201);
    if let Some(database) = server.database() {
        assert_eq!(database.rows("SELECT 1 FROM challenges").len(), 0);
    }
}

fn reset_and_restoration_emails_contain_the_configured_links(store: Store) {
    let mails = MailServer::new(Post::Takes);
    let server = Server::configured(
        store,
        &[
            ("notifier.email", "smtp"),
            ("notifier.smtp_url", &mails.url),
            ("notifier.from", "Cuepoint <no-reply@cuepoint.example>"),
            ("notifier.reset_url", "https://app.example/reset#{token}"),
            ("notifier.restore_url", "https://app.example/restore?token={token}&from=mail"),
        ],
    );
    let mail = |number: usize, to: &str| {
        let mail = eventually("a mail", || mails.mails().into_iter().nth(number));
        assert_eq!(mail.to, [to]);
        // Long lines are broken for transport.
        mail.text.replace("=\r\n", "").replace("=3D", "=")
    };
    let guest = server.guest();
    server.client().post("/auth/password/forgot", &json!({"email": guest.email})).data(200);
    let text = mail(0, &guest.email);
    let reset = token(&text);
    assert!(text.contains(&format!("https://app.example/reset#{reset}\r\n")), "{text}");
    let body = json!({"token": reset, "password": PASSWORD});
    server.client().post("/auth/password/reset", &body).data(200);
    mail(1, &guest.email);
    let guest = server.client().login(&guest.email);
    change(&guest, "new@example.com").data(200);
    confirm(&guest, &code(&mail(2, "new@example.com"))).data(200);
    let text = mail(3, &guest.email);
    let back = token(&text);
    let link = format!("https://app.example/restore?token={back}&from=mail\r\n");
    assert!(text.contains(&link), "{text}");
    restore(&server, &back, NEW).data(200);
    login(&server, &guest.email, NEW).data(200);
}

#[test]
fn email_changes_are_unavailable_below_feature_level_two() {
    let database = Arc::new(Database::postgres());
    drop(Server::on(&database, &[SHARED_KEY]));
    database.rows("UPDATE deployment SET feature_level = 1");
    let server = Server::on(&database, &[SHARED_KEY]);
    let guest = server.guest();
    let refused = change(&guest, "new@example.com");
    refused.refused(503, "unavailable");
    assert_eq!(refused.header("retry-after"), Some("3600"));
    assert!(server.messages("new@example.com").is_empty());
    database.rows("UPDATE deployment SET feature_level = 2");
    eventually("the server knows", || (change(&guest, "new@example.com").status == 200).then_some(()));
}

/// Attack API2: registering the previous address of a stolen login before its owner restores it.
#[test]
fn another_server_accepts_the_restoration_token() {
    let database = Arc::new(Database::postgres());
    let servers = [Server::on(&database, &[SHARED_KEY]), Server::on(&database, &[SHARED_KEY])];
    let guest = servers[0].guest();
    verify(&servers[0], &guest);
    change(&guest, "new@example.com").data(200);
    let there = guest.at(&servers[1].client());
    confirm(&there, &code(&servers[0].message("new@example.com", 0))).data(200);
    let token = token(&servers[1].message(&guest.email, 0));
    restore(&servers[0], &token, NEW).data(200);
    login(&servers[1], &guest.email, NEW).data(200);
}
