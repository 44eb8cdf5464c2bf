//! Top-ups ordered at a provider: each has a row before its order, one permanent reference, and a payment
//! page once the provider has named it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{
    Answer, Database, Message, Person, Provider, Reply, Server, Store, TOPUPS, at_once, eventually, is_signed,
};

on_one_store!(
    a_slow_provider_delays_an_answer_by_less_than_five_seconds,
    an_unanswered_payment_request_is_repeated_with_its_reference,
    a_topup_stays_pending_after_its_last_unanswered_payment_request,
    a_topup_refused_by_the_provider_fails,
    a_client_retry_sends_a_due_payment_request,
    payment_page_urls_are_limited_to_2048_characters,
    a_payment_request_names_the_page_to_return_to,
);

on_durable_stores!(
    payment_requests_survive_a_crash_before_the_call,
    payment_requests_survive_a_crash_during_the_call,
);

const PAGE: &str = "https://pay.example.com/session/1";
const REPLAYED: &str = "idempotency-replayed";
/// No order is retried during a test.
const NEVER: &[(&str, &str)] = &[("topups.retry_seconds", "3600"), ("topups.poll_interval_seconds", "3600")];
/// Unanswered orders are retried soon.
const SOON: &[(&str, &str)] = &[("topups.retry_seconds", "1"), ("topups.poll_interval_seconds", "1")];

fn named(page: &str) -> Reply {
    Reply::Says(200, json!({"payment_url": page}).to_string())
}

/// The configuration of a server whose top-ups are ordered at this provider.
fn ordered_at<'a>(provider: &'a Provider, keys: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&TOPUPS[..], &[("topups.webhook_url", provider.url.as_str())], keys].concat()
}

fn open(guest: &Person, key: &str) -> Answer {
    guest.call("POST", "/wallet/topups").key(key).text(r#"{"amount": 12.50}"#).send()
}

/// The top-up in a 201 answer.
#[track_caller]
fn opened(answer: &Answer) -> Value {
    answer.data(201)["topup"].clone()
}

fn list(guest: &Person) -> Vec<Value> {
    guest.get("/wallet/topups?per_page=100").data(200)["data"].as_array().unwrap().clone()
}

/// The guest's only top-up.
#[track_caller]
fn only(guest: &Person) -> Value {
    let [only] = list(guest).try_into().unwrap();
    only
}

#[track_caller]
fn stands(topup: &Value, status: &str, page: Option<&str>) {
    assert_eq!((&topup["status"], &topup["payment_url"]), (&json!(status), &json!(page)), "{topup}");
}

fn is_asked(provider: &Provider, times: usize) {
    eventually("the provider is called", || (provider.received().len() >= times).then_some(()));
}

fn gains_its_page(guest: &Person) -> Value {
    eventually("the page is kept", || Some(only(guest)).filter(|topup| topup["payment_url"] == PAGE))
}

/// Checks that the provider was called for this top-up only, each time with the same body.
#[track_caller]
fn is_ordered_alone(provider: &Provider, topup: &Value) {
    let received = provider.received();
    for order in &received {
        is_signed(order, topup["reference"].as_str().unwrap());
        assert_eq!(order.body, received[0].body);
        assert_eq!(order.json()["id"], topup["id"]);
    }
}

/// Opens a top-up while its provider is silent, and returns the call in flight once the provider has been
/// called.
fn opening<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    guest: &'scope Person,
    provider: &Provider,
) -> thread::ScopedJoinHandle<'scope, Answer> {
    let call = scope.spawn(|| open(guest, "k"));
    is_asked(provider, 1);
    call
}

fn a_slow_provider_delays_an_answer_by_less_than_five_seconds(store: Store) {
    let provider = Provider::new(Reply::Silent);
    let server = Server::configured(store, &ordered_at(&provider, NEVER));
    let guest = server.guest();
    let began = Instant::now();
    let first = open(&guest, "k");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    stands(&opened(&first), "pending", None);
    // Its call is in flight.
    let again = open(&guest, "k");
    assert_eq!((again.header(REPLAYED), &again.text), (Some("true"), &first.text));
    provider.answers(named(PAGE));
    let topup = gains_its_page(&guest);
    let replayed = open(&guest, "k");
    assert_eq!((replayed.header(REPLAYED), opened(&replayed)), (Some("true"), topup.clone()));
    assert_eq!(replayed.header("location"), first.header("location"));
    assert_eq!(provider.received().len(), 1);
    is_ordered_alone(&provider, &topup);
}

fn an_unanswered_payment_request_is_repeated_with_its_reference(store: Store) {
    let provider = Provider::new(Reply::Says(500, String::new()));
    let server = Server::configured(store, &ordered_at(&provider, SOON));
    let guest = server.guest();
    stands(&opened(&open(&guest, "k")), "pending", None);
    is_asked(&provider, 2);
    provider.answers(named(PAGE));
    let topup = gains_its_page(&guest);
    is_ordered_alone(&provider, &topup);
    let calls = provider.received().len();
    assert_eq!(opened(&open(&guest, "k")), topup);
    assert_eq!(provider.received().len(), calls);
}

fn a_topup_stays_pending_after_its_last_unanswered_payment_request(store: Store) {
    let provider = Provider::new(Reply::HangsUp);
    let keys = [SOON, &[("topups.max_attempts", "2")]].concat();
    let server = Server::configured(store, &ordered_at(&provider, &keys));
    let guest = server.guest();
    let topup = opened(&open(&guest, "k"));
    eventually("it is given up", || server.log().contains("will not be repeated").then_some(()));
    provider.answers(named(PAGE));
    assert_eq!(opened(&open(&guest, "k")), topup);
    assert_eq!(provider.received().len(), 2);
    is_ordered_alone(&provider, &topup);
    // The provider received the order nevertheless.
    Message::topup_of("12.50", "topup.confirmed", topup["reference"].as_str().unwrap()).accepted_by(&server);
    stands(&only(&guest), "confirmed", None);
    assert_eq!(guest.wallet().0, "12.50");
}

fn a_topup_refused_by_the_provider_fails(store: Store) {
    let refusal = r#"{"status": "refused", "reason": "a closed account"}"#;
    let provider = Provider::new(Reply::Says(422, refusal.to_owned()));
    let server = Server::configured(store, &ordered_at(&provider, SOON));
    let guest = server.guest();
    let refused = open(&guest, "k");
    refused.refused(422, "topup_refused");
    let failed = only(&guest);
    stands(&failed, "failed", None);
    provider.answers(named(PAGE));
    for _ in 0..2 {
        let replayed = open(&guest, "k");
        assert_eq!((replayed.header(REPLAYED), opened(&replayed)), (Some("true"), failed.clone()));
    }
    assert_eq!(provider.received().len(), 1);
    // Another key opens another top-up.
    stands(&opened(&open(&guest, "other")), "pending", Some(PAGE));
    assert_eq!(guest.wallet().0, "0.00");
}

fn a_client_retry_sends_a_due_payment_request(store: Store) {
    let provider = Provider::new(Reply::HangsUp);
    let keys = [("topups.retry_seconds", "1"), ("topups.poll_interval_seconds", "3600")];
    let server = Server::configured(store, &ordered_at(&provider, &keys));
    let guest = server.guest();
    stands(&opened(&open(&guest, "k")), "pending", None);
    provider.answers(named(PAGE));
    let replayed = eventually("a retry orders it", || {
        let replayed = open(&guest, "k");
        assert_eq!(replayed.header(REPLAYED), Some("true"));
        Some(opened(&replayed)).filter(|topup| topup["payment_url"] == PAGE)
    });
    assert_eq!(replayed, only(&guest));
    assert_eq!(provider.received().len(), 2);
    is_ordered_alone(&provider, &replayed);
}

fn payment_page_urls_are_limited_to_2048_characters(store: Store) {
    let page = |length: usize| format!("{PAGE}?{}", "x".repeat(length - PAGE.len() - 1));
    let provider = Provider::new(named(&page(2_048)));
    let server = Server::configured(store, &ordered_at(&provider, SOON));
    let guest = server.guest();
    stands(&opened(&open(&guest, "long")), "pending", Some(&page(2_048)));
    for (key, reply) in [("longer", named(&page(2_049))), ("script", named("javascript:alert(1)"))] {
        provider.answers(reply);
        let calls = provider.received().len();
        stands(&opened(&open(&guest, key)), "pending", None);
        // The provider has accepted the order and is not called again.
        stands(&opened(&open(&guest, key)), "pending", None);
        assert_eq!(provider.received().len(), calls + 1);
        let told = || server.log().matches("named an unusable payment page").count() == calls;
        eventually("somebody is told to look", || told().then_some(()));
    }
}

#[test]
fn one_idempotency_key_on_two_servers_sends_one_payment_request() {
    let database = Arc::new(Database::postgres());
    let provider = Provider::new(Reply::Silent);
    let keys = ordered_at(&provider, NEVER);
    let servers = [Server::on(&database, &keys), Server::on(&database, &keys)];
    let guest = servers[0].guest();
    let elsewhere = guest.at(&servers[1].client());
    thread::scope(|scope| {
        let call = opening(scope, &guest, &provider);
        let twin = open(&elsewhere, "k");
        assert_eq!(twin.header(REPLAYED), Some("true"));
        stands(&opened(&twin), "pending", None);
        provider.answers(named(PAGE));
        assert_eq!(opened(&call.join().unwrap())["id"], opened(&twin)["id"]);
    });
    let topup = only(&guest);
    assert_eq!(opened(&open(&elsewhere, "k")), topup);
    assert_eq!(provider.received().len(), 1);
    for round in 0..8 {
        let send = |guest: &Person| {
            guest.call("POST", "/wallet/topups").key(&format!("round-{round}")).text(r#"{"amount": 1}"#)
        };
        let answers = at_once(vec![send(&guest), send(&elsewhere), send(&guest), send(&elsewhere)]);
        let ids: BTreeSet<i64> = answers.iter().map(|one| opened(one)["id"].as_i64().unwrap()).collect();
        assert_eq!(ids.len(), 1, "{answers:?}");
    }
    let orders: Vec<String> =
        provider.received().iter().map(|order| order.headers["idempotency-key"].clone()).collect();
    let references: BTreeSet<&String> = orders.iter().collect();
    assert_eq!((orders.len(), references.len(), list(&guest).len()), (9, 9, 9));
}

/// Expires the lease of every order, as happens by itself after half a minute.
fn end_leases(database: &Database) {
    let now = database.sql("now()", "unixepoch() * 1000000");
    database.execute(&format!("UPDATE topups SET order_at = {now} WHERE order_at IS NOT NULL"));
}

fn payment_requests_survive_a_crash_before_the_call(store: Store) {
    let database = Arc::new(Database::of(store));
    let provider = Provider::new(named(PAGE));
    let crash = [("CUEPOINT_CRASH_AT", "after_commit"), ("CUEPOINT_CRASH_ON", "open_topup")];
    let mut doomed = Server::on(&database, &ordered_at(&provider, &[SOON, &crash].concat()));
    let guest = doomed.guest();
    let dies = guest.call("POST", "/wallet/topups").key("k").text(r#"{"amount": 12.50}"#).try_send();
    assert!(dies.is_err() && !doomed.ended().success());
    assert!(provider.received().is_empty());

    let servers = Server::as_many_as_may(&database, &ordered_at(&provider, SOON));
    let guest = guest.at(&servers[0].client());
    stands(&only(&guest), "pending", None);
    end_leases(&database);
    let topup = gains_its_page(&guest);
    assert_eq!(opened(&open(&guest, "k")), topup);
    assert_eq!(provider.received().len(), 1);
    is_ordered_alone(&provider, &topup);
    database.verify();
}

fn payment_requests_survive_a_crash_during_the_call(store: Store) {
    let database = Arc::new(Database::of(store));
    let provider = Provider::new(Reply::Silent);
    // Both servers have one public origin, as in every deployment.
    let keys = [SOON, &[("server.public_url", "http://music.test")]].concat();
    let mut first = Server::on(&database, &ordered_at(&provider, &keys));
    let guest = first.guest();
    thread::scope(|scope| {
        let call = scope
            .spawn(|| guest.call("POST", "/wallet/topups").key("k").text(r#"{"amount": 12.50}"#).try_send());
        is_asked(&provider, 1);
        first.signal("KILL");
        assert!(call.join().unwrap().is_err() && !first.ended().success());
    });
    let second = Server::on(&database, &ordered_at(&provider, &keys));
    let guest = guest.at(&second.client());
    stands(&opened(&open(&guest, "k")), "pending", None);
    assert_eq!(provider.received().len(), 1, "the lease of the first order has not ended");
    provider.answers(named(PAGE));
    end_leases(&database);
    let topup = gains_its_page(&guest);
    assert_eq!(provider.received().len(), 2);
    is_ordered_alone(&provider, &topup);
}

#[test]
fn several_servers_repeat_each_unanswered_payment_request_once() {
    let database = Arc::new(Database::postgres());
    let provider = Provider::new(Reply::HangsUp);
    let never = ordered_at(&provider, NEVER);
    let first = Server::on(&database, &never);
    let guest = first.guest();
    for key in 0..20 {
        stands(&opened(&open(&guest, &key.to_string())), "pending", None);
    }
    provider.answers(named(PAGE));
    end_leases(&database);
    let soon = ordered_at(&provider, SOON);
    let _servers = [(), (), ()].map(|()| Server::on(&database, &soon));
    eventually("all have their pages", || {
        list(&guest).iter().all(|topup| topup["payment_url"] == PAGE).then_some(())
    });
    assert_eq!(provider.received().len(), 40);
}

fn a_payment_request_names_the_page_to_return_to(store: Store) {
    let own = ("topups.return_url", "https://app.example/topups/{reference}");
    let without_pages = ("pages.enabled", "false");
    for (keys, page) in [
        (&[][..], Some("{address}/topups/{reference}?returned=1")),
        (&[without_pages], None),
        (&[own], Some("https://app.example/topups/{reference}")),
        (&[own, without_pages], Some("https://app.example/topups/{reference}")),
    ] {
        let provider = Provider::new(named(PAGE));
        let server = Server::configured(store, &ordered_at(&provider, keys));
        let topup = opened(&open(&server.guest(), "k"));
        let address = server.client().address;
        let filled =
            |page: &str, reference| page.replace("{address}", &address).replace("{reference}", reference);
        let expected = page.map(|page| filled(page, topup["reference"].as_str().unwrap()));
        let received = provider.received();
        assert_eq!(received[0].json().get("return_url"), expected.map(Value::from).as_ref());
        is_ordered_alone(&provider, &topup);
    }
}
