//! Providers: their signed messages, and the calls that the service signs.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{
    Database, Message, NEW, OLD, Person, Provider, Reply, STRANGE, Server, Store, TOPUPS, eventually,
    is_signed, payout_keys,
};

on_one_store!(
    a_signed_message_confirms_a_topup_once,
    a_forged_or_stale_message_changes_nothing,
    messages_are_refused_without_a_configured_secret,
    a_message_is_checked_in_the_documented_order,
    topups_show_the_payment_page_of_the_provider,
    payout_orders_are_signed_and_payouts_completed_by_messages,
    duplicate_and_reordered_messages_take_effect_once,
    a_payout_order_is_repeated_unchanged_to_an_unavailable_provider,
    a_payout_refused_by_the_provider_releases_the_money,
    a_payout_needs_review_after_two_unanswered_payout_orders,
);

on_durable_stores!(a_payout_continues_with_its_idempotency_key_after_a_restart);

/// Forged messages are counted, so that signatures cannot be guessed without limit; the provider itself is
/// never delayed.
#[test]
fn unsigned_and_forged_messages_are_rate_limited_but_valid_ones_are_not() {
    let counting = [("rate_limits.enabled", "true"), ("rate_limits.default_per_minute", "3")];
    let server = Server::configured(Store::Memory, &[&TOPUPS[..], &counting].concat());
    let guest = server.guest();
    let (_, reference) = pending_topup(&guest, &server);
    let forged = || Message::topup("topup.confirmed", &reference).by(STRANGE).send(&server);
    forged().refused(401, "invalid_signature");
    server.client().call("POST", "/providers/topups").send().refused(401, "unauthenticated");
    (0..28).for_each(|_| drop(forged().refused(401, "invalid_signature")));
    forged().refused(429, "rate_limited");
    for _ in 0..10 {
        Message::topup("topup.confirmed", &reference).accepted_by(&server);
    }
    forged().refused(429, "rate_limited");
}

/// The id and the reference of a new top-up.
fn pending_topup(guest: &Person, server: &Server) -> (i64, String) {
    let id = guest.topup("5");
    let topup = guest.get(&format!("/wallet/topups/{id}")).data(200)["topup"].clone();
    assert_eq!(
        (&topup["status"], &topup["payment_url"]),
        (&json!("pending"), &Value::Null),
        "{}",
        server.log()
    );
    assert_eq!(guest.wallet().0, "0.00");
    (id, topup["reference"].as_str().unwrap().to_owned())
}

fn status_of_topup(guest: &Person, id: i64) -> Value {
    guest.get(&format!("/wallet/topups/{id}")).data(200)["topup"]["status"].clone()
}

fn a_signed_message_confirms_a_topup_once(store: Store) {
    let server = Server::configured(store, &TOPUPS);
    let guest = server.guest();
    let (id, reference) = pending_topup(&guest, &server);
    let confirmed = Message::topup("topup.confirmed", &reference);
    for _ in 0..3 {
        confirmed.accepted_by(&server);
    }
    assert_eq!((guest.wallet().0.as_str(), status_of_topup(&guest, id)), ("5.00", json!("confirmed")));
    Message::topup("topup.failed", &reference).contradicts(&server);
    assert_eq!((guest.wallet().0.as_str(), status_of_topup(&guest, id)), ("5.00", json!("confirmed")));
    assert_eq!(guest.entries().len(), 1);

    let failed = pending(&guest);
    Message::topup("topup.failed", &guest.topup_reference(failed)).by(OLD).accepted_by(&server);
    Message::topup("topup.confirmed", &guest.topup_reference(failed)).by(OLD).contradicts(&server);
    assert_eq!((guest.wallet().0.as_str(), status_of_topup(&guest, failed)), ("5.00", json!("failed")));
    eventually("an operator is told to look", || {
        server.log().contains("contradicts the ledger").then_some(())
    });
    Message::topup("topup.confirmed", "00000000-0000-0000-0000-000000000001")
        .send(&server)
        .refused(404, "not_found");
    Message::topup("topup.celebrated", &reference).accepted_by(&server);
}

fn pending(guest: &Person) -> i64 {
    let id = guest.topup("5");
    assert_eq!(status_of_topup(guest, id), "pending");
    id
}

/// Attack API10: a message that is forged or too old.
fn a_forged_or_stale_message_changes_nothing(store: Store) {
    let server = Server::configured(store, &TOPUPS);
    let guest = server.guest();
    let (id, reference) = pending_topup(&guest, &server);
    let good = Message::topup("topup.confirmed", &reference);
    for bad in [good.clone().by(STRANGE), good.clone().late(400), good.clone().late(-400)] {
        bad.send(&server).refused(401, "invalid_signature");
    }
    let call = || good.call(&server.client());
    call().header("webhook-id", "msg_x").send().refused(401, "invalid_signature");
    call()
        .header("webhook-timestamp", &(good.sent_at + 1).to_string())
        .send()
        .refused(401, "invalid_signature");
    call().header("webhook-signature", "v1,AAAA").send().refused(401, "invalid_signature");
    let other = Message::topup("topup.confirmed", "00000000-0000-0000-0000-000000000001");
    call().text(&other.body).send().refused(401, "invalid_signature");
    // Signed, but for the other address, which has other secrets.
    Message { path: "/providers/payouts", ..good.clone() }.send(&server).refused(401, "invalid_signature");
    for header in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        call().without(header).send().refused(401, "unauthenticated");
    }
    assert_eq!((guest.wallet().0.as_str(), status_of_topup(&guest, id)), ("0.00", json!("pending")));
    let several = format!("{} {}", good.clone().by(STRANGE).signature(), good.clone().by(OLD).signature());
    assert_eq!(call().header("webhook-signature", &several).send().status, 204);
    assert_eq!(guest.wallet().0, "5.00");
}

fn messages_are_refused_without_a_configured_secret(store: Store) {
    let server = Server::start(store);
    Message::topup("topup.confirmed", "1").send(&server).refused(401, "invalid_signature");
    Message::payout("payout.completed", "1").send(&server).refused(401, "invalid_signature");
}

fn a_message_is_checked_in_the_documented_order(store: Store) {
    let server = Server::configured(store, &[("payouts.webhook_secrets", NEW)]);
    let large = Message { body: "x".repeat(65_537), ..Message::payout("payout.failed", "1") };
    let refused = |message: &Message<'_>, header: (&str, &str), status, code| {
        message.call(&server.client()).header(header.0, header.1).send().refused(status, code);
    };
    let client = server.client();
    large
        .call(&client)
        .without("webhook-signature")
        .header("accept", "text/html")
        .send()
        .refused(401, "unauthenticated");
    refused(&large.clone().by(STRANGE), ("accept", "text/html"), 406, "not_acceptable");
    refused(&large.clone().by(STRANGE), ("accept", "*/*"), 413, "payload_too_large");
    let broken = Message { body: "{".to_owned(), ..large };
    refused(&broken.clone().by(STRANGE), ("content-type", "text/plain"), 401, "invalid_signature");
    refused(&broken, ("content-type", "text/plain"), 415, "unsupported_media_type");
    broken.send(&server).refused(400, "malformed_json");
    for (body, fields) in [
        (json!({}), &["type", "data"][..]),
        (json!({"type": 5, "data": []}), &["type", "data"]),
        (json!({"type": "payout.broadcast", "data": {}}), &["reference", "txid"]),
        (json!({"type": "payout.completed", "data": {"id": "1", "txid": ""}}), &["id", "reference", "txid"]),
        (json!({"type": "payout.failed", "data": {"id": 1.5}}), &["id", "reference"]),
    ] {
        Message::new("/providers/payouts", &body).send(&server).invalid(fields);
    }
    for id in [0, -1, 5] {
        let body = json!({"type": "payout.failed", "data": {"id": id}});
        Message::new("/providers/payouts", &body).send(&server).refused(404, "not_found");
    }
}

fn topups_show_the_payment_page_of_the_provider(store: Store) {
    let provider =
        Provider::new(Reply::Says(200, r#"{"payment_url": "https://pay.example.com/1"}"#.to_owned()));
    let webhook = ("topups.webhook_url", provider.url.as_str());
    let server = Server::configured(store, &[TOPUPS[0], TOPUPS[1], webhook, ("pages.enabled", "false")]);
    let guest = server.guest();
    let topup =
        guest.call("POST", "/wallet/topups").text(r#"{"amount": 12.50}"#).send().data(201)["topup"].clone();
    assert_eq!(
        (&topup["status"], &topup["payment_url"]),
        (&json!("pending"), &json!("https://pay.example.com/1"))
    );
    let [order] = provider.received().try_into().unwrap();
    assert_eq!(
        order.body,
        format!(
            r#"{{"id":{},"reference":{},"amount":12.50,"currency":"USD"}}"#,
            topup["id"], topup["reference"]
        )
    );
    is_signed(&order, topup["reference"].as_str().unwrap());
}

fn withdrawal(guest: &Person, id: i64) -> Value {
    guest.get(&format!("/withdrawals/{id}")).data(200)
}

fn reaches(guest: &Person, id: i64, status: &str) {
    eventually(status, || (withdrawal(guest, id)["status"] == status).then_some(()));
}

fn payout_orders_are_signed_and_payouts_completed_by_messages(store: Store) {
    let provider = Provider::new(Reply::Says(202, r#"{"status": "accepted"}"#.to_owned()));
    let server = Server::configured(store, &payout_keys(&provider, "5"));
    let guest = server.payer("20");
    let id = guest.withdrawal("12.50");
    eventually("it is sent", || (!provider.received().is_empty()).then_some(()));
    let order = provider.received()[0].clone();
    let reference = provider.reference_of(id);
    is_signed(&order, &reference);
    assert_eq!(
        order.body,
        format!(
            r#"{{"id":{id},"reference":"{reference}","amount":12.50,"amount_currency":"USD","wallet_address":"bc1q","currency":"BTC","network":"bitcoin"}}"#
        )
    );
    Message::payout("payout.broadcast", &provider.reference_of(id)).accepted_by(&server);
    let sent = withdrawal(&guest, id);
    assert_eq!((&sent["status"], &sent["txid"]), (&json!("broadcast"), &json!("f00d")));
    assert_eq!(guest.wallet(), ("7.50".into(), "12.50".into()));
    for _ in 0..2 {
        Message::payout("payout.completed", &provider.reference_of(id)).accepted_by(&server);
    }
    assert_eq!(withdrawal(&guest, id)["status"], "completed");
    assert_eq!(guest.wallet(), ("7.50".into(), "0.00".into()));
    assert_eq!(provider.received().len(), 1);
    // Above the limit, nothing is sent before an operator approves.
    guest.topup("100");
    let large = guest.withdrawal("100");
    let small = server.payer("1").withdrawal("1");
    eventually("the small one is sent", || (provider.received().len() > 1).then_some(()));
    assert_eq!(provider.received()[1].json()["id"], small);
    assert_eq!(withdrawal(&guest, large)["status"], "pending");
}

/// Attack API10: messages that are replayed or out of order.
fn duplicate_and_reordered_messages_take_effect_once(store: Store) {
    let provider = Provider::new(Reply::Says(200, String::new()));
    let server = Server::configured(store, &payout_keys(&provider, "5"));
    let guest = server.payer("40");
    let accepted = |count: usize| {
        let id = guest.withdrawal("10");
        eventually("it is sent", || (provider.received().len() >= count).then_some(()));
        reaches(&guest, id, "processing");
        id
    };
    // Completion arrives before the broadcast, and both arrive twice.
    let first = accepted(1);
    for kind in ["payout.completed", "payout.broadcast", "payout.completed", "payout.broadcast"] {
        Message::payout(kind, &provider.reference_of(first)).accepted_by(&server);
        assert_eq!(withdrawal(&guest, first)["status"], "completed");
    }
    // It is completed, so a failure is a contradiction.
    Message::payout("payout.failed", &provider.reference_of(first)).contradicts(&server);
    assert_eq!(
        (withdrawal(&guest, first)["status"].clone(), guest.wallet()),
        (json!("completed"), ("30.00".into(), "0.00".into()))
    );
    eventually("an operator is told to look", || {
        server.log().contains("contradicts the ledger").then_some(())
    });
    // It has failed, so a completion is a contradiction.
    let second = accepted(2);
    for kind in ["payout.failed", "payout.failed", "payout.completed"] {
        let message = Message::payout(kind, &provider.reference_of(second));
        if kind == "payout.failed" {
            message.accepted_by(&server);
        } else {
            message.contradicts(&server);
        }
        assert_eq!(
            (withdrawal(&guest, second)["status"].clone(), guest.wallet()),
            (json!("failed"), ("30.00".into(), "0.00".into()))
        );
    }
    // It was broadcast and then failed: the outcome is unknown, and the money stays held.
    let third = accepted(3);
    for kind in ["payout.broadcast", "payout.failed", "payout.completed", "payout.failed"] {
        Message::payout(kind, &provider.reference_of(third)).accepted_by(&server);
    }
    let doubtful = withdrawal(&guest, third);
    assert_eq!((&doubtful["status"], &doubtful["txid"]), (&json!("needs_review"), &json!("f00d")));
    assert_eq!(guest.wallet(), ("20.00".into(), "10.00".into()));
}

fn a_payout_order_is_repeated_unchanged_to_an_unavailable_provider(store: Store) {
    let provider = Provider::new(Reply::Says(503, "try later".to_owned()));
    let server = Server::configured(store, &payout_keys(&provider, "1000"));
    let guest = server.payer("20");
    let id = guest.withdrawal("5");
    eventually("it is sent twice", || (provider.received().len() >= 2).then_some(()));
    assert_eq!(guest.wallet(), ("15.00".into(), "5.00".into()));
    provider.answers(Reply::Says(200, r#"{"status": "completed", "txid": "beef"}"#.to_owned()));
    reaches(&guest, id, "completed");
    for received in provider.received() {
        is_signed(&received, &provider.reference_of(id));
        assert_eq!(received.body, provider.received()[0].body);
    }
    assert_eq!(
        (withdrawal(&guest, id)["txid"].clone(), guest.wallet()),
        (json!("beef"), ("15.00".into(), "0.00".into()))
    );
}

fn a_payout_refused_by_the_provider_releases_the_money(store: Store) {
    let refusal = r#"{"status": "refused", "reason": "a closed address"}"#;
    let provider = Provider::new(Reply::Says(422, refusal.to_owned()));
    let server = Server::configured(store, &payout_keys(&provider, "5"));
    let guest = server.payer("20");
    let id = guest.withdrawal("5");
    reaches(&guest, id, "failed");
    assert_eq!(guest.wallet(), ("20.00".into(), "0.00".into()));
    assert_eq!(provider.received().len(), 1);
    Message::payout("payout.failed", &provider.reference_of(id)).accepted_by(&server);
    assert_eq!(guest.wallet(), ("20.00".into(), "0.00".into()));
}

/// Attack API10: a provider that pays and does not answer.
fn a_payout_needs_review_after_two_unanswered_payout_orders(store: Store) {
    let provider = Provider::new(Reply::HangsUp);
    let server = Server::configured(store, &payout_keys(&provider, "2"));
    let guest = server.payer("20");
    let id = guest.withdrawal("5");
    reaches(&guest, id, "needs_review");
    assert_eq!(provider.received().len(), 2);
    assert_eq!(guest.wallet(), ("15.00".into(), "5.00".into()));
    // From here on only an operator decides, whatever the provider reports.
    for kind in ["payout.failed", "payout.completed"] {
        Message::payout(kind, &provider.reference_of(id)).accepted_by(&server);
        assert_eq!(withdrawal(&guest, id)["status"], "needs_review");
    }
    assert_eq!(guest.wallet(), ("15.00".into(), "5.00".into()));
}

fn a_payout_continues_with_its_idempotency_key_after_a_restart(store: Store) {
    let database = Arc::new(Database::of(store));
    let provider = Provider::new(Reply::HangsUp);
    let keys = payout_keys(&provider, "1000");
    let mut first = Server::on(&database, &keys);
    let guest = first.payer("20");
    let id = guest.withdrawal("5");
    eventually("it is sent", || (!provider.received().is_empty()).then_some(()));
    first.signal("KILL");
    first.ended();
    provider.answers(Reply::Says(200, r#"{"status": "broadcast", "txid": "f00d"}"#.to_owned()));
    let servers = Server::as_many_as_may(&database, &keys);
    let guest = guest.at(&servers[0].client());
    reaches(&guest, id, "broadcast");
    for received in provider.received() {
        is_signed(&received, &provider.reference_of(id));
    }
    Message::payout("payout.completed", &provider.reference_of(id)).accepted_by(servers.last().unwrap());
    assert_eq!(guest.wallet(), ("15.00".into(), "0.00".into()));
    // A shutdown waits for work in progress and leaves nothing behind.
    for mut server in servers {
        server.signal("TERM");
        assert!(server.ended().success(), "{}", server.log());
    }
    database.verify();
}
