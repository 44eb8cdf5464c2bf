//! Withdrawal destinations: the strict and lenient address policies, and the listed options.

use serde_json::{Value, json};

use crate::harness::{Answer, Browser, PASSWORD, Person, Server, Store, field, keys, leads_to};

on_one_store!(
    a_strict_policy_stores_destinations_in_canonical_form,
    a_refusal_by_the_strict_address_policy_names_the_invalid_field,
    fields_are_validated_before_limits_and_funds,
    a_refused_address_does_not_consume_the_idempotency_key,
    the_configured_withdrawal_options_are_shown,
    pages_validate_addresses_whatever_the_policy_of_the_api_is,
);

const STRICT: (&str, &str) = ("withdrawals.address_policy", "strict");
const SATOSHI: &str = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa";
const ADA: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const TETHER: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";

fn body(currency: &str, network: &str, address: &str) -> Value {
    json!({"amount": 10, "currency": currency, "network": network, "wallet_address": address})
}

fn withdraw(person: &Person, currency: &str, network: &str, address: &str) -> Answer {
    person.post("/withdrawal/crypto", &body(currency, network, address))
}

/// The destination of a withdrawal, as shown.
fn destination(withdrawal: &Value) -> [&str; 3] {
    ["currency", "network", "wallet_address"].map(|key| withdrawal[key].as_str().unwrap())
}

fn a_strict_policy_stores_destinations_in_canonical_form(store: Store) {
    let server = Server::configured(store, &[STRICT]);
    let guest = server.payer("1000");
    for (given, kept) in [
        (["BTC", "bitcoin", SATOSHI], ["BTC", "bitcoin", SATOSHI]),
        (
            ["btc", " Bitcoin ", " BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4 "],
            ["BTC", "bitcoin", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"],
        ),
        (["Eth", "BASE", "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"], ["ETH", "base", ADA]),
        (["usdt", "tron", TETHER], ["USDT", "tron", TETHER]),
        (
            ["TON", "ton", "0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8"],
            ["TON", "ton", "UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI"],
        ),
    ] {
        let answer = withdraw(&guest, given[0], given[1], given[2]);
        assert_eq!(answer.status, 201, "{answer}");
        let data = &answer.json()["data"];
        let made = &data["withdrawal_request"];
        assert_eq!(destination(made), kept, "{answer}");
        let shown = guest.get(&format!("/withdrawals/{}", made["id"])).data(200);
        assert_eq!(destination(&shown), kept, "{shown}");
    }
}

fn a_refusal_by_the_strict_address_policy_names_the_invalid_field(store: Store) {
    let server = Server::configured(store, &[STRICT]);
    let guest = server.payer("1000");
    let before = guest.snapshot();
    let format = "The wallet address field format is invalid.";
    let other = "The wallet address belongs to another network.";
    let test = "The wallet address belongs to a test network.";
    let keyless = "Nobody has the key of this address; the money would be lost.";
    let anybody = "Anybody can spend from this address; the money would be lost.";
    let off_curve = "bc1pam775nxmvam4pfpqlm5q06k0y84e3x9w0xuhdpmxuna2qj3dfg6qnzh0s2";
    let derived = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
    for (currency, network, address, field, sentence) in [
        ("EUR", "sepa", "anything", "currency", "The selected currency is invalid."),
        ("BTC", "moon", SATOSHI, "network", "The selected network is invalid."),
        ("BTC", "tron", TETHER, "network", "The selected network is invalid."),
        ("USDT", "bitcoin", SATOSHI, "network", "The selected network is invalid."),
        ("BTC", "bitcoin", "bc1q", "wallet_address", format),
        ("BTC", "bitcoin", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", "wallet_address", format),
        ("BTC", "bitcoin", "1A1zP1eP5QGefi2DMP TfTL5SLmv7DivfNa", "wallet_address", format),
        ("ETH", "ethereum", "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "wallet_address", format),
        ("BTC", "bitcoin", ADA, "wallet_address", other),
        ("USDT", "tron", ADA, "wallet_address", other),
        ("USDT", "ethereum", TETHER, "wallet_address", other),
        ("LTC", "litecoin", "34xp4vRoCGJym3xR7yCVPFHoCNxv4Twseo", "wallet_address", other),
        ("BTC", "bitcoin", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn", "wallet_address", test),
        ("XRP", "xrp", "T719a5UwUCnEs54UsxG9CJYYDhwmFCqkr7wxCcNcfZ6p5GZ", "wallet_address", test),
        ("ETH", "base", "0x0000000000000000000000000000000000000000", "wallet_address", keyless),
        ("SOL", "solana", "11111111111111111111111111111111", "wallet_address", keyless),
        ("BTC", "bitcoin", off_curve, "wallet_address", keyless),
        ("SOL", "solana", derived, "wallet_address", keyless),
        ("BTC", "bitcoin", "BC1SW50QGDZ25J", "wallet_address", anybody),
    ] {
        let answer = withdraw(&guest, currency, network, address);
        assert_eq!(answer.invalid(&[field])[field], json!([sentence]), "{answer}");
    }
    assert_eq!(guest.snapshot(), before);
}

fn fields_are_validated_before_limits_and_funds(store: Store) {
    let server = Server::configured(store, &[STRICT, ("withdrawals.max_amount", "5")]);
    let guest = server.guest();
    withdraw(&guest, "BTC", "bitcoin", "bc1q").invalid(&["wallet_address"]);
    withdraw(&guest, "BTC", "bitcoin", SATOSHI).refused(422, "limit_exceeded");
    let missing = json!({"amount": 0, "currency": "EUR", "network": "moon"});
    guest.post("/withdrawal/crypto", &missing).invalid(&["amount", "wallet_address"]);
}

fn a_refused_address_does_not_consume_the_idempotency_key(store: Store) {
    let server = Server::configured(store, &[STRICT]);
    let guest = server.payer("10");
    let send = |address| {
        guest.call("POST", "/withdrawal/crypto").key("k").json(&body("BTC", "bitcoin", address)).send()
    };
    send("bc1q").invalid(&["wallet_address"]);
    let first = send(SATOSHI);
    assert_eq!((first.status, first.header("idempotency-replayed")), (201, None), "{first}");
    let again = send(SATOSHI);
    assert_eq!((again.status, again.header("idempotency-replayed")), (201, Some("true")), "{again}");
    assert_eq!(first.text, again.text);
    assert_eq!(guest.wallet(), ("0.00".into(), "10.00".into()));
}

fn the_configured_withdrawal_options_are_shown(store: Store) {
    let table = ("withdrawals.options", "btc: Bitcoin, USDT: TRON ethereum");
    let server = Server::configured(store, &[STRICT, table]);
    let guest = server.payer("100");
    assert_eq!(
        guest.get("/withdrawals/options").data(200),
        json!({
            "address_policy": "strict",
            "options": [
                {"currency": "BTC", "networks": ["bitcoin"]},
                {"currency": "USDT", "networks": ["tron", "ethereum"]},
            ],
        })
    );
    withdraw(&guest, "ETH", "ethereum", ADA).invalid(&["currency"]);
    assert_eq!(withdraw(&guest, "USDT", "ethereum", ADA).status, 201);

    let data = Server::start(store).guest().get("/withdrawals/options").data(200);
    assert_eq!(
        (keys(&data), &data["address_policy"]),
        (vec!["address_policy", "options"], &json!("lenient"))
    );
    assert!(data["options"].as_array().is_some_and(|rows| rows.len() > 10), "{data}");
}

/// Attack API6: confirming a payout to an address that the form of the payout refused.
fn pages_validate_addresses_whatever_the_policy_of_the_api_is(store: Store) {
    let wrong = "this is not an address";
    for policy in ["lenient", "strict"] {
        let server = Server::configured(store, &[("withdrawals.address_policy", policy)]);
        let guest = server.payer("100");
        let browser = Browser::logged_in(&server.client(), &guest);
        let wallet = browser.get("/wallet");
        assert!(wallet.text.contains("<option value=\"BTC/bitcoin\""), "{policy}: {wallet}");
        assert!(!wallet.text.contains("name=\"currency\""), "{policy}: {wallet}");
        let form = |path: &str, payout: &str, address: &str, key: &str| {
            let fields = [("amount", "10"), ("payout", payout), ("wallet_address", address)];
            browser.post(path, &[&fields[..], &[("key", key), ("password", PASSWORD)]].concat())
        };
        let forged = "0123456789012345678901";
        for path in ["/wallet/payout", "/wallet/payout/confirm"] {
            for (payout, address, refused) in [
                ("BTC/bitcoin", wrong, "wallet_address-error"),
                ("ETH/ethereum", SATOSHI, "wallet_address-error"),
                ("EUR/sepa", SATOSHI, "payout-error"),
                ("BTC/tron", SATOSHI, "payout-error"),
                ("BTC", SATOSHI, "payout-error"),
                ("", SATOSHI, "payout-error"),
            ] {
                let answer = form(path, payout, address, forged);
                assert_eq!(answer.status, 422, "{policy}: {answer}");
                assert!(answer.text.contains(refused), "{policy}, {payout}: {answer}");
                assert!(!answer.text.contains("action=\"/wallet/payout/confirm\""), "{answer}");
            }
        }
        assert_eq!(guest.wallet(), ("100.00".to_owned(), "0.00".to_owned()), "{policy}");

        let check = form("/wallet/payout", "BTC/bitcoin", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "");
        let [payout, address, key] = ["payout", "wallet_address", "key"].map(|name| field(&check, name));
        assert_eq!((check.status, payout.as_str()), (200, "BTC/bitcoin"), "{check}");
        assert_eq!(address, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4");
        leads_to(&form("/wallet/payout/confirm", &payout, &address, &key));
        let listed = guest.get("/withdrawals").data(200)["data"][0].clone();
        assert_eq!(destination(&listed), ["BTC", "bitcoin", address.as_str()]);

        let sent = withdraw(&guest, "BTC", "bitcoin", wrong).status;
        assert_eq!(sent, if policy == "lenient" { 201 } else { 422 }, "a program decides itself");
    }
}
