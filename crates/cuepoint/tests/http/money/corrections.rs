//! Operators' changes to the money of requests and wallets: refunds and adjustments.

use serde_json::json;

use crate::harness::{Answer, Person, Server, Store, keys, line};

on_one_store!(
    a_refund_returns_the_whole_fee,
    a_pending_request_cannot_be_refunded,
    an_adjustment_credits_or_debits_a_balance,
    a_debit_cannot_exceed_the_available_balance,
    an_invalid_adjustment_is_refused,
    an_adjustment_or_refund_with_an_idempotency_key_is_applied_once,
);

fn refund(operator: &Person, request: i64) -> Answer {
    let path = format!("/operator/music/requests/{request}/refund");
    operator.post(&path, &json!({"reason": "another song was played"}))
}

fn adjust(operator: &Person, user: i64, amount: &str) -> Answer {
    let body = format!(r#"{{"user_id": {user}, "amount": {amount}, "reason": "charged twice"}}"#);
    operator.call("POST", "/operator/adjustments").text(&body).send()
}

/// A played request at 5.00.
fn played(guest: &Person, dj: &Person) -> i64 {
    let request = guest.request_song(dj);
    dj.answer(request, "played").data(200);
    request
}

fn last_line(person: &Person) -> String {
    line(person.entries().last().unwrap())
}

fn a_refund_returns_the_whole_fee(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("fees.commission_bps", "1000")]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let request = played(&guest, &dj);
    let before = (guest.entries(), dj.entries());
    assert_eq!((guest.wallet().0, dj.wallet().0), ("15.00".into(), "4.50".into()));
    let refunded = refund(&operator, request).data(200);
    assert_eq!((&refunded["status"], &refunded["id"]), (&json!("refunded"), &json!(request)));
    for person in [&guest, &dj] {
        assert_eq!(person.get(&format!("/music/requests/{request}")).data(200), refunded);
    }
    assert_eq!(guest.wallet(), ("20.00".into(), "0.00".into()));
    assert_eq!(dj.wallet(), ("0.00".into(), "0.00".into()));
    assert_eq!(last_line(&guest), format!("refund 5.00 20.00 0.00 music_request {request}"));
    assert_eq!(last_line(&dj), format!("refund_taken -4.50 0.00 0.00 music_request {request}"));
    // No existing entry was edited.
    assert_eq!(guest.entries()[..before.0.len()], before.0);
    assert_eq!(dj.entries()[..before.1.len()], before.1);
    assert_eq!(dj.get("/user/personal-info").data(200)["user"]["played"], 1);
    let after = (guest.entries(), dj.entries());
    assert_eq!(refund(&operator, request).data(200), refunded);
    assert_eq!((guest.entries(), dj.entries()), after);
}

fn a_pending_request_cannot_be_refunded(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.payer("50"), server.dj());
    let request = guest.request_song(&dj);
    let before = (guest.snapshot(), dj.snapshot());
    let body = refund(&operator, request).refused(409, "invalid_transition");
    assert_eq!((&body["current"], &body["allowed"]), (&json!("pending"), &json!([])));
    assert_eq!((guest.snapshot(), dj.snapshot()), before);
}

fn an_adjustment_credits_or_debits_a_balance(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.payer("20");
    for (amount, printed, balance) in [
        ("2.5", "2.50", "22.50"),
        ("-2.50", "-2.50", "20.00"),
        ("-20", "-20.00", "0.00"),
        ("1e0", "1.00", "1.00"),
    ] {
        let answer = adjust(&operator, guest.id, amount);
        let data = answer.data(201);
        assert_eq!(keys(&data), ["adjustment", "new_balance"], "{answer}");
        assert_eq!(keys(&data["adjustment"]), ["amount", "created_at", "id", "reason", "user_id"]);
        assert_eq!(answer.raw("/data/adjustment/amount"), printed);
        assert_eq!(answer.raw("/data/new_balance"), balance);
        let adjustment = &data["adjustment"];
        assert_eq!(
            (&adjustment["user_id"], &adjustment["reason"]),
            (&json!(guest.id), &json!("charged twice"))
        );
        assert_eq!(guest.wallet(), (balance.into(), "0.00".into()));
        let id = &adjustment["id"];
        assert_eq!(last_line(&guest), format!("adjustment {printed} {balance} 0.00 adjustment {id}"));
        assert_eq!(guest.entries().last().unwrap()["created_at"], adjustment["created_at"]);
    }
}

fn a_debit_cannot_exceed_the_available_balance(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.payer("20");
    let before = guest.snapshot();
    let body = adjust(&operator, guest.id, "-20.01").refused(422, "insufficient_funds");
    assert!(body["errors"]["amount"][0].is_string(), "{body}");
    assert_eq!(guest.snapshot(), before);
}

fn an_invalid_adjustment_is_refused(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.payer("20");
    let before = guest.snapshot();
    for amount in ["0", "-1e999999999"] {
        adjust(&operator, guest.id, amount).invalid(&["amount"]);
    }
    for user in [999_999_999, i64::MAX] {
        adjust(&operator, user, "1").invalid(&["user_id"]);
    }
    assert_eq!(guest.snapshot(), before);
}

fn an_adjustment_or_refund_with_an_idempotency_key_is_applied_once(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.payer("20");
    let body = json!({"user_id": guest.id, "amount": -15, "reason": "charged twice"});
    let call = || operator.call("POST", "/operator/adjustments").key("once").json(&body).send();
    let first = call();
    // By now the guest's balance is too small.
    for again in [call(), call()] {
        assert_eq!(again.header("idempotency-replayed"), Some("true"), "{again}");
        assert_eq!((again.status, &again.text), (201, &first.text));
    }
    assert_eq!(guest.wallet().0, "5.00");
    let request = {
        let dj = server.dj();
        played(&guest, &dj)
    };
    let path = format!("/operator/music/requests/{request}/refund");
    let call = || operator.call("POST", &path).key("once").json(&json!({"reason": "wrong song"})).send();
    let first = call();
    assert_eq!(first.data(200)["status"], "refunded");
    let again = call();
    assert_eq!((again.header("idempotency-replayed"), &again.text), (Some("true"), &first.text));
    assert_eq!(guest.wallet().0, "5.00");
}
