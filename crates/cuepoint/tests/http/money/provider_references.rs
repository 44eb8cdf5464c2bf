//! Provider references of top-ups and withdrawals: their place in orders, and the messages that settle them.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{
    Database, Message, Person, Provider, Reply, Server, Store, TOPUPS, WITHDRAWAL, WITHDRAWAL_FACTS,
    eventually, is_signed, is_stored_for_review, keys, paid, payout_keys,
};

on_one_store!(
    payouts_are_sent_with_their_reference,
    a_message_completes_only_the_payout_with_its_reference,
    a_message_confirms_only_the_topup_with_its_reference,
    old_messages_do_not_affect_rows_with_reused_ids,
);

const UNKNOWN: &str = "0193a5f0-1c2d-7abc-8def-00112233aabb";
const CONTRADICTION: &str = "reason=\"reference_and_id_differ\"";

/// A payout provider that accepts each order and reports later.
fn accepting() -> Provider {
    Provider::new(Reply::Says(202, String::new()))
}

/// The id of a guest's withdrawal, once the provider has its order.
fn ordered(guest: &Person, provider: &Provider) -> i64 {
    let id = guest.withdrawal("5");
    eventually("it is sent", || {
        provider.received().iter().any(|order| order.json()["id"] == id).then_some(())
    });
    eventually("the answer is known", || (status(guest, id) == "processing").then_some(()));
    id
}

fn status(guest: &Person, id: i64) -> Value {
    guest.get(&format!("/withdrawals/{id}")).data(200)["status"].clone()
}

fn topup_status(guest: &Person, id: i64) -> Value {
    guest.get(&format!("/wallet/topups/{id}")).data(200)["topup"]["status"].clone()
}

fn payouts_are_sent_with_their_reference(store: Store) {
    let provider = accepting();
    let (server, operator) = Server::with_operator(store, &payout_keys(&provider, "5"));
    let guest = server.payer("200");
    let id = ordered(&guest, &provider);
    let [order] = provider.received().try_into().unwrap();
    let reference = order.json()["reference"].as_str().unwrap().to_owned();
    is_signed(&order, &reference);
    let groups: Vec<usize> = reference.split('-').map(str::len).collect();
    assert_eq!((groups.as_slice(), reference.as_bytes()[14]), (&[8, 4, 4, 4, 12][..], b'7'), "{reference}");
    assert_eq!(reference, reference.to_lowercase());

    let listed = operator.get("/operator/withdrawals").data(200)["data"][0].clone();
    assert_eq!((&listed["id"], &listed["reference"]), (&json!(id), &json!(reference)));
    let reviewed = operator
        .post(&format!("/operator/withdrawals/{id}/review"), &json!({"reason": "as agreed"}))
        .data(200);
    assert_eq!(reviewed["reference"], reference);
    let both = [&WITHDRAWAL[..], &["amount_currency", "approvals", "reference", "status", "txid"]].concat();
    let sorted = |mut names: Vec<&str>| {
        names.sort_unstable();
        names.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(keys(&listed), sorted([&both[..], &WITHDRAWAL_FACTS].concat()));
    assert_eq!(keys(&reviewed), sorted(both));

    let own = sorted([&WITHDRAWAL[..], &["amount_currency", "status", "txid", "waiting_for"]].concat());
    assert_eq!(keys(&guest.get(&format!("/withdrawals/{id}")).data(200)), own);
    assert_eq!(keys(&guest.get("/withdrawals").data(200)["data"][0]), own);
}

/// The messages that settle nothing, each with its expected status: 200 for a contradiction. `one` and
/// `other` are the ids of two open rows, each with its reference.
fn unsettling(one: (i64, &str), other: (i64, &str)) -> Vec<(Value, u16)> {
    let ((id, reference), (other_id, other_reference)) = (one, other);
    let mut messages = vec![
        (json!({}), 422),
        (json!({"reference": null}), 422),
        (json!({"id": id}), 422),
        (json!({"id": id, "reference": null}), 422),
        (json!({"id": id, "reference": ""}), 422),
        (json!({"reference": id.to_string()}), 404),
        (json!({"reference": id.to_string(), "id": id}), 404),
        (json!({"reference": UNKNOWN}), 404),
        (json!({"reference": UNKNOWN, "id": id}), 404),
        (json!({"reference": "999999"}), 404),
        (json!({"id": 999_999}), 404),
        (json!({"reference": reference, "id": other_id}), 200),
        (json!({"reference": other_reference, "id": id}), 200),
        (json!({"reference": reference, "id": 0}), 200),
    ];
    let malformed = [json!(id), json!("x"), json!("0"), json!("-1"), json!(reference.replace('-', ""))];
    messages.extend(malformed.map(|malformed| (json!({"reference": malformed, "id": id}), 422)));
    messages
}

fn a_message_completes_only_the_payout_with_its_reference(store: Store) {
    let provider = accepting();
    let server = Server::configured(store, &payout_keys(&provider, "5"));
    let guest = server.payer("20");
    let [one, other, third] = [(), (), ()].map(|()| ordered(&guest, &provider));
    let [reference, second, last] = [one, other, third].map(|id| provider.reference_of(id));
    for (data, answered) in unsettling((one, &reference), (other, &second)) {
        let answer = Message::about_payout("payout.completed", data.clone()).send(&server);
        match answered {
            422 => drop(answer.invalid(&["reference"])),
            404 => drop(answer.refused(404, "not_found")),
            _ => is_stored_for_review(&answer),
        }
        assert_eq!((status(&guest, one), status(&guest, other)), (json!("processing"), json!("processing")));
    }
    eventually("an operator is told to look", || server.log().contains(CONTRADICTION).then_some(()));
    Message::payout("payout.completed", &reference).accepted_by(&server);
    Message::about_payout("payout.completed", json!({"reference": second, "id": other})).accepted_by(&server);
    Message::payout("payout.failed", &last.to_uppercase()).accepted_by(&server);
    assert_eq!(
        [one, other, third].map(|id| status(&guest, id)),
        [json!("completed"), json!("completed"), json!("failed")]
    );
    assert_eq!(guest.wallet(), ("10.00".into(), "0.00".into()));
}

fn a_message_confirms_only_the_topup_with_its_reference(store: Store) {
    let server = Server::configured(store, &TOPUPS);
    let guest = server.guest();
    let [one, other, third] = ["5", "6", "7"].map(|amount| guest.topup(amount));
    let [reference, second, last] = [one, other, third].map(|id| guest.topup_reference(id));
    for (data, answered) in unsettling((one, &reference), (other, &second)) {
        let answer = Message::about_topup("topup.confirmed", paid("5", data.clone())).send(&server);
        match answered {
            422 => drop(answer.invalid(&["reference"])),
            404 => drop(answer.refused(404, "not_found")),
            _ => is_stored_for_review(&answer),
        }
        assert_eq!(guest.wallet().0, "0.00", "{data}");
    }
    eventually("an operator is told to look", || server.log().contains(CONTRADICTION).then_some(()));
    Message::topup("topup.confirmed", &reference).accepted_by(&server);
    let both = json!({"reference": second, "id": other});
    Message::about_topup("topup.confirmed", paid("6", both)).accepted_by(&server);
    Message::topup("topup.failed", &last).accepted_by(&server);
    assert_eq!(guest.wallet().0, "11.00");
    assert_eq!(topup_status(&guest, third), "failed");
}

/// A server on an empty store stands for one whose database was restored from a backup of its first day: ids
/// start over.
///
/// Attack API10: a message about an id that was assigned again after a restore.
fn old_messages_do_not_affect_rows_with_reused_ids(store: Store) {
    let provider = accepting();
    let configured = || Server::configured(store, &[&payout_keys(&provider, "5"), &TOPUPS[..]].concat());
    let funded = |server: &Server| {
        let guest = server.guest();
        let topup = guest.topup("20");
        let reference = guest.topup_reference(topup);
        (guest, topup, reference)
    };
    let before = configured();
    let (bob, topup, old_topup) = funded(&before);
    Message::topup_of("20", "topup.confirmed", &old_topup).accepted_by(&before);
    let payout = ordered(&bob, &provider);
    let old_payout = provider.reference_of(payout);
    drop(before);

    let restored = configured();
    let (carol, same_topup, new_topup) = funded(&restored);
    assert_eq!(same_topup, topup);
    Message::topup("topup.confirmed", &old_topup).send(&restored).refused(404, "not_found");
    Message::about_topup("topup.confirmed", json!({"reference": old_topup, "id": topup}))
        .send(&restored)
        .refused(404, "not_found");
    Message::about_topup("topup.confirmed", json!({"id": topup})).send(&restored).invalid(&["reference"]);
    assert_eq!(carol.wallet(), ("0.00".into(), "0.00".into()));
    Message::topup_of("20", "topup.confirmed", &new_topup).accepted_by(&restored);

    let orders = provider.received().len();
    let same_payout = carol.withdrawal("5");
    assert_eq!(same_payout, payout);
    eventually("it is sent", || (provider.received().len() > orders).then_some(()));
    assert_ne!(provider.received()[orders].headers["idempotency-key"], old_payout);
    eventually("the answer is known", || (status(&carol, payout) == "processing").then_some(()));
    Message::payout("payout.completed", &old_payout).send(&restored).refused(404, "not_found");
    Message::about_payout("payout.completed", json!({"id": payout})).send(&restored).invalid(&["reference"]);
    assert_eq!(
        (status(&carol, payout), carol.wallet()),
        (json!("processing"), ("15.00".into(), "5.00".into()))
    );
}

/// Removes the references from a database: its rows and receipts are then as written before references
/// existed.
const AS_BEFORE: &str = "
    UPDATE withdrawals SET reference = NULL;
    UPDATE topups SET reference = NULL, attempts = NULL, order_at = NULL;
    UPDATE operations SET receipt = receipt #- '{withdrawal,withdrawal,reference}' #- '{topup,reference}'
        #- '{topup,attempts}' #- '{topup,order_at}';";

#[test]
fn a_payout_in_flight_during_an_upgrade_is_resent_unchanged() {
    let database = Arc::new(Database::postgres());
    let provider = Provider::new(Reply::HangsUp);
    let keys = payout_keys(&provider, "1000");
    let mut before = Server::on(&database, &keys);
    let guest = before.payer("20");
    let id = guest.withdrawal("5");
    eventually("it is sent", || (!provider.received().is_empty()).then_some(()));
    before.signal("KILL");
    before.ended();
    let due =
        "UPDATE withdrawals SET attempts = 1, retry_at = now() WHERE status = 'processing' RETURNING id";
    assert_eq!(database.rows(due), [[Some(id.to_string())]]);
    database.rows(AS_BEFORE);

    let unanswered = provider.received().len();
    let server = Server::on(&database, &keys);
    let guest = guest.at(&server.client());
    eventually("it is sent again", || (provider.received().len() > unanswered).then_some(()));
    let again = provider.received()[unanswered].clone();
    is_signed(&again, &id.to_string());
    assert_eq!(
        again.body,
        format!(
            r#"{{"id":{id},"amount":5.00,"amount_currency":"USD","wallet_address":"bc1q","currency":"BTC","network":"bitcoin"}}"#
        )
    );
    Message::about_payout("payout.broadcast", json!({"id": id})).accepted_by(&server);
    assert_eq!(status(&guest, id), "broadcast");
    Message::payout("payout.completed", &id.to_string()).accepted_by(&server);
    assert_eq!((status(&guest, id), guest.wallet()), (json!("completed"), ("15.00".into(), "0.00".into())));
    provider.answers(Reply::Says(202, String::new()));
    let new = ordered(&guest, &provider);
    let order = provider.received().pop().unwrap();
    is_signed(&order, order.json()["reference"].as_str().unwrap());
    assert_ne!(order.json()["reference"], new.to_string());
    database.verify();
}

#[test]
fn a_topup_pending_during_an_upgrade_is_confirmed_by_id() {
    let database = Arc::new(Database::postgres());
    let server = Server::on(&database, &TOPUPS);
    let guest = server.guest();
    let [by_id, by_reference, wrong] = ["5", "6", "7"].map(|amount| guest.topup(amount));
    database.rows(AS_BEFORE);
    assert_eq!(guest.topup_reference(by_id), by_id.to_string());
    Message::about_topup("topup.confirmed", json!({"id": by_id})).accepted_by(&server);
    // The earlier version did not ask providers to report the paid amount.
    let by_reference = json!({"reference": by_reference.to_string()});
    Message::about_topup("topup.confirmed", by_reference).accepted_by(&server);
    let mismatch = json!({"reference": wrong.to_string(), "id": by_id});
    Message::about_topup("topup.confirmed", mismatch).contradicts(&server);
    assert_eq!((guest.wallet().0.as_str(), topup_status(&guest, wrong)), ("11.00", json!("pending")));
    database.verify();
}
