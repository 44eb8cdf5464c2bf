//! Provider messages that contradict the ledger: their records, readers and resolution.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{
    Answer, Database, Message, NEW, Person, ProviderScene, STRANGE, Server, Store, eventually,
    is_stored_for_review, keys, operator_keys, paid,
};

on_one_store!(
    a_second_transaction_is_stored_as_a_contradiction_and_changes_nothing,
    messages_with_unknown_references_are_stored_and_answered_with_404,
    topups_are_confirmed_only_with_the_exact_amount_and_currency,
    a_repeated_message_is_stored_once,
    unsigned_messages_are_not_stored,
    unresolved_messages_are_listed_first_and_can_be_filtered,
    a_message_can_be_resolved_only_once,
    messages_above_10000_unresolved_are_logged_and_counted_but_not_stored,
);

on_durable_stores!(a_message_that_cannot_be_stored_is_not_acknowledged);

const UNKNOWN: &str = "0193a5f0-1c2d-7abc-8def-00112233aabb";
const LIST: &str = "/operator/provider-messages";
const MESSAGE: [&str; 17] = [
    "amount",
    "claimed_id",
    "currency",
    "id",
    "reason_code",
    "received_at",
    "reference",
    "resolution",
    "resolved_at",
    "resolved_by",
    "resolved_by_name",
    "source",
    "topup_id",
    "txid",
    "type",
    "webhook_id",
    "withdrawal_id",
];

/// The messages that a filter selects.
fn listed(staff: &Person, filter: &str) -> Vec<Value> {
    let page = staff.get(&format!("{LIST}?per_page=100{filter}")).data(200);
    page["data"].as_array().unwrap().clone()
}

fn resolve(staff: &Person, id: &Value, reason: &str) -> Answer {
    staff.post(&format!("{LIST}/{id}/resolve"), &json!({"reason": reason}))
}

/// Two transactions for one withdrawal indicate two payments.
///
/// Attack API10: a second transaction for one withdrawal.
fn a_second_transaction_is_stored_as_a_contradiction_and_changes_nothing(store: Store) {
    let scene = ProviderScene::new(store);
    let (id, reference) = scene.ordered();
    let state = || {
        let withdrawal = scene.withdrawal(id);
        (withdrawal["status"].clone(), withdrawal["txid"].clone(), scene.guest.wallet())
    };
    Message::payout_as("payout.broadcast", &reference, "tx-1").accepted_by(&scene.server);
    let broadcast = state();
    assert_eq!(broadcast, (json!("broadcast"), json!("tx-1"), ("45.00".into(), "5.00".into())));
    let second = Message::payout_as("payout.broadcast", &reference, "tx-2");
    let third = Message::payout_as("payout.completed", &reference, "tx-3");
    for contradiction in [&second, &third] {
        contradiction.contradicts(&scene.server);
        assert_eq!(state(), broadcast);
    }
    Message::payout_as("payout.completed", &reference, "tx-1").accepted_by(&scene.server);
    let completed = state();
    assert_eq!(completed, (json!("completed"), json!("tx-1"), ("45.00".into(), "0.00".into())));
    let fourth = Message::payout_as("payout.completed", &reference, "tx-4");
    fourth.contradicts(&scene.server);
    Message::payout("payout.failed", &reference).contradicts(&scene.server);
    assert_eq!(state(), completed);

    let kept = scene.messages();
    assert!(kept.iter().all(|message| keys(message) == MESSAGE), "{kept:?}");
    let shown: Vec<_> = kept
        .iter()
        .map(|message| (&message["type"], &message["reason_code"], &message["txid"], &message["webhook_id"]))
        .map(|(kind, reason, txid, id)| json!([kind, reason, txid, id]))
        .collect();
    let mismatch = |kind, txid, message: &Message<'_>| json!([kind, "txid_mismatch", txid, message.id]);
    assert_eq!(
        shown[1..],
        [
            mismatch("payout.completed", "tx-4", &fourth),
            mismatch("payout.completed", "tx-3", &third),
            mismatch("payout.broadcast", "tx-2", &second),
        ]
    );
    assert_eq!((&shown[0][0], &shown[0][1]), (&json!("payout.failed"), &json!("status_contradiction")));
    let newest = &kept[1];
    assert_eq!(
        (&newest["source"], &newest["reference"], &newest["withdrawal_id"], &newest["topup_id"]),
        (&json!("payouts"), &json!(reference), &json!(id), &Value::Null)
    );
    for key in ["resolved_at", "resolved_by", "resolution", "amount", "currency", "claimed_id"] {
        assert_eq!(newest[key], Value::Null, "{key}");
    }
    scene.is_measured("payouts", "txid_mismatch", "kept", 3);
    scene.is_measured("payouts", "status_contradiction", "kept", 1);
    for part in [r#"txid="tx-4""#, r#"txid="tx-2""#] {
        scene.is_logged(&["ERROR", part, &reference, r#"reason="txid_mismatch""#, "payout."]);
    }
}

fn messages_with_unknown_references_are_stored_and_answered_with_404(store: Store) {
    let scene = ProviderScene::new(store);
    let (id, reference) = scene.ordered();
    let topup = paid("12.75", json!({"reference": UNKNOWN, "id": 7}));
    Message::about_topup("topup.confirmed", topup).send(&scene.server).refused(404, "not_found");
    Message::payout_as("payout.completed", UNKNOWN, "tx-9").send(&scene.server).refused(404, "not_found");
    let by_id = json!({"type": "payout.completed", "data": {"id": 999_999, "txid": "tx-9"}});
    Message::new("/providers/payouts", &by_id).send(&scene.server).refused(404, "not_found");
    let differ =
        json!({"type": "payout.completed", "data": {"reference": reference, "id": 0, "txid": "tx-9"}});
    Message::new("/providers/payouts", &differ).contradicts(&scene.server);
    let kept = scene.messages();
    let parts =
        ["source", "reason_code", "reference", "claimed_id", "withdrawal_id", "amount", "currency", "txid"];
    let shown: Vec<Value> =
        kept.iter().map(|message| json!(parts.map(|part| message[part].clone()))).collect();
    let unknown = "unknown_reference";
    assert_eq!(
        shown,
        [
            json!(["payouts", "reference_and_id_differ", reference, 0, id, null, null, "tx-9"]),
            json!(["payouts", unknown, "999999", 999_999, null, null, null, "tx-9"]),
            json!(["payouts", unknown, UNKNOWN, null, null, null, null, "tx-9"]),
            json!(["topups", unknown, UNKNOWN, 7, null, "12.75", "USD", null]),
        ]
    );
    scene.is_measured("payouts", unknown, "kept", 2);
    scene.is_measured("topups", unknown, "kept", 1);
    scene.is_logged(&[
        "ERROR",
        UNKNOWN,
        "topup.confirmed",
        r#"amount="12.75""#,
        r#"reason="unknown_reference""#,
    ]);
    // An id alone is refused if it may belong to another row, which is logged.
    let by_id = json!({"type": "payout.failed", "data": {"id": id}});
    Message::new("/providers/payouts", &by_id).send(&scene.server).invalid(&["reference"]);
    scene.is_logged(&["WARN", "without reference refused", "payout.failed"]);
    assert_eq!(scene.messages().len(), 4);
}

/// Attack API10: a confirmation with another amount or currency.
fn topups_are_confirmed_only_with_the_exact_amount_and_currency(store: Store) {
    let scene = ProviderScene::new(store);
    let id = scene.guest.topup("12.50");
    let reference = scene.guest.topup_reference(id);
    let status = || scene.guest.get(&format!("/wallet/topups/{id}")).data(200)["topup"]["status"].clone();
    let send = |data: &str| {
        let body = format!(r#"{{"type":"topup.confirmed","data":{{"reference":"{reference}"{data}}}}}"#);
        Message { body, ..Message::new("/providers/topups", &json!({})) }.send(&scene.server)
    };
    for (data, fields) in [
        ("", &["amount", "currency"][..]),
        (r#","amount":null,"currency":"""#, &["amount", "currency"]),
        (r#","amount":12.50"#, &["currency"]),
        (r#","currency":"USD""#, &["amount"]),
        (r#","amount":"12.50","currency":"USD""#, &["amount"]),
        (r#","amount":true,"currency":5"#, &["amount", "currency"]),
    ] {
        send(data).invalid(fields);
    }
    assert!(scene.messages().is_empty());
    let others = [
        ("12.49", "USD"),
        ("12.51", "USD"),
        ("1250", "USD"),
        ("12.500000000000000000000000000001", "USD"),
        ("-12.50", "USD"),
        ("1e400", "USD"),
        ("12.50", "EUR"),
        ("0.00012", "BTC"),
    ];
    for (amount, currency) in others {
        let answer = send(&format!(r#","amount":{amount},"currency":"{currency}""#));
        is_stored_for_review(&answer);
        assert_eq!((status(), scene.guest.wallet().0), (json!("pending"), "50.00".to_owned()));
    }
    let shown: Vec<Value> = scene
        .messages()
        .iter()
        .map(|message| {
            json!([message["reason_code"], message["topup_id"], message["amount"], message["currency"]])
        })
        .collect();
    let expected =
        others.iter().rev().map(|(amount, currency)| json!(["amount_mismatch", id, amount, currency]));
    assert_eq!(shown, expected.collect::<Vec<_>>());
    // Trailing zeros and the letter case are ignored.
    assert_eq!(send(r#","amount":12.5000,"currency":"usd""#).status, 204);
    assert_eq!((status(), scene.guest.wallet().0), (json!("confirmed"), "62.50".to_owned()));
    // It is confirmed: another amount may be a second payment.
    is_stored_for_review(&send(r#","amount":20,"currency":"USD""#));
    assert_eq!((scene.messages().len(), scene.guest.wallet().0), (others.len() + 1, "62.50".to_owned()));
    scene.is_measured("topups", "amount_mismatch", "kept", 9);
}

fn a_repeated_message_is_stored_once(store: Store) {
    let scene = ProviderScene::new(store);
    let message = Message::payout_as("payout.completed", UNKNOWN, "tx-1");
    for _ in 0..3 {
        message.send(&scene.server).refused(404, "not_found");
    }
    assert_eq!(scene.messages().len(), 1);
    scene.is_measured("payouts", "unknown_reference", "kept", 1);
    scene.is_measured("payouts", "unknown_reference", "repeated", 2);
}

/// Attack API10: filling the storage with unsigned messages.
fn unsigned_messages_are_not_stored(store: Store) {
    let scene = ProviderScene::new(store);
    let good = Message::payout_as("payout.completed", UNKNOWN, "tx-1");
    good.clone().by(STRANGE).send(&scene.server).refused(401, "invalid_signature");
    good.clone().late(400).send(&scene.server).refused(401, "invalid_signature");
    let call = || good.call(&scene.server.client());
    call().without("webhook-signature").send().refused(401, "unauthenticated");
    call().bearer(&scene.operator.token).without("webhook-id").send().refused(401, "unauthenticated");
    for id in ["", "a b", &"x".repeat(256)] {
        call().header("webhook-id", id).send().refused(400, "bad_request");
    }
    assert!(scene.messages().is_empty());
    let longest = Message { id: "~".repeat(255), ..good.clone() };
    longest.send(&scene.server).refused(404, "not_found");
    assert_eq!(scene.messages()[0]["webhook_id"], longest.id);
}

/// Texts from messages are bounded, and safe to display.
#[test]
fn message_texts_are_truncated_and_sanitized() {
    let scene = ProviderScene::new(Store::Memory);
    let data = json!({
        "reference": UNKNOWN,
        "amount": {"of": "9".repeat(5_000)},
        "currency": "é".repeat(5_000),
        "txid": format!("{}\u{0}<b>\n{}", "a".repeat(200), "b".repeat(40_000))
    });
    let long = Message::about_topup("topup.failed", data);
    long.send(&scene.server).refused(404, "not_found");
    let [kept] = scene.messages().try_into().unwrap();
    for (part, most) in [("amount", 64), ("currency", 64), ("txid", 512)] {
        let text = kept[part].as_str().unwrap();
        assert!(text.ends_with('…') && (most - 3..=most).contains(&text.len()), "{part}: {text}");
        assert!(!text.contains(char::is_control), "{part}: {text:?}");
    }
    let texts = ["webhook_id", "type", "reference", "amount", "currency", "txid"];
    let bytes: usize = texts.iter().map(|part| kept[*part].as_str().unwrap().len()).sum();
    assert!(bytes <= 1_024, "{bytes}");
    Message::about_topup(&"k".repeat(50_000), json!({})).accepted_by(&scene.server);
    let longest = scene.server.log().lines().map(str::len).max().unwrap();
    assert!(longest < 4_096, "{longest}");
}

fn unresolved_messages_are_listed_first_and_can_be_filtered(store: Store) {
    let scene = ProviderScene::new(store);
    for number in 0..4 {
        Message::payout_as("payout.completed", UNKNOWN, &format!("tx-{number}"))
            .send(&scene.server)
            .refused(404, "not_found");
    }
    let ids: Vec<Value> = scene.messages().iter().rev().map(|message| message["id"].clone()).collect();
    for place in [3, 0] {
        resolve(&scene.operator, &ids[place], "it is settled").data(200);
    }
    let shown = |filter: &str| {
        let shown = listed(&scene.operator, filter);
        shown.iter().map(|message| message["id"].clone()).collect::<Vec<_>>()
    };
    let of = |places: &[usize]| places.iter().map(|place| ids[*place].clone()).collect::<Vec<_>>();
    assert_eq!(shown(""), of(&[2, 1, 3, 0]));
    for (filter, places) in
        [("&resolved=0", &[2, 1][..]), ("&resolved=false", &[2, 1]), ("&resolved=1", &[3, 0])]
    {
        assert_eq!(shown(filter), of(places), "{filter}");
    }
    scene.operator.get(&format!("{LIST}?resolved=maybe")).invalid(&["resolved"]);
    scene.operator.get(&format!("{LIST}?resolved=")).invalid(&["resolved"]);
    let second = scene.operator.get(&format!("{LIST}?per_page=3&page=2")).data(200);
    assert_eq!((&second["total"], &second["data"][0]["id"]), (&json!(4), &ids[0]));
}

fn a_message_can_be_resolved_only_once(store: Store) {
    let scene = ProviderScene::new(store);
    let (auditor, colleague) = (scene.server.guest(), scene.server.guest());
    scene.operator.give_role(&auditor, "auditor");
    scene.operator.give_role(&colleague, "operator");
    for _ in 0..2 {
        Message::payout_as("payout.completed", UNKNOWN, "tx-1").send(&scene.server).refused(404, "not_found");
    }
    let [newer, older] = scene.messages().try_into().unwrap();
    let id = &newer["id"];
    assert_eq!(listed(&auditor, ""), [newer.clone(), older.clone()]);
    resolve(&auditor, id, "no").refused(403, "insufficient_scope");
    resolve(&scene.guest, id, "no").refused(403, "insufficient_scope");
    scene.guest.get(LIST).refused(403, "insufficient_scope");
    scene.operator.post(&format!("{LIST}/{id}/resolve"), &json!({})).invalid(&["reason"]);
    for unknown in ["0", "999999", "x"] {
        let path = format!("{LIST}/{unknown}/resolve");
        scene.operator.post(&path, &json!({"reason": "no"})).refused(404, "not_found");
    }
    assert_eq!(scene.messages(), [newer.clone(), older.clone()]);

    let before = scene.guest.snapshot();
    let path = format!("{LIST}/{id}/resolve");
    let call = || {
        let call = scene.operator.call("POST", &path).key("once").header("user-agent", "console/1");
        call.json(&json!({"reason": "Refunded by hand."})).send()
    };
    let first = call();
    let resolved = first.data(200)["provider_message"].clone();
    assert_eq!(
        (&resolved["resolution"], &resolved["resolved_by"]),
        (&json!("Refunded by hand."), &json!(scene.operator.id))
    );
    assert!(resolved["resolved_at"].as_str() >= newer["received_at"].as_str(), "{resolved}");
    let mut expected = newer.clone();
    // Names are present facts, which the answer does not have.
    expected.as_object_mut().unwrap().remove("resolved_by_name");
    for key in ["resolution", "resolved_by", "resolved_at"] {
        expected[key] = resolved[key].clone();
    }
    assert_eq!(resolved, expected);
    // The same key replays the answer; another call, by any principal, finds the message resolved.
    let again = call();
    assert_eq!((again.data(200), again.header("idempotency-replayed")), (first.data(200), Some("true")));
    resolve(&scene.operator, id, "once more").refused(409, "already_settled");
    resolve(&colleague, id, "mine").refused(409, "already_settled");
    let mut kept = scene.messages();
    kept[1].as_object_mut().unwrap().remove("resolved_by_name");
    assert_eq!(kept, [older, resolved]);
    assert_eq!(scene.guest.snapshot(), before, "it moves no money");

    let events = scene.operator.get("/operator/security-log?kind=operator_action").data(200)["data"].clone();
    let event = &events[0];
    assert_eq!(
        (&event["detail"], &event["actor_id"], &event["session_id"], &event["user_agent"]),
        (
            &json!(format!(
                "resolve_message: provider message {id} unresolved → resolved: Refunded by hand."
            )),
            &json!(scene.operator.id),
            &json!(scene.operator.session()),
            &json!("console/1")
        )
    );
    assert_eq!(event["ip_address"], "127.0.0.1");
    let resolutions = events.as_array().unwrap().iter();
    let resolutions =
        resolutions.filter(|event| event["detail"].as_str().unwrap().starts_with("resolve_message"));
    assert_eq!(resolutions.count(), 1, "one event for one resolution");
}

/// The provider resends a message until it is stored.
fn a_message_that_cannot_be_stored_is_not_acknowledged(store: Store) {
    let database = Arc::new(Database::of(store));
    let keys = [("payouts.webhook_secrets", NEW)];
    let operator = operator_keys("operator@example.com");
    let server = Server::on(&database, &[&keys[..], &operator].concat());
    let message = Message::payout_as("payout.completed", UNKNOWN, "tx-1");
    database.execute("ALTER TABLE provider_messages RENAME TO moved");
    message.send(&server).refused(503, "unavailable");
    database.execute("ALTER TABLE moved RENAME TO provider_messages");
    message.send(&server).refused(404, "not_found");
    let [kept] = listed(&server.client().login("operator@example.com"), "").try_into().unwrap();
    assert_eq!((&kept["txid"], &kept["webhook_id"]), (&json!("tx-1"), &json!(message.id)));
}

/// Attack API10: filling the storage with signed messages.
fn messages_above_10000_unresolved_are_logged_and_counted_but_not_stored(store: Store) {
    let database = Arc::new(Database::of(store));
    let keys = [("payouts.webhook_secrets", NEW)];
    let operator = operator_keys("operator@example.com");
    let server = Server::on(&database, &[&keys[..], &operator].concat());
    let operator = server.client().login("operator@example.com");
    // As stored by a later version, with a reason unknown to this one.
    let now = database.sql("now()", "unixepoch() * 1000000");
    database.execute(&format!(
        "INSERT INTO provider_messages (source, webhook_id, kind, reason_code, reference, received_at) \
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000) \
         SELECT 'payouts', 'flood-' || n, 'payout.invented', 'invented', '5', {now} FROM numbers"
    ));
    let message = Message::payout_as("payout.completed", UNKNOWN, "tx-1");
    message.send(&server).refused(404, "not_found");
    server.payer("20").withdrawal("5");
    let withdrawal = &operator.get("/operator/withdrawals").data(200)["data"][0];
    let known = Message::payout_as("payout.completed", withdrawal["reference"].as_str().unwrap(), "tx-2");
    assert_eq!(known.send(&server).data(200), json!({"outcome": "logged_for_review"}));
    let page = operator.get(LIST).data(200);
    assert_eq!(page["total"], 10_000);
    let newest = &page["data"][0];
    assert_eq!((&newest["reason_code"], &newest["type"]), (&json!("invented"), &json!("payout.invented")));
    let shown = server.client().outside("GET", "/metrics").send().text;
    assert!(shown.contains(r#"reason="unknown_reference",outcome="not_kept"} 1"#), "{shown}");
    eventually("the log says so", || {
        let log = server.log();
        log.lines()
            .any(|line| line.contains("was not stored") && line.contains(r#"txid="tx-1""#))
            .then_some(())
    });
    // A server counts them at startup and once a minute.
    drop(server);
    let server = Server::on(&database, &keys);
    eventually("the unresolved ones are measured", || {
        let shown = server.client().outside("GET", "/metrics").send().text;
        shown.lines().any(|line| line == "cuepoint_provider_messages_unresolved 10000").then_some(())
    });
    let operator = operator.at(&server.client());
    resolve(&operator, &newest["id"], "it was a flood").data(200);
    message.send(&server).refused(404, "not_found");
    assert_eq!(operator.get(LIST).data(200)["data"][0]["txid"], "tx-1");
}
