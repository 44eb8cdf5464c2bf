//! Sessions under suspension, and the last operator.

use std::sync::Arc;

use serde_json::json;

use crate::harness::{
    Answer, Call, Database, PASSWORD, Person, SHARED_KEY, Server, Store, at_once, operator_keys,
};

on_one_store!(a_suspension_ends_the_sessions_of_concurrent_logins, the_last_active_operator_cannot_be_erased);

fn act(by: &Person, on: &Person, what: &str) -> Call {
    by.call("POST", &format!("/operator/users/{}/{what}", on.id)).json(&json!({"reason": "as agreed"}))
}

fn role(by: &Person, on: &Person, role: &str) -> Call {
    let body = json!({"role": role, "reason": "as agreed"});
    by.call("POST", &format!("/operator/users/{}/role", on.id)).json(&body)
}

fn login(server: &Server, email: &str) -> Call {
    server.client().call("POST", "/auth/login").json(&json!({"email": email, "password": PASSWORD}))
}

fn refresh(server: &Server, token: &str) -> Answer {
    server.client().post("/auth/refresh", &json!({"refresh_token": token}))
}

/// Attack API2: a login concurrent with a suspension, to keep a session after the restoration.
fn a_suspension_ends_the_sessions_of_concurrent_logins(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    for _ in 0..6 {
        let guest = server.guest();
        let mut calls: Vec<Call> = (0..4).map(|_| login(&server, &guest.email)).collect();
        calls.push(act(&operator, &guest, "suspend"));
        let mut answers = at_once(calls);
        answers.pop().unwrap().data(200);
        act(&operator, &guest, "restore").send().data(200);
        for answer in answers {
            match answer.status {
                200 => {
                    let thief = Person::signed_in(&server.client(), &answer.data(200));
                    refresh(&server, &thief.refresh_token).refused(401, "invalid_refresh_token");
                    thief.get("/wallet").refused(401, "session_ended");
                }
                _ => drop(answer.refused(403, "account_suspended")),
            }
        }
        assert_eq!(login(&server, &guest.email).send().status, 200);
    }
}

fn the_last_active_operator_cannot_be_erased(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let erase = |person: &Person| person.call("DELETE", "/user").json(&json!({"password": PASSWORD})).send();
    let said = erase(&operator).refused(409, "last_operator");
    assert!(said["message"].as_str().unwrap().contains("last active operator"), "{said}");
    let second = operator.new_operator(&server);
    erase(&operator).data(200);
    erase(&second).refused(409, "last_operator");
    second.get("/operator/users").data(200);
}

/// Two servers on one database that accept each other's tokens, with an operator.
fn two_servers() -> [Server; 2] {
    let database = Arc::new(Database::postgres());
    let keys = [&operator_keys("operator@example.com")[..], &[SHARED_KEY]].concat();
    [Server::on(&database, &keys), Server::on(&database, &keys)]
}

/// Attack API5: a change through another server by an operator who was just suspended or demoted.
#[test]
fn a_suspended_or_demoted_operator_is_refused_on_the_other_server_at_once() {
    let servers = two_servers();
    let operator = servers[0].client().login("operator@example.com");
    let (guest, accomplice) = (servers[0].payer("50"), servers[0].guest());
    let withdrawal = guest.withdrawal("10");
    for dismissed_by in ["suspend", "role"] {
        let dismissed = operator.new_operator(&servers[1]);
        match dismissed_by {
            "suspend" => act(&operator, &dismissed, "suspend"),
            _ => role(&operator, &dismissed, "member"),
        }
        .send()
        .data(200);
        // The other server may not have read the revocation yet.
        let approve = format!("/operator/withdrawals/{withdrawal}/approve");
        let correction = json!({"user_id": accomplice.id, "amount": 5, "reason": "as agreed"});
        let calls = vec![
            dismissed.call("POST", &approve).json(&json!({"reason": "as agreed"})),
            dismissed.call("POST", "/operator/adjustments").json(&correction),
            role(&dismissed, &accomplice, "operator"),
            act(&dismissed, &operator, "suspend"),
        ];
        for answer in at_once(calls) {
            assert_eq!(answer.status, 403, "{answer}");
        }
    }
    let listed = operator.get("/operator/withdrawals?status=pending").data(200);
    assert_eq!(listed["data"][0]["approvals"], json!([]));
    assert_eq!(accomplice.get("/wallet").raw("/data/wallet/available"), "0.00");
    assert_eq!(
        operator.get(&format!("/operator/users/{}", accomplice.id)).data(200)["user"]["role"],
        "member"
    );
}
