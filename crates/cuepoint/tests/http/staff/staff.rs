//! User management by staff: search, suspension, restoration and roles.

use serde_json::{Value, json};

use crate::harness::{Answer, PASSWORD, Person, Server, Store, keys, song};

on_one_store!(
    users_are_paginated_and_found_by_email,
    a_suspended_user_is_refused_until_restored,
    a_suspended_dj_is_offline,
    a_role_change_takes_effect_immediately,
    the_export_contains_the_time_of_a_role_change,
    a_dj_can_also_be_an_operator_but_cannot_refund_their_own_requests,
    an_auditor_can_read_but_not_change_the_data_of_other_users,
    an_operator_cannot_change_their_own_suspension_or_role,
    suspensions_and_role_changes_require_a_reason_and_suspensions_are_replayed,
    an_operator_cannot_adjust_their_own_wallet_or_refund_their_own_request,
);

const PERSON: [&str; 9] = [
    "created_at",
    "email",
    "email_verified",
    "id",
    "is_dj",
    "name",
    "phone_verified",
    "role",
    "suspended_at",
];

fn act(operator: &Person, on: &Person, what: &str) -> Answer {
    operator.post(&format!("/operator/users/{}/{what}", on.id), &json!({"reason": "as agreed"}))
}

fn login(server: &Server, email: &str, password: &str) -> Answer {
    server.client().post("/auth/login", &json!({"email": email, "password": password}))
}

fn users_are_paginated_and_found_by_email(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.guest(), server.dj());
    assert_eq!(operator.ids("/operator/users", "id"), [dj.id, guest.id, operator.id]);
    assert_eq!(operator.ids("/operator/users?per_page=1&page=2", "id"), [guest.id]);
    let address = dj.email.to_uppercase();
    let page = operator.get(&format!("/operator/users?email={address}&per_page=5")).data(200);
    assert_eq!(page["total"], 1);
    assert!(page["first_page_url"].as_str().unwrap().contains("email="), "{page}");
    let shown = &page["data"][0];
    assert_eq!(keys(shown), PERSON);
    assert_eq!(
        (&shown["id"], &shown["role"], &shown["is_dj"], &shown["suspended_at"]),
        (&json!(dj.id), &json!("member"), &json!(true), &Value::Null)
    );
    assert_eq!(operator.get(&format!("/operator/users/{}", dj.id)).data(200)["user"], *shown);
    for nobody in ["nobody@example.com", "nonsense", "%25"] {
        assert!(operator.ids(&format!("/operator/users?email={nobody}"), "id").is_empty(), "{nobody}");
    }
}

fn a_suspended_user_is_refused_until_restored(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.payer("20");
    let shown = act(&operator, &guest, "suspend").data(200)["user"].clone();
    assert!(shown["suspended_at"].is_string(), "{shown}");
    assert_eq!(keys(&shown), PERSON);
    // The issued access token, the refresh token, and a login.
    guest.get("/wallet").refused(403, "account_suspended");
    guest.post("/wallet/topups", &json!({"amount": 1})).refused(403, "account_suspended");
    let refresh = || server.client().post("/auth/refresh", &json!({"refresh_token": guest.refresh_token}));
    refresh().refused(403, "account_suspended");
    login(&server, &guest.email, PASSWORD).refused(403, "account_suspended");
    login(&server, &guest.email, "wrong horse").refused(401, "invalid_credentials");
    // Repeating the action changes nothing.
    assert_eq!(act(&operator, &guest, "suspend").data(200)["user"], shown);
    assert_eq!(act(&operator, &guest, "restore").data(200)["user"]["suspended_at"], Value::Null);
    // Earlier sessions stay ended; only a login with the password restores access.
    guest.get("/wallet").refused(401, "session_ended");
    refresh().refused(401, "invalid_refresh_token");
    assert_eq!(server.client().login(&guest.email).wallet(), ("20.00".into(), "0.00".into()));
}

fn a_suspended_dj_is_offline(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (dj, guest) = (server.dj(), server.payer("20"));
    act(&operator, &dj, "suspend").data(200);
    assert_eq!(guest.get(&format!("/djs/{}", dj.id)).data(200)["dj"]["online"], 0);
    guest.post("/music/requests", &song(dj.id)).refused(409, "dj_offline");
    act(&operator, &dj, "restore").data(200);
    guest.post("/music/requests", &song(dj.id)).refused(409, "dj_offline");
    let dj = server.client().login(&dj.email);
    dj.patch("/user/personal-info", &json!({"online": 1})).data(200);
    guest.request_song(&dj);
}

fn a_role_change_takes_effect_immediately(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (person, guest) = (server.guest(), server.payer("20"));
    let withdrawal = guest.withdrawal("1");
    let approve = format!("/operator/withdrawals/{withdrawal}/approve");
    let reason = json!({"reason": "as agreed"});
    person.post(&approve, &reason).refused(403, "insufficient_scope");
    operator.give_role(&person, "operator");
    person.post(&approve, &reason).data(200);
    operator.give_role(&person, "member");
    person.post(&approve, &reason).refused(403, "insufficient_scope");
    person.get("/wallet").data(200);
    operator.give_role(&person, "auditor");
    let person = server.client().login(&person.email);
    person.get("/operator/withdrawals").data(200);
}

fn a_dj_can_also_be_an_operator_but_cannot_refund_their_own_requests(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (dj, guest) = (server.dj(), server.payer("20"));
    operator.give_role(&dj, "operator");
    let dj = server.client().login(&dj.email);
    let request = guest.request_song(&dj);
    dj.answer(request, "played").data(200);
    let withdrawal = guest.withdrawal("1");
    dj.post(&format!("/operator/withdrawals/{withdrawal}/approve"), &json!({"reason": "x"})).data(200);
    // An operator who is also the DJ of the request cannot refund it.
    let refund = format!("/operator/music/requests/{request}/refund");
    dj.post(&refund, &json!({"reason": "x"})).refused(403, "own_account");
    operator.post(&refund, &json!({"reason": "x"})).data(200);
}

/// Attack API3: changing data as an auditor.
fn an_auditor_can_read_but_not_change_the_data_of_other_users(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (auditor, guest) = (server.guest(), server.payer("20"));
    operator.give_role(&auditor, "auditor");
    let withdrawal = guest.withdrawal("1");
    let before = guest.snapshot();
    for path in ["withdrawals", "audit", "users", "security-log"] {
        auditor.get(&format!("/operator/{path}")).data(200);
    }
    auditor.get(&format!("/operator/users/{}", guest.id)).data(200);
    for act in ["approve", "reject", "process", "broadcast", "complete", "fail", "review"] {
        let path = format!("/operator/withdrawals/{withdrawal}/{act}");
        auditor.post(&path, &json!({"reason": "x", "txid": "x"})).refused(403, "insufficient_scope");
    }
    let body = json!({"user_id": guest.id, "amount": 1, "reason": "x"});
    auditor.post("/operator/adjustments", &body).refused(403, "insufficient_scope");
    for act_ in ["suspend", "restore", "role"] {
        act(&auditor, &guest, act_).refused(403, "insufficient_scope");
    }
    assert_eq!(guest.snapshot(), before);
}

/// Attack API5: an operator who changes their own role or suspension.
fn an_operator_cannot_change_their_own_suspension_or_role(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    for what in ["suspend", "restore", "role"] {
        // Ownership is checked before the body is read.
        act(&operator, &operator, what).refused(403, "own_account");
        let path = format!("/operator/users/{}/{what}", operator.id);
        operator.post(&path, &json!({})).refused(403, "own_account");
    }
    let second = server.guest();
    operator.give_role(&second, "operator");
    second.give_role(&operator, "member");
    operator.get("/operator/users").refused(403, "insufficient_scope");
}

fn suspensions_and_role_changes_require_a_reason_and_suspensions_are_replayed(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.guest();
    let path = |what: &str| format!("/operator/users/{}/{what}", guest.id);
    for what in ["suspend", "restore"] {
        operator.post(&path(what), &json!({})).invalid(&["reason"]);
        operator.post(&path(what), &json!({"reason": "x".repeat(256)})).invalid(&["reason"]);
    }
    operator.post(&path("role"), &json!({})).invalid(&["reason", "role"]);
    for role in [json!("owner"), json!("Operator"), json!(1), json!(""), json!([])] {
        operator.post(&path("role"), &json!({"role": role, "reason": "x"})).invalid(&["role"]);
    }
    let suspend = |reason: &str| {
        operator.call("POST", &path("suspend")).key("once").json(&json!({"reason": reason})).send()
    };
    let first = suspend("fraud");
    first.data(200);
    act(&operator, &guest, "restore").data(200);
    let again = suspend("fraud");
    assert_eq!((again.header("idempotency-replayed"), &again.text), (Some("true"), &first.text));
    suspend("else").refused(422, "idempotency_key_reused");
    server.client().login(&guest.email).get("/wallet").data(200);
}

/// Attack API5: an operator who credits their own wallet.
fn an_operator_cannot_adjust_their_own_wallet_or_refund_their_own_request(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    operator.topup("20");
    let dj = server.dj();
    let request = operator.request_song(&dj);
    dj.answer(request, "played").data(200);
    let before = operator.snapshot();
    let body = json!({"user_id": operator.id, "amount": 100, "reason": "a bonus"});
    operator.post("/operator/adjustments", &body).refused(403, "own_account");
    let refund = format!("/operator/music/requests/{request}/refund");
    operator.post(&refund, &json!({"reason": "not good"})).refused(403, "own_account");
    assert_eq!(operator.snapshot(), before);
}

fn the_export_contains_the_time_of_a_role_change(store: Store) {
    let (server, ada) = Server::with_operator(store, &[]);
    let account = |person: &Person| person.get("/user/export").data(200)["account"].clone();
    assert_eq!(account(&server.guest())["role_changed_at"], Value::Null);
    let bob = account(&ada.new_operator(&server));
    assert!(bob["role_changed_at"].is_string(), "{bob}");
}
