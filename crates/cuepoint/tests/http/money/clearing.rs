//! Clearing: money of a stolen card cannot leave as a withdrawal before the charge-back.

use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use crate::accounts::verifications::{code, verify};
use crate::harness::{Message, Person, Server, Store, TOPUPS, song};
use crate::money::chargebacks::{reversal, reverse};

on_one_store!(
    a_withdrawal_can_require_a_verified_email_address,
    without_a_clearing_time_nothing_is_clearing,
    a_guest_in_debt_cannot_make_a_request_with_a_fee,
    a_topup_below_the_minimum_is_refused,
    money_of_a_stolen_card_cannot_be_withdrawn_before_the_chargeback,
);

const CLEARING: [(&str, &str); 1] = [("withdrawals.clearing_hours", "72")];
const TOO_RECENT: &str = "No more than 0.00 can be withdrawn now. The rest of the balance is too recent.";

/// The available and the clearing amount, and the time at which it is cleared.
fn with_clearing(person: &Person) -> (String, String, Value) {
    let answer = person.get("/wallet");
    let amount = |key| answer.raw(&format!("/data/wallet/{key}"));
    (amount("available"), amount("clearing"), answer.data(200)["wallet"]["clears_at"].clone())
}

/// The message of the error of `amount` in a refused withdrawal.
fn refused(person: &Person, amount: &str) -> String {
    let body = person.withdraw(amount).refused(422, "limit_exceeded");
    body["errors"]["amount"][0].as_str().unwrap().to_owned()
}

/// Attack API6: paying an accomplice's fee with a stolen card, and withdrawing it before the charge-back.
fn money_of_a_stolen_card_cannot_be_withdrawn_before_the_chargeback(store: Store) {
    let server = Server::configured(store, &[&TOPUPS[..], &CLEARING].concat());
    let (guest, dj) = (server.guest(), server.dj_at("20", "20"));
    let topup = guest.topup("30");
    let reference = guest.topup_reference(topup);
    Message::topup_of("30", "topup.confirmed", &reference).accepted_by(&server);
    assert_eq!(refused(&guest, "10"), TOO_RECENT);
    dj.answer(guest.request_song(&dj), "played").data(200);
    let (available, clearing, until) = with_clearing(&dj);
    assert_eq!((available.as_str(), clearing.as_str()), ("20.00", "20.00"));
    let played = dj.get("/wallet/entries").data(200)["data"][0]["created_at"].clone();
    let time = |text: &Value| OffsetDateTime::parse(text.as_str().unwrap(), &Rfc3339).unwrap();
    assert_eq!(time(&until), time(&played) + Duration::hours(72));
    assert_eq!(refused(&dj, "20"), TOO_RECENT);
    dj.withdraw("20.01").refused(422, "insufficient_funds");
    // Before the income, nothing was clearing.
    let before = dj.get("/wallet?at=2020-01-01T00:00:00Z");
    assert_eq!(
        (before.raw("/data/wallet/clearing"), &before.data(200)["wallet"]["clears_at"]),
        ("0.00".to_owned(), &Value::Null)
    );
    reversal("30", &reference).accepted_by(&server);
    assert_eq!(guest.get("/wallet").raw("/data/wallet/owed"), "20.00");
    assert_eq!(refused(&dj, "1"), TOO_RECENT);
}

fn a_withdrawal_can_require_a_verified_email_address(store: Store) {
    let server = Server::configured(store, &[("withdrawals.verified_email", "true")]);
    let guest = server.guest();
    guest.topup("20");
    guest.withdraw("5").refused(403, "email_unverified");
    verify(&guest, "email", &code(&server, &guest, "email", 0)).data(200);
    assert_eq!(guest.withdraw("5").status, 201);
}

fn without_a_clearing_time_nothing_is_clearing(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    guest.topup("20");
    assert_eq!(with_clearing(&guest), ("20.00".to_owned(), "0.00".to_owned(), Value::Null));
    assert_eq!(guest.withdraw("20").status, 201);
}

fn a_guest_in_debt_cannot_make_a_request_with_a_fee(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj, free) = (server.guest(), server.dj_at("20", "20"), server.dj_at("0", "0"));
    let topup = guest.topup("20");
    dj.answer(guest.request_song(&dj), "played").data(200);
    reverse(&operator, topup).data(200);
    let refused = guest.post("/music/requests", &song(dj.id));
    refused.refused(409, "wallet_owes");
    assert_eq!(refused.raw("/owed"), "20.00");
    guest.request_song(&free);
}

fn a_topup_below_the_minimum_is_refused(store: Store) {
    let server = Server::configured(store, &[("topups.min_amount", "2.50")]);
    let guest = server.guest();
    let refused = guest.post("/wallet/topups", &json!({"amount": 2.49})).invalid(&["amount"]);
    assert_eq!(refused["amount"][0], "The amount field must be at least 2.50.");
    guest.topup("2.50");
    let settings = server.client().outside("GET", "/api/v1/settings").send();
    assert_eq!(settings.raw("/data/settings/amounts/topup/minimum"), "2.50");
}
