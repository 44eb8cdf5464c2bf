//! Tips of guests to DJs.

use serde_json::{Value, json};

use crate::harness::gig_scene::{end, open, queue, title};
use crate::harness::{Answer, Message, Person, Server, Store, TOPUPS, at_once, line};
use crate::money::chargebacks::{reversal, reverse};

on_one_store!(
    a_repeated_tip_with_its_key_moves_the_money_once,
    a_repeated_tip_returns_its_first_response_after_a_new_code_and_a_suspension,
    neither_a_blocked_guest_nor_the_dj_can_give_a_tip,
    a_refused_tip_names_the_reason,
    the_guest_and_the_dj_get_an_event_of_a_tip,
    tips_of_a_stolen_card_cannot_be_withdrawn_before_the_chargeback,
    unknown_codes_count_for_the_guest,
    unknown_codes_of_guest_accounts_count_for_their_address,
    a_guest_tips_the_dj_of_a_gig,
);

fn path(gig: &Value) -> String {
    format!("/boards/{}/tips", gig["code"].as_str().unwrap())
}

/// Tips the DJ of a gig with this amount.
fn tip(guest: &Person, gig: &Value, amount: &str) -> Answer {
    guest.call("POST", &path(gig)).text(&format!(r#"{{"amount": {amount}}}"#)).send()
}

fn available(person: &Person) -> String {
    person.wallet().0
}

fn a_guest_tips_the_dj_of_a_gig(store: Store) {
    let server = Server::configured(store, &[("fees.commission_bps", "1500")]);
    let (guest, dj) = (server.payer("50"), server.dj());
    let gig = open(&dj, &title("Friday"));
    let answer = tip(&guest, &gig, "3.33");
    let data = answer.data(201);
    let given = data["tip"].clone();
    let keys: Vec<&String> = given.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "dj_id", "gig_id", "amount", "created_at"]);
    assert_eq!((&given["dj_id"], &given["gig_id"]), (&json!(dj.id), &gig["id"]));
    assert_eq!(
        (answer.raw("/data/tip/amount"), answer.raw("/data/new_balance")),
        ("3.33".into(), "46.67".into())
    );
    // 15 % of 3.33 are rounded to 0.50.
    assert_eq!((available(&guest), available(&dj)), ("46.67".to_owned(), "2.83".to_owned()));
    let last = |person: &Person| line(person.entries().last().unwrap());
    assert_eq!(last(&guest), format!("tip -3.33 46.67 0.00 tip {}", given["id"]));
    assert_eq!(last(&dj), format!("earning 2.83 2.83 0.00 tip {}", given["id"]));
    let second = tip(&guest, &gig, "1").data(201)["tip"].clone();
    assert_eq!(guest.get("/tips?direction=given").data(200)["data"], json!([second, given]));
    assert_eq!(guest.get("/tips?direction=received").data(200)["data"], json!([]));
    assert_eq!(
        dj.ids("/tips?direction=received", "id"),
        [second["id"].as_i64().unwrap(), given["id"].as_i64().unwrap()]
    );
    assert_eq!(dj.get("/tips?direction=given").data(200)["total"], 0);
    for list in ["/tips", "/tips?direction=lost"] {
        guest.get(list).invalid(&["direction"]);
    }
    assert_eq!(queue(&dj, &gig)["totals"]["tips"], 4.33);
    let report = dj.get(&format!("/gigs/{}/report", gig["id"])).data(200)["report"].clone();
    assert_eq!((&report["tips"], &report["gross"], &report["net"]), (&json!(4.33), &json!(0.0), &json!(0.0)));
    for person in [&guest, &dj] {
        let exported = person.get("/user/export").data(200)["tips"].clone();
        assert_eq!(exported.as_array().unwrap().len(), 2);
        assert_eq!((&exported[1]["guest_id"], &exported[1]["commission"]), (&json!(guest.id), &json!(0.5)));
    }
}

/// Attack API6: repeating a tip, so that it is paid several times.
fn a_repeated_tip_with_its_key_moves_the_money_once(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("50"), server.dj());
    let gig = open(&dj, &title("Friday"));
    let call = || guest.call("POST", &path(&gig)).json(&json!({"amount": 5})).key("k");
    let answers = at_once((0..4).map(|_| call()).collect());
    let first = answers[0].data(201);
    assert!(answers.iter().all(|answer| answer.data(201) == first));
    end(&dj, &gig).data(200);
    let again = call().send();
    assert_eq!((again.data(201), again.header("idempotency-replayed")), (first, Some("true")));
    guest
        .call("POST", &path(&gig))
        .json(&json!({"amount": 6}))
        .key("k")
        .send()
        .refused(422, "idempotency_key_reused");
    assert_eq!((available(&guest), available(&dj)), ("45.00".to_owned(), "5.00".to_owned()));
}

fn a_repeated_tip_returns_its_first_response_after_a_new_code_and_a_suspension(store: Store) {
    let (server, operator) = Server::with_operator(store, &[]);
    let (guest, dj) = (server.payer("50"), server.dj());
    let gig = open(&dj, &title("Friday"));
    let call = |key| guest.call("POST", &path(&gig)).json(&json!({"amount": 5})).key(key).send();
    let first = call("k").data(201);
    let is_repeated = || {
        let again = call("k");
        assert_eq!((again.data(201), again.header("idempotency-replayed")), (first.clone(), Some("true")));
        call("another").refused(404, "not_found");
        assert_eq!(available(&guest), "45.00");
    };
    end(&dj, &gig).data(200);
    open(&dj, &json!({"title": "Saturday", "new_code": 1}));
    is_repeated();
    assert_eq!(available(&dj), "5.00");
    let change = |act: &str| {
        let path = format!("/operator/users/{}/{act}", dj.id);
        operator.post(&path, &json!({"reason": "a complaint"})).data(200);
    };
    change("suspend");
    is_repeated();
    change("restore");
    assert_eq!(available(&server.client().login(&dj.email)), "5.00");
}

fn neither_a_blocked_guest_nor_the_dj_can_give_a_tip(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("50"), server.dj());
    dj.topup("10");
    let gig = open(&dj, &title("Friday"));
    tip(&dj, &gig, "1").refused(403, "own_account");
    guest.request_song(&dj);
    let block = format!("/music/dj/blocks/{}", guest.id);
    dj.call("PUT", &block).send().data(200);
    let before = (guest.snapshot(), dj.snapshot());
    let refused = tip(&guest, &gig, "1").refused(403, "blocked");
    assert_eq!(refused["message"], "This DJ isn't accepting your tips.");
    assert_eq!((guest.snapshot(), dj.snapshot()), before);
    dj.call("DELETE", &block).send().data(200);
    tip(&guest, &gig, "1").data(201);
}

fn a_refused_tip_names_the_reason(store: Store) {
    let (server, operator) =
        Server::with_operator(store, &[("tips.min_amount", "0.50"), ("tips.max_amount", "20")]);
    let (guest, dj) = (server.guest(), server.dj());
    let topup = guest.topup("10");
    let gig = open(&dj, &title("Friday"));
    let too_small = tip(&guest, &gig, "0.49").invalid(&["amount"]);
    assert_eq!(too_small["amount"], json!(["The amount field must be at least 0.50."]));
    let too_large = tip(&guest, &gig, "20.01").refused(422, "limit_exceeded");
    assert_eq!(too_large["errors"]["amount"], json!(["A tip cannot exceed 20.00."]));
    let short = tip(&guest, &gig, "10.01").refused(422, "insufficient_funds");
    assert!(short["errors"]["amount"].is_array(), "{short}");
    for amount in ["0", "-1", "0.001", "\"1\"", "null"] {
        tip(&guest, &gig, amount).invalid(&["amount"]);
    }
    guest.post(&path(&gig), &json!({})).invalid(&["amount"]);
    guest.withdrawal("4");
    reverse(&operator, topup).data(200);
    let owes = tip(&guest, &gig, "1");
    owes.refused(409, "wallet_owes");
    assert_eq!(owes.raw("/owed"), "4.00");
    for code in ["222222", "K7TW3", "%F0%9F%8E%A7"] {
        guest.post(&format!("/boards/{code}/tips"), &json!({"amount": 1})).refused(404, "not_found");
    }
    end(&dj, &gig).data(200);
    let next = open(&dj, &json!({"title": "Saturday", "new_code": 1}));
    tip(&guest, &gig, "1").refused(404, "not_found");
    tip(&guest, &next, "1").refused(409, "wallet_owes");
    server.client().post(&path(&next), &json!({"amount": 1})).refused(401, "unauthenticated");
    assert_eq!(dj.get("/tips?direction=received").data(200)["total"], 0);
}

fn the_guest_and_the_dj_get_an_event_of_a_tip(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("fees.commission_bps", "1000")]);
    let (guest, dj, other) = (server.payer("50"), server.dj(), server.dj());
    let gig = open(&dj, &title("Friday"));
    let given = tip(&guest, &gig, "2.50").data(201)["tip"].clone();
    let events = |person: &Person, feed: &str| {
        let events = person.get(&format!("{feed}?types=tip.created")).data(200)["events"].clone();
        events.as_array().unwrap().iter().map(|event| event["data"]["tip"].clone()).collect::<Vec<_>>()
    };
    for person in [&guest, &dj] {
        assert_eq!(events(person, "/events"), std::slice::from_ref(&given));
    }
    let mut for_staff = given;
    for_staff["guest_id"] = json!(guest.id);
    for_staff["commission"] = json!(0.25);
    assert_eq!(events(&operator, "/operator/events"), [for_staff]);
    assert_eq!(events(&other, "/events"), [Value::Null; 0]);
}

/// Attack API6: tipping an accomplice with a stolen card, and withdrawing the tip before the charge-back.
fn tips_of_a_stolen_card_cannot_be_withdrawn_before_the_chargeback(store: Store) {
    let server = Server::configured(store, &[&TOPUPS[..], &[("withdrawals.clearing_hours", "72")]].concat());
    let (guest, dj) = (server.guest(), server.dj());
    let reference = guest.topup_reference(guest.topup("30"));
    Message::topup_of("30", "topup.confirmed", &reference).accepted_by(&server);
    let gig = open(&dj, &title("Friday"));
    tip(&guest, &gig, "30").data(201);
    assert_eq!(dj.get("/wallet").raw("/data/wallet/clearing"), "30.00");
    dj.withdraw("1").refused(422, "limit_exceeded");
    reversal("30", &reference).accepted_by(&server);
    assert_eq!(guest.get("/wallet").raw("/data/wallet/owed"), "30.00");
    assert_eq!(available(&dj), "30.00", "the DJ keeps the tip");
    dj.withdraw("1").refused(422, "limit_exceeded");
}

/// Attack API4: guessing codes with many guest accounts.
fn unknown_codes_of_guest_accounts_count_for_their_address(store: Store) {
    let keys = [("rate_limits.enabled", "true"), ("rate_limits.unknown_codes_per_minute", "1")];
    let server = Server::configured(store, &keys);
    let guess = |guest: &Person| guest.post("/boards/BCDFGH/tips", &json!({"amount": 1}));
    for _ in 0..10 {
        guess(&server.guest_account()).refused(404, "not_found");
    }
    guess(&server.guest_account()).refused(429, "rate_limited");
    guess(&server.guest()).refused(404, "not_found");
}

/// Attack API4: guessing the codes of DJs by tips.
fn unknown_codes_count_for_the_guest(store: Store) {
    let keys = [("rate_limits.enabled", "true"), ("rate_limits.unknown_codes_per_minute", "3")];
    let server = Server::configured(store, &keys);
    let (guest, dj) = (server.payer("50"), server.dj());
    let gig = open(&dj, &title("Friday"));
    let guess = || guest.post("/boards/222222/tips", &json!({"amount": 1}));
    for _ in 0..3 {
        guess().refused(404, "not_found");
    }
    guess().refused(429, "rate_limited");
    tip(&guest, &gig, "1").data(201);
}
