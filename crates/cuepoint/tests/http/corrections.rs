//! Operators' changes to the money of requests and wallets: refunds and adjustments.

use serde_json::{Value, json};

use crate::harness::{Answer, Person, Server, Store, keys, line};

on_one_store!(
    a_refund_returns_the_whole_fee_in_new_entries,
    only_a_played_request_is_refunded,
    a_refund_beyond_the_djs_balance_is_owed_and_paid_by_income_first,
    a_refund_of_a_free_request_moves_no_money,
    racing_refunds_return_the_fee_once,
    an_adjustment_credits_or_debits_a_balance,
    an_adjustment_takes_no_more_than_is_available,
    an_invalid_adjustment_is_refused,
    an_adjustment_with_a_key_is_made_once,
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

fn a_refund_returns_the_whole_fee_in_new_entries(store: Store) {
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

fn only_a_played_request_is_refunded(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.payer("50"), server.dj());
    for status in ["pending", "accepted", "rejected", "cancelled"] {
        let request = guest.request_song(&dj);
        match status {
            "pending" => (),
            "cancelled" => drop(guest.cancel(request).data(200)),
            status => drop(dj.answer(request, status).data(200)),
        }
        let before = (guest.snapshot(), dj.snapshot());
        let body = refund(&operator, request).refused(409, "invalid_transition");
        assert_eq!((&body["current"], &body["allowed"]), (&json!(status), &json!([])));
        assert_eq!((guest.snapshot(), dj.snapshot()), before);
    }
    let request = played(&guest, &dj);
    operator.post(&format!("/operator/music/requests/{request}/refund"), &json!({})).invalid(&["reason"]);
    refund(&operator, 999_999_999).refused(404, "not_found");
    assert_eq!(dj.wallet().0, "5.00");
}

fn a_refund_beyond_the_djs_balance_is_owed_and_paid_by_income_first(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("fees.commission_bps", "1000")]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let request = played(&guest, &dj);
    dj.withdrawal("4");
    refund(&operator, request).data(200);
    assert_eq!(guest.wallet().0, "20.00");
    assert_eq!(dj.wallet(), ("0.00".into(), "4.00".into()));
    assert_eq!(last_line(&dj), format!("refund_taken -0.50 0.00 4.00 music_request {request}"));
    // Of the 4.00 owed, a top-up pays 2.00 and an operator's adjustment 1.00.
    dj.topup("2");
    adjust(&operator, dj.id, "1").data(201);
    assert_eq!(dj.wallet().0, "0.00");
    // The last 1.00 is paid from the next 4.50, and nothing from the income after it.
    played(&guest, &dj);
    assert_eq!(dj.wallet().0, "3.50");
    played(&guest, &dj);
    assert_eq!(dj.wallet().0, "8.00");
    assert_eq!(guest.wallet().0, "10.00");
}

fn a_refund_of_a_free_request_moves_no_money(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.guest(), server.dj_at("0", "0"));
    let request = played(&guest, &dj);
    assert_eq!(refund(&operator, request).data(200)["status"], "refunded");
    assert_eq!((guest.entries(), dj.entries()), (vec![], vec![]));
}

fn racing_refunds_return_the_fee_once(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let request = played(&guest, &dj);
    std::thread::scope(|scope| {
        let refunds: Vec<_> = (0..8).map(|_| scope.spawn(|| refund(&operator, request))).collect();
        for answer in refunds {
            assert_eq!(answer.join().unwrap().data(200)["status"], "refunded");
        }
    });
    assert_eq!((guest.wallet().0, dj.wallet().0), ("20.00".into(), "0.00".into()));
    assert_eq!((guest.entries().len(), dj.entries().len()), (4, 2));
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

fn an_adjustment_takes_no_more_than_is_available(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.payer("20");
    guest.withdrawal("15");
    let before = guest.snapshot();
    for amount in ["-5.01", "-20", "-1000000000000"] {
        let body = adjust(&operator, guest.id, amount).refused(422, "insufficient_funds");
        assert!(body["errors"]["amount"][0].is_string(), "{body}");
    }
    assert_eq!(guest.snapshot(), before);
    adjust(&operator, guest.id, "-5.00").data(201);
    assert_eq!(guest.wallet(), ("0.00".into(), "15.00".into()));
}

fn an_invalid_adjustment_is_refused(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let guest = server.payer("20");
    let before = guest.snapshot();
    for amount in [
        "0",
        "0.00",
        "-0",
        "0.001",
        "-0.005",
        "\"5\"",
        "null",
        "1e13",
        "-1e13",
        "1e999999999",
        "-1e999999999",
    ] {
        adjust(&operator, guest.id, amount).invalid(&["amount"]);
    }
    for user in [999_999_999, i64::MAX, 0, -1] {
        adjust(&operator, user, "1").invalid(&["user_id"]);
    }
    operator.post("/operator/adjustments", &json!({})).invalid(&["user_id", "amount", "reason"]);
    for reason in [json!(" "), Value::Null, json!("x".repeat(256))] {
        let body = json!({"user_id": guest.id, "amount": 1, "reason": reason});
        operator.post("/operator/adjustments", &body).invalid(&["reason"]);
    }
    assert_eq!(guest.snapshot(), before);
}

fn an_adjustment_with_a_key_is_made_once(store: Store) {
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
