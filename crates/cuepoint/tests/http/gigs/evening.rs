//! The evening of the demonstration: a DJ and twenty guests, from the first request to the sums at the end.

use std::time::Instant;

use cuepoint_demo::evening::{self, Pace};
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::harness::{Server, Store};

on_every_store!(an_evening_of_twenty_guests_ends_with_right_sums_and_no_held_money);
on_one_store!(an_evening_is_refused_without_top_ups);

/// The evening, and the lines that it prints.
fn play(server: &Server, pace: Pace) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    evening::play(&server.client().address, pace, &mut |line| lines.push(line.to_owned()))?;
    Ok(lines)
}

fn an_evening_of_twenty_guests_ends_with_right_sums_and_no_held_money(store: Store) {
    let server = Server::configured(store, &[("fees.commission_bps", "1500")]);
    let lines = play(&server, Pace::AtOnce).unwrap();
    for happened in [
        "requests",
        "accepts",
        "plays",
        "rejects",
        "cancels",
        "claims the guest account",
        "stars, and tips",
        "pauses the gig",
        "isn't taking requests",
        "plays in the order of arrival",
        "ends the gig",
    ] {
        assert!(lines.iter().any(|line| line.contains(happened)), "nothing {happened}: {lines:#?}");
    }
    if let Some(database) = server.database() {
        drop(server);
        database.verify();
    }
}

/// Nobody could pay in.
fn an_evening_is_refused_without_top_ups(store: Store) {
    let server = Server::configured(store, &[("topups.provider", "none")]);
    let refused = play(&server, Pace::AtOnce).unwrap_err().to_string();
    assert!(refused.contains("set topups.provider to sandbox"), "{refused}");
}

/// Sessions are refreshed, because access tokens last a second on this clock.
#[test]
fn an_evening_passes_on_a_clock_at_rate_60() {
    let keys = [("server.clock_rate", "60"), ("auth.access_token_ttl_seconds", "60")];
    let server = Server::configured(Store::Memory, &keys);
    let time = || {
        let topup = server.guest().post("/wallet/topups", &json!({"amount": 1})).data(201)["topup"].clone();
        OffsetDateTime::parse(topup["created_at"].as_str().unwrap(), &Rfc3339).unwrap()
    };
    let (before, began) = (time(), Instant::now());
    play(&server, Pace::AtOnce).unwrap();
    let passed = (time() - before) / 60;
    assert!(passed >= began.elapsed() / 2, "{passed} on the clock of the service in {:?}", began.elapsed());
}
