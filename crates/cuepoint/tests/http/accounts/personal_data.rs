//! Export and erasure of personal data.

use cuepoint_domain::privacy::personal_data::ExportList;
use serde_json::{Value, json};

use crate::harness::{Answer, PASSWORD, PERSONAL_INFO, Person, Server, Store, eventually, keys, song};

on_one_store!(
    an_export_matches_the_lists_and_excludes_other_users,
    data_that_no_list_shows_is_exported,
    a_long_list_is_exported_completely,
    an_erasure_requires_the_password_and_an_empty_wallet,
    an_erased_user_cannot_log_in_and_the_ledger_stays_consistent,
    an_erased_dj_cannot_be_found_requested_or_blocked,
);

/// An export with all its lists.
fn export(person: &Person) -> Value {
    let data = person.get("/user/export").data(200);
    let lists = ExportList::all().map(ExportList::name);
    let mut expected: Vec<&str> = lists.chain(["account", "user", "wallet"]).collect();
    expected.sort_unstable();
    assert_eq!(keys(&data), expected);
    data
}

fn erase(person: &Person, password: &str) -> Answer {
    person.call("DELETE", "/user").json(&json!({"password": password})).send()
}

/// The rows of the first page of a list.
fn rows(person: &Person, path: &str) -> Value {
    person.get(&format!("{path}?per_page=100")).data(200)["data"].clone()
}

/// Attack API3: reading the data of others or of operators in an export.
fn an_export_matches_the_lists_and_excludes_other_users(store: Store) {
    let server = Server::start(store);
    let (person, other) = (server.dj(), server.dj());
    person.topup("50");
    other.topup("50");
    person.request_song(&other);
    let received = other.request_song(&person);
    person.answer(received, "played").data(200);
    person.withdrawal("5");
    let endpoint = format!("/webhook-endpoints/{}", person.webhook_endpoint("/webhook-endpoints"));
    person.patch(&endpoint, &json!({"paused": true})).data(200);
    person.call("PUT", &format!("/music/dj/blocks/{}", other.id)).send().data(200);
    let data = export(&person);
    assert_eq!(keys(&data["user"]), PERSONAL_INFO);
    assert_eq!(data["user"], person.get("/user/personal-info").data(200)["user"]);
    for (list, path) in [
        ("requests_made", "/music/user/requests"),
        ("requests_received", "/music/dj/requests"),
        ("withdrawals", "/withdrawals"),
        ("topups", "/wallet/topups"),
        ("wallet_entries", "/wallet/entries"),
        ("blocks", "/music/dj/blocks"),
        ("webhook_endpoints", "/webhook-endpoints"),
    ] {
        let mut shown = data[list].clone();
        // Fields that an export has in addition to the list.
        for row in shown.as_array_mut().unwrap() {
            let extra: &[&str] = match list {
                "requests_made" => &["gig_id", "message"],
                "withdrawals" => &["reference"],
                "topups" => &["page_code"],
                "wallet_entries" => &["reason"],
                "webhook_endpoints" => &["feed"],
                _ => &[],
            };
            extra
                .iter()
                .for_each(|key| assert!(row.as_object_mut().unwrap().remove(*key).is_some(), "{key}"));
        }
        let mut listed = rows(&person, path);
        if list == "withdrawals" {
            listed
                .as_array_mut()
                .unwrap()
                .iter_mut()
                .for_each(|row| drop(row.as_object_mut().unwrap().remove("waiting_for")));
        }
        assert_eq!(shown, listed, "{list}");
        assert!(!shown.as_array().unwrap().is_empty(), "{list}");
    }
    let session = &data["sessions"].as_array().unwrap()[..];
    assert!(matches!(session, [one] if one["current"] == true), "{session:?}");
    let networks = &data["networks"].as_array().unwrap()[..];
    assert!(matches!(networks, [one] if one["network"] == "127.0.0.1/32"), "{networks:?}");
    let kinds: Vec<&str> = data["security_events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["data_exported", "webhook_endpoint_changed", "webhook_endpoint_changed", "registered"]
    );
    // No record belongs to another user.
    let nobody = export(&server.guest());
    let lists = ExportList::all().map(ExportList::name);
    for list in lists.filter(|list| !["sessions", "networks", "security_events"].contains(list)) {
        assert_eq!(nobody[list], json!([]), "{list}");
    }
}

/// Ended sessions, earlier profiles, operators' actions with reasons, sent messages, and blocks of the
/// user.
fn data_that_no_list_shows_is_exported(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.payer("20"), server.dj());
    for city in ["Paris", "Rome"] {
        guest.patch("/user/personal-info", &json!({"city": city})).data(200);
    }
    let correction = json!({"user_id": guest.id, "amount": -1.5, "reason": "charged too little"});
    operator.post("/operator/adjustments", &correction).data(201);
    guest.request_song(&dj);
    dj.call("PUT", &format!("/music/dj/blocks/{}", guest.id)).send().data(200);
    guest.call("POST", "/auth/email/code").send().data(200);
    let second = server.client().login(&guest.email);
    let (ended, body) = (second.session(), json!({"refresh_token": second.refresh_token}));
    server.client().post("/auth/logout", &body).data(200);

    let data = export(&guest);
    let list = |name: &str| data[name].as_array().unwrap().clone();
    let ended = list("sessions").into_iter().find(|session| session["id"] == ended).unwrap();
    assert!(ended["ended_at"].is_string() && ended["ip_address"] == "127.0.0.1", "{ended}");
    let operations: Vec<_> = list("operations")
        .iter()
        .map(|note| json!([note["kind"], note["acted_by"], note["reason"], note["profile"]["city"]]))
        .collect();
    let null = Value::Null;
    assert_eq!(
        operations,
        [
            json!(["adjust", "operator", "charged too little", null]),
            json!(["profile", "self", null, "Rome"]),
            json!(["profile", "self", null, "Paris"]),
        ]
    );
    let reasons: Vec<_> = list("wallet_entries").iter().map(|entry| entry["reason"].clone()).collect();
    assert_eq!(reasons, [null.clone(), json!("charged too little"), null]);
    let sent = &list("challenges")[..];
    assert!(matches!(sent, [one] if one["purpose"] == "email" && one["address"] == guest.email), "{sent:?}");
    assert!(sent[0].get("hash").is_none() && sent[0].get("code").is_none());
    assert_eq!(list("blocked_by")[0]["dj_id"], dj.id);
    assert_eq!(data["account"]["role"], "member");
    assert_eq!(data["wallet"], guest.get("/wallet").data(200)["wallet"]);
}

fn a_long_list_is_exported_completely(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    for _ in 0..205 {
        guest.topup("0.01");
    }
    let answer = guest.get("/user/export");
    let data = answer.data(200);
    let numbers: Vec<i64> = data["wallet_entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["id"].as_i64().unwrap())
        .collect();
    assert_eq!(numbers, (1..=205).rev().collect::<Vec<_>>());
    assert_eq!(data["topups"].as_array().unwrap().len(), 205);
    assert_eq!(answer.header("transfer-encoding"), Some("chunked"));
}

fn an_erasure_requires_the_password_and_an_empty_wallet(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("5"), server.dj());
    let before = guest.snapshot();
    for password in ["wrong horse", "correct  horse", " "] {
        let errors = erase(&guest, password).invalid(&["password"]);
        assert_eq!(errors["password"], json!(["The password is incorrect."]));
    }
    guest.call("DELETE", "/user").send().invalid(&["password"]);
    guest.call("DELETE", "/user").text("{}").send().invalid(&["password"]);
    erase(&guest, PASSWORD).refused(409, "wallet_not_empty");
    assert_eq!(guest.snapshot(), before);
    // Held money counts too.
    let request = guest.request_song(&dj);
    erase(&guest, PASSWORD).refused(409, "wallet_not_empty");
    dj.answer(request, "played").data(200);
    erase(&guest, PASSWORD).data(200);
    erase(&dj, PASSWORD).refused(409, "wallet_not_empty");
}

fn an_erased_user_cannot_log_in_and_the_ledger_stays_consistent(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("ledger.audit_interval_seconds", "1")]);
    let (guest, dj) = (server.payer("10"), server.dj());
    let request = guest.request_song(&dj);
    dj.answer(request, "played").data(200);
    let withdrawal = guest.withdrawal("5");
    for act in ["approve", "process", "broadcast", "complete"] {
        let body = json!({"reason": "as agreed", "txid": "ab12"});
        operator.post(&format!("/operator/withdrawals/{withdrawal}/{act}"), &body).data(200);
    }
    let second = server.client().login(&guest.email);
    assert_eq!(erase(&guest, PASSWORD).data(200), json!({}));
    for person in [&guest, &second] {
        person.get("/wallet").refused(401, "session_ended");
        let refresh = json!({"refresh_token": person.refresh_token});
        server.client().post("/auth/refresh", &refresh).refused(401, "invalid_refresh_token");
    }
    let login = json!({"email": guest.email, "password": PASSWORD});
    server.client().post("/auth/login", &login).refused(401, "invalid_credentials");
    for path in ["", "/suspend"] {
        let path = format!("/operator/users/{}{path}", guest.id);
        let method = if path.ends_with("suspend") { "POST" } else { "GET" };
        operator.call(method, &path).text(r#"{"reason": "x"}"#).send().refused(404, "not_found");
    }
    assert!(operator.ids(&format!("/operator/users?email={}", guest.email), "id").is_empty());
    // The address is free, and its new holder is a different user.
    let body = json!({"name": "Grace", "email": guest.email, "password": PASSWORD});
    let next = server.client().post("/auth/register", &body).data(201);
    assert_ne!(next["user"]["id"], guest.id);
    // Shared records stay unchanged, and the ledger audit passes.
    assert_eq!(dj.get(&format!("/music/requests/{request}")).data(200)["user_id"], guest.id);
    let audit = eventually("a self-check has seen everything", || {
        let audit = operator.get("/operator/audit").data(200)["audit"].clone();
        (audit["wallets"] == 4).then_some(audit)
    });
    assert_eq!(audit["status"], "consistent", "{audit}");
    let erased = operator.get(&format!("/operator/security-log?user_id={}&kind=data_erased", guest.id));
    assert_eq!(erased.data(200)["total"], 1);
    if let Some(database) = server.database() {
        database.verify();
    }
}

fn an_erased_dj_cannot_be_found_requested_or_blocked(store: Store) {
    let server = Server::start(store);
    let (dj, other, guest) = (server.dj(), server.dj(), server.payer("10"));
    dj.topup("5");
    let request = dj.request_song(&other);
    other.call("PUT", &format!("/music/dj/blocks/{}", dj.id)).send().data(200);
    other.answer(request, "played").data(200);
    erase(&dj, PASSWORD).data(200);
    assert_eq!(guest.ids("/djs", "id"), [other.id]);
    guest.get(&format!("/djs/{}", dj.id)).refused(404, "not_found");
    guest.post("/music/requests", &song(dj.id)).invalid(&["dj_id"]);
    assert!(other.ids("/music/dj/blocks", "user_id").is_empty());
    other.call("PUT", &format!("/music/dj/blocks/{}", dj.id)).send().refused(404, "not_found");
}
