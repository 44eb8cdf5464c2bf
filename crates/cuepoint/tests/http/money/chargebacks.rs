//! Charge-backs: an operator or the provider reverses a top-up, and the shortfall is owed.

use serde_json::{Value, json};

use crate::harness::{Answer, Message, PASSWORD, Person, Server, Store, TOPUPS, keys, line, paid};

on_one_store!(
    a_reversal_takes_only_the_amount_of_the_topup,
    a_second_reversal_of_a_topup_changes_nothing,
    only_confirmed_topups_can_be_reversed,
    operators_find_topups_by_user_and_reference,
    repeated_provider_reversals_take_the_money_once,
    a_partial_reversal_is_stored_as_a_contradiction_and_not_posted,
    concurrent_reversals_take_the_money_once,
    erased_users_owe_later_chargebacks,
);

/// Reverses a top-up, as an operator.
pub(crate) fn reverse(operator: &Person, topup: i64) -> Answer {
    operator.post(&format!("/operator/topups/{topup}/chargeback"), &json!({"reason": "a stolen card"}))
}

/// The available, held and owed amounts.
fn purse(person: &Person) -> [String; 3] {
    let answer = person.get("/wallet");
    ["available", "held", "owed"].map(|key| answer.raw(&format!("/data/wallet/{key}")))
}

fn erase(person: &Person) -> Answer {
    person.call("DELETE", "/user").json(&json!({"password": PASSWORD})).send()
}

/// A top-up of 20, confirmed by the provider.
fn confirmed(server: &Server, person: &Person) -> i64 {
    let topup = person.topup("20");
    Message::topup_of("20", "topup.confirmed", &person.topup_reference(topup)).accepted_by(server);
    topup
}

/// A provider's message that this amount of a top-up was taken back.
pub(crate) fn reversal(amount: &str, reference: &str) -> Message<'static> {
    let amount: Value = serde_json::from_str(amount).unwrap();
    Message::about_topup("topup.reversed", json!({"reference": reference, "amount": amount}))
}

/// The reason, top-up and amount of each stored message, newest first.
fn listed(operator: &Person) -> Vec<Value> {
    let page = operator.get("/operator/provider-messages?per_page=100").data(200);
    let shown =
        |message: &Value| json!(["reason_code", "topup_id", "amount"].map(|key| message[key].clone()));
    page["data"].as_array().unwrap().iter().map(shown).collect()
}

fn last_line(person: &Person) -> String {
    line(person.entries().last().unwrap())
}

fn a_reversal_takes_only_the_amount_of_the_topup(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.guest();
    let topup = guest.topup("20");
    guest.topup("5");
    let reversed = reverse(&operator, topup).data(200)["topup"].clone();
    assert_eq!((&reversed["id"], &reversed["status"]), (&json!(topup), &json!("reversed")));
    assert_eq!(reversed["user_id"], guest.id);
    assert_eq!(purse(&guest), ["5.00", "0.00", "0.00"]);
    assert_eq!(last_line(&guest), format!("chargeback -20.00 5.00 0.00 topup {topup}"));
    let shown = guest.get(&format!("/wallet/topups/{topup}")).data(200)["topup"].clone();
    assert_eq!(shown["status"], "reversed");
    assert_eq!(shown["updated_at"], reversed["updated_at"]);
    // The security log names the operator, the user and the reason.
    let events = operator.get(&format!("/operator/security-log?user_id={}&kind=operator_action", guest.id));
    let event = events.data(200)["data"][0].clone();
    let detail = format!("reverse_topup: top-up {topup} confirmed → reversed: a stolen card");
    assert_eq!(event["detail"], detail);
    assert_eq!((&event["actor_id"], &event["user_id"]), (&json!(operator.id), &json!(guest.id)));
    assert!(event["session_id"].is_i64() && event["ip_address"].is_string(), "{event}");
}

fn a_second_reversal_of_a_topup_changes_nothing(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.guest();
    let topup = guest.topup("20");
    let path = format!("/operator/topups/{topup}/chargeback");
    let keyed =
        |reason: &str| operator.call("POST", &path).key("reverse-1").json(&json!({"reason": reason})).send();
    let reversed = keyed("a stolen card").data(200);
    let again = keyed("a stolen card");
    assert_eq!((again.data(200), again.header("idempotency-replayed")), (reversed.clone(), Some("true")));
    keyed("another reason").refused(422, "idempotency_key_reused");
    assert_eq!(reverse(&operator, topup).data(200), reversed, "a second reversal changes nothing");
    assert_eq!((purse(&guest), guest.entries().len()), (["0.00", "0.00", "0.00"].map(String::from), 2));
}

/// Attack API10: a charge-back before the confirmation.
fn only_confirmed_topups_can_be_reversed(store: Store) {
    let (server, operator) = Server::with_operator(store, &TOPUPS);
    let guest = server.guest();
    let topup = guest.topup("20");
    let refused = reverse(&operator, topup).refused(409, "invalid_transition");
    assert_eq!((&refused["current"], &refused["allowed"]), (&json!("pending"), &json!([])));
    // The reversal overtook the confirmation: an operator sees it, and reverses the top-up once it is
    // confirmed.
    let reference = guest.topup_reference(topup);
    reversal("20", &reference).contradicts(&server);
    assert_eq!(listed(&operator), [json!(["status_contradiction", topup, "20"])]);
    Message::topup_of("20", "topup.confirmed", &reference).accepted_by(&server);
    reverse(&operator, topup).data(200);
    assert_eq!((purse(&guest), guest.entries().len()), (["0.00", "0.00", "0.00"].map(String::from), 2));
}

fn operators_find_topups_by_user_and_reference(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, other) = (server.guest(), server.guest());
    let made = [guest.topup("1"), guest.topup("2"), guest.topup("3")];
    let theirs = other.topup("4");
    let find = |query: &str| -> Vec<i64> {
        let page = operator.get(&format!("/operator/topups?{query}")).data(200);
        page["data"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect()
    };
    assert_eq!(find(&format!("user_id={}", guest.id)), [made[2], made[1], made[0]]);
    assert_eq!(find(&format!("user_id={}&per_page=1&page=2", guest.id)), [made[1]]);
    let reference = guest.topup_reference(made[1]);
    assert_eq!(find(&format!("reference={reference}")), [made[1]]);
    assert_eq!(find(&format!("reference={}", reference.to_uppercase())), [made[1]]);
    assert_eq!(find(&format!("reference={reference}&user_id={}", guest.id)), [made[1]]);
    for nothing in [
        format!("reference={reference}&user_id={}", other.id),
        format!("reference={reference}&page=2"),
        format!("reference={theirs}"),
        "reference=00000000-0000-0000-0000-000000000001".to_owned(),
        "reference=9223372036854775807".to_owned(),
        "user_id=999999999".to_owned(),
    ] {
        assert_eq!(find(&nothing), [0; 0], "{nothing}");
    }
    for (query, field) in [
        ("", "user_id"),
        ("?user_id=abc", "user_id"),
        ("?user_id=0", "user_id"),
        ("?reference=abc", "reference"),
        ("?reference=0", "reference"),
        ("?reference=' OR 1=1 --", "reference"),
    ] {
        operator.get(&format!("/operator/topups{}", query.replace(' ', "%20"))).invalid(&[field]);
    }
    operator.get("/operator/topups?user_id=&reference=").invalid(&["reference", "user_id"]);
    let shown = operator.get(&format!("/operator/topups/{theirs}")).data(200)["topup"].clone();
    let fields = [
        "amount",
        "created_at",
        "id",
        "payment_url",
        "reference",
        "status",
        "updated_at",
        "user_id",
        "user_name",
    ];
    assert_eq!(keys(&shown), fields);
    assert_eq!((&shown["user_id"], &shown["amount"]), (&json!(other.id), &json!(4.0)));
    operator.get("/operator/topups/999999999").refused(404, "not_found");
    // Users read their own top-ups by another route, and none by the staff route.
    let path = format!("/operator/topups/{theirs}");
    let refused: Value = other.get(&path).refused(403, "insufficient_scope");
    assert_eq!(refused["errors"], Value::Null);
}

fn repeated_provider_reversals_take_the_money_once(store: Store) {
    let (server, operator) = Server::with_operator(store, &TOPUPS);
    let guest = server.guest();
    let topup = confirmed(&server, &guest);
    let reference = guest.topup_reference(topup);
    guest.withdrawal("15");
    let message = reversal("20.00", &reference);
    for again in [&message, &message, &reversal("20", &reference)] {
        again.accepted_by(&server);
        assert_eq!(purse(&guest), ["0.00", "15.00", "15.00"]);
    }
    assert_eq!(last_line(&guest), format!("chargeback -5.00 0.00 15.00 topup {topup}"));
    assert_eq!(guest.get(&format!("/wallet/topups/{topup}")).data(200)["topup"]["status"], "reversed");
    // The confirmation arrives once more, late, and an operator reverses the top-up that the provider has
    // reversed.
    Message::topup_of("20", "topup.confirmed", &reference).accepted_by(&server);
    assert_eq!(reverse(&operator, topup).data(200)["topup"]["status"], "reversed");
    assert_eq!((guest.entries().len(), listed(&operator)), (3, Vec::new()));
    assert_eq!(purse(&guest), ["0.00", "15.00", "15.00"]);
}

/// Attack API10: a partial charge-back.
fn a_partial_reversal_is_stored_as_a_contradiction_and_not_posted(store: Store) {
    let (server, operator) = Server::with_operator(store, &TOPUPS);
    let guest = server.guest();
    let topup = confirmed(&server, &guest);
    let reference = guest.topup_reference(topup);
    let mut expected = Vec::new();
    for (amount, reason) in [
        ("19.99", "partial_reversal"),
        ("0.01", "partial_reversal"),
        ("20.01", "amount_mismatch"),
        ("0", "amount_mismatch"),
        ("-20", "amount_mismatch"),
        ("19.999", "amount_mismatch"),
    ] {
        reversal(amount, &reference).contradicts(&server);
        expected.insert(0, json!([reason, topup, amount]));
        assert_eq!(listed(&operator), expected);
    }
    for (currency, kept) in [("EUR", 7), ("usd", 7)] {
        let mut data = paid("20", json!({"reference": reference}));
        assert_eq!(purse(&guest), ["20.00", "0.00", "0.00"]);
        data["currency"] = json!(currency);
        let message = Message::about_topup("topup.reversed", data);
        if currency == "EUR" {
            message.contradicts(&server);
        } else {
            message.accepted_by(&server);
        }
        assert_eq!(listed(&operator).len(), kept);
    }
    assert_eq!(purse(&guest), ["0.00", "0.00", "0.00"]);
    // A partial reversal after the full one is a contradiction.
    reversal("5", &reference).contradicts(&server);
    assert_eq!(listed(&operator)[0], json!(["partial_reversal", topup, "5"]));
    for wrong in [json!({}), json!({"amount": null}), json!({"amount": "20"}), json!({"amount": true})] {
        let mut data = json!({"reference": reference});
        data.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        Message::about_topup("topup.reversed", data).send(&server).invalid(&["amount"]);
    }
    assert_eq!((guest.entries().len(), listed(&operator).len()), (2, 8));
}

/// Attack API6: two concurrent reversals of one top-up.
fn concurrent_reversals_take_the_money_once(store: Store) {
    let (server, operator) = Server::with_operator(store, &TOPUPS);
    let guest = server.guest();
    let topup = confirmed(&server, &guest);
    let reference = guest.topup_reference(topup);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let by_provider = || reversal("20", &reference).send(&server).status;
        let by_operator = || reverse(&operator, topup).status;
        let threads: Vec<_> =
            (0..4).flat_map(|_| [scope.spawn(by_provider), scope.spawn(by_operator)]).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses, [204, 200].repeat(4));
    assert_eq!((purse(&guest), guest.entries().len()), (["0.00", "0.00", "0.00"].map(String::from), 2));
    assert_eq!(listed(&operator), [json!(null); 0]);
}

/// Attack API6: an erasure before a charge-back.
fn erased_users_owe_later_chargebacks(store: Store) {
    let (server, operator) = Server::with_operator(store, &TOPUPS);
    let dj = server.dj();
    for by_provider in [true, false] {
        let guest = server.guest();
        let topup = guest.topup("5");
        let reference = guest.topup_reference(topup);
        Message::topup("topup.confirmed", &reference).accepted_by(&server);
        let request = guest.request_song(&dj);
        dj.answer(request, "played").data(200);
        erase(&guest).data(200);
        for _ in 0..2 {
            if by_provider {
                reversal("5", &reference).accepted_by(&server);
            } else {
                reverse(&operator, topup).data(200);
            }
        }
        let shown = operator.get(&format!("/operator/topups/{topup}")).data(200)["topup"].clone();
        assert_eq!(shown["status"], "reversed");
        // An operator writes the debt off: 5 of the 7 were owed.
        let forgive = json!({"user_id": guest.id, "amount": 7, "reason": "written off"});
        let forgiven = operator.post("/operator/adjustments", &forgive);
        forgiven.data(201);
        assert_eq!(forgiven.raw("/data/new_balance"), "2.00");
    }
    assert_eq!((dj.wallet().0, listed(&operator)), ("10.00".to_owned(), Vec::new()));
}
