//! Money on the wire: valid and invalid amounts, and that none is ever rounded.

use std::time::{Duration, Instant};

use crate::harness::{Person, Server, Store};

on_every_store!(the_largest_amounts_are_exact_to_the_cent);

on_one_store!(
    valid_amounts_are_accepted,
    invalid_amounts_are_refused,
    entries_of_other_wallets_are_not_found,
    withdrawals_and_requests_cannot_exceed_the_balance,
    fees_are_validated_like_amounts_but_may_be_zero,
    amounts_add_up_without_rounding_errors,
);

/// The body of a withdrawal with this text as its amount.
fn withdrawal(amount: &str) -> String {
    format!(r#"{{"amount": {amount}, "wallet_address": "a", "currency": "BTC", "network": "b"}}"#)
}

/// Sends a body that must be answered at once, however expensive its arithmetic would be.
fn at_once(person: &Person, method: &str, path: &str, body: &str) -> crate::harness::Answer {
    let begin = Instant::now();
    let answer = person.call(method, path).text(body).send();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}: {answer}", begin.elapsed());
    answer
}

fn valid_amounts_are_accepted(store: Store) {
    let server = Server::start(store);
    let guest = server.payer("1000");
    for (text, printed) in [
        ("1", "1.00"),
        ("1.00", "1.00"),
        ("1e0", "1.00"),
        ("1E+0", "1.00"),
        ("10e-1", "1.00"),
        ("1.5", "1.50"),
        ("2.50000", "2.50"),
        ("1.000000000000000000000000000000000000", "1.00"),
    ] {
        let answer = at_once(&guest, "POST", "/withdrawal/crypto", &withdrawal(text));
        assert_eq!(answer.status, 201, "{answer}");
        assert_eq!(answer.raw("/data/withdrawal_request/amount"), printed, "{text}");
        let answer = at_once(&guest, "POST", "/wallet/topups", &format!(r#"{{"amount": {text}}}"#));
        answer.data(201);
        assert_eq!(answer.raw("/data/topup/amount"), printed, "{text}");
    }
}

/// Texts that are no amount in any field.
const NONE: &[&str] = &[
    "0.999999999999999999999",
    "\"5\"",
    "\"1e999999999\"",
    "1.005",
    "1e-3",
    "-0",
    "-0.00",
    "-0e5",
    "-1",
    "1e21",
    "1e400",
    "1e999999999",
    "1e-999999999",
    "-1e999999999",
    "1e99999999999999999999999999",
    "null",
    "true",
    "[5]",
    "{\"$serde_json::private::Number\": \"5\"}",
    "123456789012345678901234567890123456789",
    "1.00000000000000000000000000000000000000",
    "1000000000000.01",
    "1e13",
];

fn invalid_amounts_are_refused(store: Store) {
    let server = Server::start(store);
    let guest = server.payer("1000");
    let before = guest.snapshot();
    let long = "9".repeat(60_000);
    for text in NONE.iter().copied().chain([long.as_str()]) {
        at_once(&guest, "POST", "/withdrawal/crypto", &withdrawal(text)).invalid(&["amount"]);
        at_once(&guest, "POST", "/wallet/topups", &format!(r#"{{"amount": {text}}}"#)).invalid(&["amount"]);
    }
    at_once(&guest, "POST", "/wallet/topups", "{}").invalid(&["amount"]);
    at_once(&guest, "POST", "/wallet/topups", r#"{"amount": 0}"#).invalid(&["amount"]);
    let twice = r#"{"amount": 5, "amount": 5, "wallet_address": "a", "currency": "BTC", "network": "b"}"#;
    for (path, body) in [
        ("/withdrawal/crypto", twice),
        ("/wallet/topups", r#"{"amount": 5, "amount": 5}"#),
        ("/wallet/topups", r#"{"amount": 5, "\u0061mount": 5}"#),
        ("/wallet/topups", r#"{"amount": 01}"#),
        ("/wallet/topups", r#"{"amount": +1}"#),
        ("/wallet/topups", r#"{"amount": .5}"#),
        ("/wallet/topups", r#"{"amount": NaN}"#),
    ] {
        at_once(&guest, "POST", path, body).refused(400, "malformed_json");
    }
    assert_eq!(guest.snapshot(), before);
}

fn amounts_add_up_without_rounding_errors(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    for _ in 0..3 {
        guest.topup("0.1");
    }
    assert_eq!(guest.get("/wallet").raw("/data/wallet/available"), "0.30");
    assert_eq!(guest.get("/user/personal-info").raw("/data/user/wallet_balance"), "0.30");
    let entries = guest.get("/wallet/entries");
    assert_eq!(entries.raw("/data/data/0/available_after"), "0.30");
    assert_eq!(entries.raw("/data/data/0/held_after"), "0.00");
    assert_eq!(entries.raw("/data/data/0/amount"), "0.10");
    assert_eq!(guest.get("/wallet/topups").raw("/data/data/2/amount"), "0.10");
}

fn entries_of_other_wallets_are_not_found(store: Store) {
    let server = Server::start(store);
    let (guest, other) = (server.guest(), server.guest());
    guest.topup("5");
    guest.topup("7");
    other.topup("1");
    let listed = guest.get("/wallet/entries").data(200);
    for (id, place) in [(2, 0), (1, 1)] {
        assert_eq!(guest.get(&format!("/wallet/entries/{id}")).data(200)["entry"], listed["data"][place]);
    }
    other.get("/wallet/entries/2").refused(404, "not_found");
    for id in ["0", "3", "-1", "01", "1.0", "x", "9223372036854775808"] {
        guest.get(&format!("/wallet/entries/{id}")).refused(404, "not_found");
    }
}

fn the_largest_amounts_are_exact_to_the_cent(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    guest.topup("1000000000000");
    guest.topup("1000000000000");
    guest.topup("0.01");
    assert_eq!(guest.wallet().0, "2000000000000.01");
    let answer = guest.withdraw("999999999999.99");
    assert_eq!(answer.raw("/data/withdrawal_request/amount"), "999999999999.99");
    assert_eq!(answer.raw("/data/new_balance"), "1000000000000.02");
    assert_eq!(guest.wallet(), ("1000000000000.02".into(), "999999999999.99".into()));
    assert_eq!(guest.get("/withdrawals").raw("/data/data/0/amount"), "999999999999.99");
    assert_eq!(guest.get("/wallet/entries").raw("/data/data/0/amount"), "-999999999999.99");
}

fn withdrawals_and_requests_cannot_exceed_the_balance(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("4.99"), server.dj());
    let before = guest.snapshot();
    for amount in ["5", "4.991e0", "1000000000000"] {
        let answer = guest.withdraw(amount);
        if amount.contains('e') {
            answer.invalid(&["amount"]);
        } else {
            let body = answer.refused(422, "insufficient_funds");
            assert!(body["errors"]["amount"][0].is_string(), "{answer}");
        }
    }
    let answer = guest.post("/music/requests", &crate::harness::song(dj.id));
    answer.refused(422, "insufficient_funds");
    assert_eq!(guest.snapshot(), before);
    assert_eq!(guest.withdraw("4.99").raw("/data/new_balance"), "0.00");
}

fn fees_are_validated_like_amounts_but_may_be_zero(store: Store) {
    let server = Server::start(store);
    let (dj, guest) = (server.dj(), server.payer("100"));
    for field in ["fee_upcoming_artist", "fee_popular_song"] {
        for text in NONE {
            at_once(&dj, "PATCH", "/user/personal-info", &format!(r#"{{"{field}": {text}}}"#))
                .invalid(&[field]);
        }
        let answer = at_once(&dj, "PATCH", "/user/personal-info", &format!(r#"{{"{field}": 2e0}}"#));
        assert_eq!(answer.raw(&format!("/data/user/{field}")), "2.00");
        let answer = at_once(&dj, "PATCH", "/user/personal-info", &format!(r#"{{"{field}": 0}}"#));
        assert_eq!(answer.raw(&format!("/data/user/{field}")), "0.00");
    }
    let body = crate::harness::song(dj.id).to_string();
    let body = body.strip_suffix('}').unwrap();
    for text in NONE.iter().filter(|text| **text != "null") {
        at_once(&guest, "POST", "/music/requests", &format!(r#"{body}, "fee": {text}}}"#)).invalid(&["fee"]);
    }
    let answer = at_once(&guest, "POST", "/music/requests", &format!(r#"{body}, "fee": 2.5e0}}"#));
    answer.data(201);
    assert_eq!(answer.raw("/data/fee"), "2.50");
}
