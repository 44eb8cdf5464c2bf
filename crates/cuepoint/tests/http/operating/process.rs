//! The service as a process: start, stop, crash, and storage outages.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::harness::{Database, Person, Place, Server, Store, cents, eventually, run_at};

on_every_store!(a_shutdown_finishes_requests_in_flight);
on_one_store!(
    a_configuration_error_is_one_line_that_names_the_setting,
    only_serve_and_config_check_require_a_signing_key_in_production,
    a_database_with_a_different_currency_or_scale_is_refused,
);

on_durable_stores!(
    a_restart_keeps_balances_and_accepted_requests,
    a_killed_server_loses_no_acknowledged_operation,
);

fn a_shutdown_finishes_requests_in_flight(store: Store) {
    let mut server = Server::start(store);
    let guest = server.guest();
    let address = server.client().address;
    let host = address.strip_prefix("http://").unwrap();
    let body = r#"{"amount": 5}"#;
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(
        stream,
        "POST /api/v1/wallet/topups HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nExpect: 100-continue\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        guest.token,
        body.len()
    )
    .unwrap();
    // From here on the server waits for the body, so the request is in flight.
    let mut answer = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    answer.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 100"), "{line}");
    server.signal("TERM");
    eventually("new connections are refused", || TcpStream::connect(host).is_err().then_some(()));
    stream.write_all(body.as_bytes()).unwrap();
    let mut rest = String::new();
    answer.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("HTTP/1.1 201 "), "{rest}");
    let status = server.ended();
    assert!(status.success(), "{status}: {}", server.log());
}

fn a_configuration_error_is_one_line_that_names_the_setting(store: Store) {
    let database = (store != Store::Memory).then(|| Database::of(store));
    let place = database.as_ref().map_or(Place::Memory, Database::place);
    let nowhere = "postgres://somebody:hunter2@127.0.0.1:1/nowhere";
    for (named, keys) in [
        ("server.port", &[("server.port", "70000")][..]),
        ("server.port", &[("server.port", "abc")]),
        ("server.prot", &[("server.prot", "1")]),
        ("server.public_url", &[("server.public_url", "ftp://x")]),
        ("storage.backend", &[("storage.backend", "oracle")]),
        ("storage.postgres.url", &[("storage.backend", "postgres"), ("storage.postgres.url", "")]),
        ("storage.postgres", &[("storage.backend", "postgres"), ("storage.postgres.url", nowhere)]),
        ("storage.postgres.pool_size", &[("storage.postgres.pool_size", "0")]),
        ("wallet.scale", &[("wallet.scale", "9")]),
        ("wallet.currency", &[("wallet.currency", "dollars")]),
        ("fees.commission_bps", &[("fees.commission_bps", "10001")]),
        ("requests.pending_ttl_seconds", &[("requests.pending_ttl_seconds", "-1")]),
        ("withdrawals.max_amount", &[("withdrawals.max_amount", "1.005")]),
        ("withdrawals.address_policy", &[("withdrawals.address_policy", "loose")]),
        ("auth.signing_key_file", &[("auth.signing_key_file", "/nonexistent/keys")]),
        ("topups.provider", &[("topups.provider", "bank")]),
        ("cors.allowed_origins", &[("cors.allowed_origins", "*")]),
        ("rate_limits.enabled", &[("rate_limits.enabled", "perhaps")]),
        ("bootstrap.operator_password", &[("bootstrap.operator_email", "op@example.com")]),
        ("CUEPOINT_ENV", &[("CUEPOINT_ENV", "prod")]),
        ("/nonexistent.toml", &[("CUEPOINT_CONFIG", "/nonexistent.toml")]),
        ("storage.backend", &[("CUEPOINT_ENV", "production"), ("storage.backend", "memory")]),
        (
            "topups.provider",
            &[
                ("CUEPOINT_ENV", "production"),
                ("storage.backend", "postgres"),
                ("storage.postgres.url", nowhere),
                ("topups.provider", "sandbox"),
            ],
        ),
    ] {
        let (status, said) = run_at(&place, &["serve"], keys);
        assert!(!status.success(), "{keys:?}: {said}");
        assert!(said.contains(named), "{keys:?} is not named: {said}");
        assert_eq!(failures(&said), 1, "{keys:?} takes more than a sentence: {said}");
        assert!(!said.contains("panicked") && !said.contains("hunter2"), "{said}");
    }
    let (status, said) = run_at(&place, &["config", "check"], &[("server.port", "0")]);
    assert!(status.success(), "{said}");
    if let Place::Postgres(url) = &place {
        assert!(!said.contains(url), "{said}");
    }
}

/// The number of lines that a start said before it failed, other than its first line.
fn failures(said: &str) -> usize {
    said.lines().filter(|line| !line.contains(" starting version=")).count()
}

fn only_serve_and_config_check_require_a_signing_key_in_production(store: Store) {
    let database = Database::of(store);
    let production = [("CUEPOINT_ENV", "production")];
    for arguments in [&["migrate"][..], &["ledger", "verify"]] {
        let (status, said) = database.run(arguments, &production);
        assert!(status.success(), "{arguments:?}: {said}");
    }
    for arguments in [&["serve"][..], &["config", "check"]] {
        let (status, said) = database.run(arguments, &production);
        assert!(!status.success(), "{arguments:?}: {said}");
        assert!(said.contains("auth.signing_key_file"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_closed_output_pipe_is_not_an_error() {
    let mut printing = Command::new(env!("CARGO_BIN_EXE_cuepoint"))
        .arg("openapi")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(printing.stdout.take());
    let output = printing.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_memory_store_warns_that_its_data_is_not_durable() {
    let server = Server::start(Store::Memory);
    eventually("it says so", || server.log().contains("memory").then_some(()));
}

fn a_restart_keeps_balances_and_accepted_requests(store: Store) {
    let database = Arc::new(Database::of(store));
    let mut before = Server::on(&database, &[]);
    let (guest, dj) = (before.payer("20"), before.dj());
    let request = guest.request_song(&dj);
    dj.answer(request, "accepted").data(200);
    assert_eq!(guest.withdraw("3").status, 201);
    before.signal("TERM");
    assert!(before.ended().success());
    let after = Server::on(&database, &[]);
    let (guest, dj) = (guest.at(&after.client()), dj.at(&after.client()));
    assert_eq!(guest.wallet(), ("12.00".into(), "8.00".into()));
    dj.answer(request, "played").data(200);
    assert_eq!(dj.wallet().0, "5.00");
    assert_eq!(
        guest.request_song(&dj),
        guest.get("/music/user/requests").data(200)["data"][0]["id"].as_i64().unwrap()
    );
    database.verify();
}

fn a_database_with_a_different_currency_or_scale_is_refused(store: Store) {
    let database = Arc::new(Database::of(store));
    drop(Server::on(&database, &[]));
    for (key, value) in [("wallet.currency", "EUR"), ("wallet.scale", "3")] {
        let (status, said) = database.run(&["serve"], &[(key, value)]);
        assert!(!status.success(), "{said}");
        assert!(said.contains("wallet."), "{said}");
        assert_eq!(failures(&said), 1, "{said}");
    }
}

/// Withdraws 1.00 repeatedly until there is no answer, and returns the acknowledged withdrawals.
fn withdraw_until_the_end(person: &Person, acknowledged: &AtomicUsize) -> Vec<Value> {
    let body = r#"{"amount": 1, "wallet_address": "a", "currency": "BTC", "network": "b"}"#;
    let mut done = Vec::new();
    while let Ok(answer) = person.call("POST", "/withdrawal/crypto").text(body).try_send() {
        assert_eq!(answer.status, 201, "{answer}");
        done.push(answer.json()["data"]["withdrawal_request"].clone());
        acknowledged.fetch_add(1, Ordering::Relaxed);
    }
    done
}

fn a_killed_server_loses_no_acknowledged_operation(store: Store) {
    let database = Arc::new(Database::of(store));
    let mut server = Server::on(&database, &[]);
    let people: Vec<Person> = (0..8).map(|_| server.payer("100000")).collect();
    let acknowledged = AtomicUsize::new(0);
    let kept: Vec<Vec<Value>> = thread::scope(|scope| {
        let threads: Vec<_> = people
            .iter()
            .map(|person| scope.spawn(|| withdraw_until_the_end(person, &acknowledged)))
            .collect();
        eventually("many were acknowledged", || (acknowledged.load(Ordering::Relaxed) > 300).then_some(()));
        server.signal("KILL");
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(!server.ended().success());
    let again = Server::on(&database, &[]);
    for (person, acknowledged) in people.iter().zip(kept) {
        let person = person.at(&again.client());
        let found = all_withdrawals(&person);
        for withdrawal in &acknowledged {
            let mut kept = found[&withdrawal["id"].as_i64().unwrap()].clone();
            assert_eq!(kept["status"], "pending");
            for key in ["amount_currency", "status", "txid", "waiting_for"] {
                kept.as_object_mut().unwrap().remove(key);
            }
            assert_eq!(kept, *withdrawal);
        }
        // The withdrawal in flight may have been applied without an answer.
        assert!((acknowledged.len()..=acknowledged.len() + 1).contains(&found.len()));
        let (available, held) = person.wallet();
        assert_eq!(cents(&held), 100 * found.len() as i64);
        assert_eq!(cents(&available) + cents(&held), 10_000_000);
        assert_eq!(person.get("/wallet/entries").data(200)["total"], found.len() + 1);
    }
    database.verify();
}

fn all_withdrawals(person: &Person) -> BTreeMap<i64, Value> {
    let mut found = BTreeMap::new();
    for number in 1.. {
        let page = person.get(&format!("/withdrawals?per_page=100&page={number}")).data(200);
        for row in page["data"].as_array().unwrap() {
            found.insert(row["id"].as_i64().unwrap(), row.clone());
        }
        if page["next_page_url"].is_null() {
            assert_eq!(page["total"], found.len());
            break;
        }
    }
    found
}

#[test]
fn two_servers_on_one_database_never_overdraw_a_wallet() {
    let database = Arc::new(Database::postgres());
    let servers = [Server::on(&database, &[]), Server::on(&database, &[])];
    let guest = servers[0].payer("200");
    let here = [guest.at(&servers[0].client()), guest.at(&servers[1].client())];
    let answers: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..60)
            .map(|number| {
                scope.spawn({
                    let guest = &here[number % 2];
                    move || guest.withdraw("10")
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (done, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
    for answer in &refused {
        answer.refused(422, "insufficient_funds");
    }
    assert_eq!((done.len(), refused.len()), (20, 40));
    for guest in &here {
        assert_eq!(guest.wallet(), ("0.00".into(), "200.00".into()));
    }
    let ids: Vec<i64> = here[0].entries().iter().map(|entry| entry["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, (1..=21).collect::<Vec<_>>());
    database.verify();
}
