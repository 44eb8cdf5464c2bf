//! Past balances, and the ledger audit.

use std::sync::Arc;

use serde_json::Value;

use crate::harness::{Database, Person, Server, Store, eventually, keys, operator_keys, run};

on_one_store!(
    a_wallet_shows_its_balance_at_a_past_time,
    a_past_balance_at_an_invalid_time_is_refused,
    the_ledger_audit_is_pending_before_its_first_run,
    the_last_ledger_audit_is_shown_to_operators,
    a_tampered_ledger_is_reported_by_api_and_command_line,
);

/// The available and held amounts at a timestamp, as the texts sent.
fn at(person: &Person, moment: &str) -> (String, String) {
    let answer = person.get(&format!("/wallet?at={moment}"));
    let data = answer.data(200);
    assert_eq!(
        keys(&data["wallet"]),
        ["available", "clearing", "clears_at", "currency", "held", "owed", "scale"],
        "{answer}"
    );
    (answer.raw("/data/wallet/available"), answer.raw("/data/wallet/held"))
}

fn a_wallet_shows_its_balance_at_a_past_time(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.payer("20"), server.dj());
    let request = guest.request_song(&dj);
    dj.answer(request, "played").data(200);
    guest.topup("0.10");
    let entries = guest.entries();
    let after = |entry: &Value| {
        let text = |key: &str| format!("{:.2}", entry[key].as_f64().unwrap());
        (text("available_after"), text("held_after"))
    };
    for (place, entry) in entries.iter().enumerate() {
        let moment = entry["created_at"].as_str().unwrap();
        let later = entries[place..].iter().take_while(|other| other["created_at"] == entry["created_at"]);
        assert_eq!(at(&guest, moment), after(later.last().unwrap()), "{moment}");
    }
    let first = entries[0]["created_at"].as_str().unwrap();
    // The same timestamp, an hour east of Greenwich: a plus in an address is encoded as %2B.
    let day = |text: &str| text.replace('Z', "%2B00:00");
    assert_eq!(at(&guest, &day(first)), after(&entries[0]));
    for before in ["1970-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "2020-06-01T12:00:00.5-11:30"] {
        assert_eq!(at(&guest, before), ("0.00".into(), "0.00".into()), "{before}");
    }
    assert_eq!(at(&guest, "9999-12-31T23:59:59.999999Z"), guest.wallet());
    assert_eq!(at(&server.guest(), first), ("0.00".into(), "0.00".into()));
}

fn a_past_balance_at_an_invalid_time_is_refused(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    for junk in
        ["now", "0", "2026-01-31", "2026-01-31T20:15:00", "2026-02-30T00:00:00Z", "2026-01-31T20:15:00+02:00"]
    {
        guest.get(&format!("/wallet?at={junk}")).invalid(&["at"]);
    }
}

fn audit(operator: &Person) -> Value {
    let data = operator.get("/operator/audit").data(200)["audit"].clone();
    assert_eq!(
        keys(&data),
        ["entries", "finding", "finished_at", "objects", "postings", "started_at", "status", "wallets"]
    );
    data
}

fn the_ledger_audit_is_pending_before_its_first_run(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("ledger.audit_interval_seconds", "0")]);
    let shown = audit(&operator);
    assert_eq!(shown["status"], "pending");
    for key in ["started_at", "finished_at", "finding"] {
        assert!(shown[key].is_null(), "{key}: {shown}");
    }
    assert_eq!((&shown["wallets"], &shown["objects"]), (&0.into(), &0.into()));
    server.guest().get("/operator/audit").refused(403, "insufficient_scope");
    let measured = server.client().outside("GET", "/metrics").send().text;
    assert!(!measured.contains("cuepoint_ledger_consistent"), "{measured}");
}

fn the_last_ledger_audit_is_shown_to_operators(store: Store) {
    let (server, operator) = Server::with_operator(store, &[("ledger.audit_interval_seconds", "1")]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let request = guest.request_song(&dj);
    dj.answer(request, "played").data(200);
    let shown = eventually("a self-check has seen everything", || {
        let shown = audit(&operator);
        (shown["entries"] == 4).then_some(shown)
    });
    assert_eq!(shown["status"], "consistent", "{shown}");
    assert!(shown["finding"].is_null(), "{shown}");
    // The operator's wallet is one of the three; the top-up has a posting, a capture without commission has
    // none.
    assert_eq!((&shown["wallets"], &shown["postings"], &shown["objects"]), (&3.into(), &1.into(), &2.into()));
    assert!(shown["started_at"].as_str() <= shown["finished_at"].as_str(), "{shown}");
    let measured = server.client().outside("GET", "/metrics").send().text;
    assert!(measured.lines().any(|line| line == "cuepoint_ledger_consistent 1"), "{measured}");
}

fn a_tampered_ledger_is_reported_by_api_and_command_line(store: Store) {
    let database = Arc::new(Database::of(store));
    let (email, every) = ("operator@example.com", ("ledger.audit_interval_seconds", "1"));
    let server = Server::on(&database, &[&operator_keys(email)[..], &[every]].concat());
    let operator = server.client().login(email);
    let guest = server.payer("20");
    let verify = || database.run(&["ledger", "verify"], &[]);
    let (status, printed) = verify();
    assert!(status.success() && printed.contains("the ledger is consistent"), "{printed}");
    assert!(
        printed.contains(
            "2 wallets, 1 entries, 1 postings; 1 requests, withdrawals, top-ups, tips and adjustments"
        ),
        "{printed}"
    );

    let sum = database.sql("2000", "'200000'");
    database.execute(&format!("UPDATE wallets SET available = {sum} WHERE user_id = {}", guest.id));
    let words = format!("wallet {}: its balance, time or head differs from its newest entry", guest.id);
    let (status, printed) = verify();
    assert_eq!(status.code(), Some(1), "{printed}");
    assert!(printed.contains(&words), "{printed}");
    let shown = eventually("the self-check finds it", || {
        let shown = audit(&operator);
        (shown["status"] == "broken").then_some(shown)
    });
    assert_eq!(shown["finding"], words.as_str());
    eventually("it is logged", || server.log().contains(&words).then_some(()));
    let measured = server.client().outside("GET", "/metrics").send().text;
    assert!(measured.lines().any(|line| line == "cuepoint_ledger_consistent 0"), "{measured}");
}

#[test]
fn ledger_verify_fails_without_a_database() {
    let nowhere = "postgres://nobody@127.0.0.1:1/nowhere";
    let (status, printed) = run(&["ledger", "verify"], Some(nowhere), &[]);
    assert_eq!(status.code(), Some(2), "{printed}");
}
