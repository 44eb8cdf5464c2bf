//! Many clients over a long time: mixed operations on two servers of one database, every answer allowed by
//! the contract, and every cent accounted for at the end.
//!
//! `CUEPOINT_SOAK=10` runs ten times as many operations.

mod books;
mod client;
mod hostile_phone;
mod kills;
mod live_pages;
mod strangers;
mod streams;
mod venue;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use books::{Books, Purse};
use client::{Client, Tally, Town};

use crate::harness::{Database, PASSWORD, Person, Server, cents, eventually, soak_times};

/// Operations per run, without retries.
const OPERATIONS: usize = 10_000;
const CLIENTS: usize = 32;
/// The number of DJs, who are the first clients.
const DJS: usize = 8;
/// The daily withdrawal limit per user, in cents.
const DAILY_LIMIT: i64 = 10_000;
/// The platform's commission, in hundredths of a percent.
const COMMISSION: i64 = 333;
const OPERATOR: &str = "operator@example.com";

const SETTINGS: [(&str, &str); 10] = [
    ("fees.commission_bps", "333"),
    ("withdrawals.max_per_24h", "100"),
    ("withdrawals.auto_approve_below", "5"),
    ("withdrawals.second_approval_above", "12"),
    // So short that requests expire while they are being answered.
    ("requests.pending_ttl_seconds", "4"),
    ("requests.accepted_ttl_seconds", "4"),
    ("requests.sweep_interval_seconds", "1"),
    ("auth.access_token_ttl_seconds", "86400"),
    ("bootstrap.operator_email", OPERATOR),
    ("bootstrap.operator_password", PASSWORD),
];

/// Answers that a run must have produced, as evidence of its coverage.
const REACHED: &[&str] = &[
    "POST /music/requests 201",
    "POST /music/requests 409 dj_offline",
    "POST /music/requests 422 insufficient_funds",
    "POST /music/requests 422 validation_failed",
    "POST /music/requests/{id}/cancel 200",
    "POST /music/requests/{id}/cancel 409 invalid_transition",
    "PATCH /music/requests-update/{id} 200",
    "PATCH /music/requests-update/{id} 409 invalid_transition",
    "PATCH /music/requests-update/{id} 404 not_found",
    "POST /withdrawal/crypto 201",
    "POST /withdrawal/crypto 422 limit_exceeded",
    "POST /withdrawals/{id}/cancel 200",
    "POST /withdrawals/{id}/cancel 409 invalid_transition",
    "POST /operator/withdrawals/{id}/approve 200",
    "POST /operator/withdrawals/{id}/reject 200",
    "POST /operator/withdrawals/{id}/complete 200",
    "POST /operator/withdrawals/{id}/fail 200",
    "POST /operator/music/requests/{id}/refund 200",
    "POST /operator/adjustments 201",
];

#[test]
fn two_servers_with_many_clients_account_for_every_cent() {
    let database = Arc::new(Database::postgres());
    let servers = [Server::on(&database, &SETTINGS), Server::on(&database, &SETTINGS)];
    let town = settle(&servers);
    let (operations, begin) = (OPERATIONS * soak_times(), Instant::now());
    let lives: Vec<_> = thread::scope(|scope| {
        let live = |who| Client::new(&town, who).live(operations / CLIENTS);
        let threads: Vec<_> = (0..CLIENTS).map(|who| scope.spawn(move || live(who))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (mut books, mut tally) = (Books::default(), Tally::new());
    for (facts, answers) in lives {
        facts.into_iter().for_each(|facts| books.enter(facts));
        for (answer, times) in answers {
            *tally.entry(answer).or_default() += times;
        }
    }
    eprintln!("{operations} operations in {:?}: {tally:#?}", begin.elapsed());
    let missing: Vec<_> = REACHED.iter().filter(|answer| !tally.contains_key(**answer)).collect();
    assert!(missing.is_empty(), "nothing led to {missing:?}");
    assert_every_cent_is_accounted_for(&database, &town, &books);
    for server in &servers {
        for marker in ["deadlock", "panicked", "ERROR"] {
            assert!(!server.log().contains(marker), "a server said {marker:?}");
        }
    }
}

/// The users of the soak, each logged in on both servers; DJs charge fees and accept requests.
fn settle(servers: &[Server; 2]) -> Town {
    let both = |person: &Person| [0, 1].map(|server| person.at(&servers[server].client()));
    let person = |place| if place < DJS { servers[0].dj_at("3.00", "6.00") } else { servers[0].guest() };
    let people = (0..CLIENTS).map(|place| both(&person(place))).collect();
    let operator = [0, 1].map(|server| servers[server].client().login(OPERATOR));
    // Operators who adjust wallets cannot review withdrawals.
    let judges = [0, 1].map(|_| {
        let judge = servers[0].guest();
        operator[0].give_role(&judge, "operator");
        both(&judge)
    });
    Town::new(people, operator, judges)
}

/// Checks that each wallet holds the result of its acknowledged operations, and that all accounts sum to
/// zero.
fn assert_every_cent_is_accounted_for(database: &Database, town: &Town, books: &Books) {
    eventually("what is past its time is given back", || {
        let open = "SELECT 1 FROM music_requests WHERE status IN ('pending', 'accepted')";
        database.rows(open).is_empty().then_some(())
    });
    let found = wallets(database);
    for (place, expected) in books.purses(CLIENTS).into_iter().enumerate() {
        let [here, there] = &town.people[place];
        let wallet = &found[&here.id];
        assert_eq!(Purse { free: wallet[0] - wallet[2], held: wallet[1] }, expected, "person {place}");
        for shown in [here.wallet(), there.wallet()] {
            assert_eq!([cents(&shown.0), cents(&shown.1)], wallet[..2], "person {place}");
        }
        let withdrawn = books.withdrawn(place);
        assert!(withdrawn <= DAILY_LIMIT, "person {place} withdrew {withdrawn}");
    }
    let all =
        "SELECT (SELECT sum(available + held - owed) FROM wallets) + (SELECT sum(amount) FROM postings) = 0";
    assert_eq!(database.rows(all), [[Some("t".to_owned())]]);
    database.verify();
}

/// The available, held and owed amounts of each wallet, in cents.
fn wallets(database: &Database) -> BTreeMap<i64, [i64; 3]> {
    let query =
        "SELECT user_id, (available * 100)::bigint, (held * 100)::bigint, (owed * 100)::bigint FROM wallets";
    let rows = database.rows(query).into_iter().map(|row| {
        let row: Vec<i64> = row.into_iter().map(|text| text.unwrap().parse().unwrap()).collect();
        (row[0], [row[1], row[2], row[3]])
    });
    rows.collect()
}
