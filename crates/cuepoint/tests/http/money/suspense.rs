//! Erasure with pending top-ups, and money received after the erasure of its owner.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{
    Answer, Database, Message, PASSWORD, Person, Server, Store, TOPUPS, eventually, keys, operator_keys,
};

const OPERATOR: &str = "operator@example.com";

on_one_store!(
    a_user_with_a_pending_topup_is_not_erased,
    late_money_stays_in_suspense_until_settled,
    a_failure_message_about_money_in_suspense_is_listed_as_a_contradiction,
    money_that_arrives_during_an_erasure_goes_to_the_wallet_or_to_suspense,
    operators_see_failed_topups_of_erased_users,
);

on_durable_stores!(a_restart_completes_an_erasure_interrupted_by_a_crash);

/// The configuration of a server on which a pending top-up prevents no erasure.
fn impatient() -> Vec<(&'static str, &'static str)> {
    [&TOPUPS[..], &[("topups.pending_days", "0")]].concat()
}

fn erase(person: &Person) -> Answer {
    person.call("DELETE", "/user").json(&json!({"password": PASSWORD})).send()
}

/// The id and reference of a top-up whose owner is erased while it is pending.
fn abandoned(server: &Server, amount: &str) -> (i64, String) {
    let guest = server.guest();
    let topup = guest.topup(amount);
    let reference = guest.topup_reference(topup);
    erase(&guest).data(200);
    (topup, reference)
}

fn suspense(person: &Person, query: &str) -> Vec<Value> {
    person.get(&format!("/operator/suspense{query}")).data(200)["data"].as_array().unwrap().clone()
}

fn settle(operator: &Person, id: i64) -> Answer {
    operator.post(&format!("/operator/suspense/{id}/settle"), &json!({"reason": "sent back"}))
}

/// The ids of the top-ups whose failure is an event in the feed of all events.
fn failures(operator: &Person) -> Vec<i64> {
    let page = operator.get("/operator/events?types=topup.failed").data(200);
    let events = page["events"].as_array().unwrap();
    events.iter().map(|event| event["data"]["topup"]["id"].as_i64().unwrap()).collect()
}

fn operators_see_failed_topups_of_erased_users(store: Store) {
    let (server, operator) = Server::with_operator(store, &impatient());
    let guest = server.guest();
    let topups = ["5", "7.25"].map(|amount| guest.topup(amount));
    let reference = guest.topup_reference(topups[0]);
    erase(&guest).data(200);
    let seen = failures(&operator);
    assert_eq!(BTreeSet::from_iter(seen.iter().copied()), BTreeSet::from(topups));
    assert_eq!(seen.len(), 2, "each once");
    let page = operator.get("/operator/events?types=topup.failed");
    assert!(!page.text.contains(&guest.email), "{page}");
    let event = page.data(200)["events"][0].clone();
    let failed = &event["data"]["topup"];
    assert_eq!((&failed["status"], &failed["user_id"]), (&json!("failed"), &json!(guest.id)));
    // Its money is no second failure.
    Message::topup("topup.confirmed", &reference).accepted_by(&server);
    assert_eq!((failures(&operator), suspense(&operator, "").len()), (seen, 1));
    if let Some(database) = server.database() {
        database.verify();
    }
}

fn a_restart_completes_an_erasure_interrupted_by_a_crash(store: Store) {
    let database = Arc::new(Database::of(store));
    let crash = [("CUEPOINT_CRASH_AT", "before_commit"), ("CUEPOINT_CRASH_ON", "move_topup")];
    let mut doomed = Server::on(&database, &[&impatient()[..], &operator_keys(OPERATOR), &crash].concat());
    let guest = doomed.guest();
    let topup = guest.topup("5");
    let dies = guest.call("DELETE", "/user").json(&json!({"password": PASSWORD})).try_send();
    assert!(dies.is_err() && !doomed.ended().success());
    let status = format!("SELECT status FROM topups WHERE id = {topup}");
    assert_eq!(database.rows(&status), [[Some("pending".to_owned())]]);
    database.verify();

    let server = Server::on(&database, &impatient());
    let operator = server.client().login(OPERATOR);
    eventually("the top-up has failed", || (failures(&operator) == [topup]).then_some(()));
    let login = json!({"email": guest.email, "password": PASSWORD});
    server.client().post("/auth/login", &login).refused(401, "invalid_credentials");
    let pending = "SELECT id FROM users WHERE erasure_pending";
    eventually("the erasure is finished", || database.rows(pending).is_empty().then_some(()));
    database.verify();
}

fn a_user_with_a_pending_topup_is_not_erased(store: Store) {
    let server = Server::configured(store, &TOPUPS);
    let guest = server.guest();
    let topup = guest.topup("5");
    let refused = erase(&guest).refused(409, "topup_pending");
    assert_eq!(refused["message"], "A top-up is pending. Its money may still arrive.");
    let status = |id: i64| guest.get(&format!("/wallet/topups/{id}")).data(200)["topup"]["status"].clone();
    assert_eq!(status(topup), "pending");
    Message::topup("topup.failed", &guest.topup_reference(topup)).accepted_by(&server);
    erase(&guest).data(200);
}

/// Attack API6: settling money in suspense twice.
fn late_money_stays_in_suspense_until_settled(store: Store) {
    let (server, operator) = Server::with_operator(store, &impatient());
    let auditor = server.guest();
    operator.give_role(&auditor, "auditor");
    let (first, reference) = abandoned(&server, "5");
    let (second, other) = abandoned(&server, "7.25");
    let shown = |id: i64| operator.get(&format!("/operator/topups/{id}")).data(200)["topup"].clone();
    assert_eq!(shown(first)["status"], "failed", "the erasure ended it");
    assert_eq!(suspense(&operator, ""), [json!(null); 0]);
    settle(&operator, first).refused(404, "not_found");

    for _ in 0..3 {
        Message::topup("topup.confirmed", &reference).accepted_by(&server);
    }
    Message::topup_of("7.25", "topup.confirmed", &other).accepted_by(&server);
    let waits = suspense(&auditor, "");
    assert_eq!(waits, suspense(&operator, ""));
    let ids = |rows: &[Value]| rows.iter().map(|row| row["id"].as_i64().unwrap()).collect::<Vec<_>>();
    assert_eq!(ids(&waits), [second, first], "newest first, each once");
    let fields = [
        "amount",
        "arrived_at",
        "id",
        "reason",
        "reference",
        "settled_at",
        "settled_by",
        "settled_by_name",
        "user_id",
    ];
    assert_eq!(keys(&waits[1]), fields);
    assert_eq!((&waits[1]["amount"], &waits[1]["reference"]), (&json!(5.0), &json!(reference)));
    for key in ["settled_at", "settled_by", "reason"] {
        assert_eq!(waits[1][key], Value::Null);
    }
    assert_eq!(shown(first)["status"], "failed");

    settle(&auditor, second).refused(403, "insufficient_scope");
    for reason in [json!(null), json!(""), json!(5), json!("x".repeat(256)), json!("a\u{0}b")] {
        let path = format!("/operator/suspense/{second}/settle");
        operator.post(&path, &json!({"reason": reason})).invalid(&["reason"]);
    }
    let settled = settle(&operator, second).data(200)["suspense"].clone();
    assert_eq!((&settled["reason"], &settled["settled_by"]), (&json!("sent back"), &json!(operator.id)));
    assert!(settled["settled_at"].as_str() >= settled["arrived_at"].as_str(), "{settled}");
    assert_eq!(ids(&suspense(&operator, "")), [first, second], "what waits comes first");
    // The list also has the present name of the operator.
    let mut listed = settled.clone();
    listed["settled_by_name"] = suspense(&operator, "?per_page=1&page=2")[0]["settled_by_name"].clone();
    assert!(listed["settled_by_name"].is_string(), "{listed}");
    assert_eq!(suspense(&operator, "?per_page=1&page=2"), std::slice::from_ref(&listed));
    let refused = settle(&operator, second).refused(409, "already_settled");
    assert_eq!(refused["message"], "This money has already been settled.");
    Message::topup_of("7.25", "topup.confirmed", &other).accepted_by(&server);
    assert_eq!(suspense(&operator, "")[1], listed, "a known message changes nothing");

    let path = format!("/operator/security-log?user_id={}&kind=operator_action", settled["user_id"]);
    let event = operator.get(&path).data(200)["data"][0].clone();
    assert_eq!(
        (&event["detail"], &event["actor_id"]),
        (
            &json!(format!("settle_suspense: top-up {} suspense → settled: sent back", settled["id"])),
            &json!(operator.id)
        )
    );
}

fn a_failure_message_about_money_in_suspense_is_listed_as_a_contradiction(store: Store) {
    let (server, operator) = Server::with_operator(store, &impatient());
    let (_, reference) = abandoned(&server, "5");
    Message::topup("topup.confirmed", &reference).accepted_by(&server);
    let waits = suspense(&operator, "");
    assert_eq!(waits.len(), 1);
    eventually("the log reports money in suspense", || {
        server.log().contains("held in suspense").then_some(())
    });
    Message::topup("topup.failed", &reference).contradicts(&server);
    let page = operator.get("/operator/provider-messages").data(200);
    assert_eq!(
        (&page["total"], &page["data"][0]["reason_code"]),
        (&json!(1), &json!("status_contradiction"))
    );
    assert_eq!(suspense(&operator, ""), waits);
}

/// Attack API6: an erasure before a payment arrives.
fn money_that_arrives_during_an_erasure_goes_to_the_wallet_or_to_suspense(store: Store) {
    let (server, operator) = Server::with_operator(store, &impatient());
    let guest = server.guest();
    let topup = guest.topup("5");
    let reference = guest.topup_reference(topup);
    // The money arrives while its owner is being erased: either may be first.
    let (erased, received) = std::thread::scope(|scope| {
        let erasing = scope.spawn(|| erase(&guest).status);
        let hearing = scope.spawn(|| Message::topup("topup.confirmed", &reference).send(&server).status);
        (erasing.join().unwrap(), hearing.join().unwrap())
    });
    assert_eq!(received, 204);
    match erased {
        200 => assert_eq!(suspense(&operator, "").len(), 1),
        409 => assert_eq!((guest.wallet().0.as_str(), suspense(&operator, "").len()), ("5.00", 0)),
        other => panic!("{other}"),
    }
}
