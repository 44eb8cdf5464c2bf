//! `cuepoint operator`: operators without SQL.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Database, PASSWORD, Server, Store, eventually, run, run_with_input};

on_durable_stores!(operators_are_added_listed_and_removed);
on_one_store!(an_added_operator_excludes_a_first_one, a_password_that_is_refused_creates_no_operator);

fn operators_are_added_listed_and_removed(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[]);
    let ada = server.guest();
    drop(server);
    let run = |arguments: &[&str]| {
        let arguments = [&["operator"], arguments].concat();
        let (status, said) = run_with_input(&database.place(), &arguments, &[], &format!("{PASSWORD}\n"));
        (status.code(), said)
    };
    assert_eq!(run(&["list"]), (Some(0), "there is no active operator\n".to_owned()));

    let (status, said) = run(&["add", &ada.email]);
    assert!(status == Some(1) && said.contains("never verified this address"), "{said}");
    let shown = format!("user {} ({}, Ada)", ada.id, ada.email);
    let promoted = run(&["add", &ada.email.to_uppercase(), "--unverified"]);
    assert_eq!(promoted, (Some(0), format!("{shown} is an operator now\n")));
    let again = run(&["add", &ada.email]);
    assert_eq!(again, (Some(0), format!("{shown} is an operator already\n")));
    let (status, said) = run(&["add", "eve@example.com", "--name", "Eve"]);
    assert!(
        status == Some(0) && said.ends_with("(eve@example.com, Eve) was created as an operator\n"),
        "{said}"
    );
    let (_, listed) = run(&["list"]);
    assert!(listed.contains(&shown) && listed.contains("eve@example.com"), "{listed}");

    let server = Server::on(&database, &[]);
    let eve = server.client().login("eve@example.com");
    server.client().login(&ada.email).get("/operator/users").data(200);
    let events = eve.get("/operator/security-log").text;
    assert!(events.contains("the system's user"), "{events}");
    // A user learns nobody's name.
    let exported = server.client().login(&ada.email).get("/user/export").text;
    assert!(exported.contains("by the command line") && !exported.contains("system's user"), "{exported}");
    drop(server);

    assert_eq!(run(&["remove", &ada.email]), (Some(0), format!("{shown} is a member now\n")));
    let (status, said) = run(&["remove", &ada.email]);
    assert!(status == Some(1) && said.contains("is not the address of an operator"), "{said}");
    let (status, said) = run(&["remove", "eve@example.com"]);
    assert!(status == Some(1) && said.contains("is the last active operator"), "{said}");
    let server = Server::on(&database, &[]);
    server.client().login(&ada.email).get("/operator/users").refused(403, "insufficient_scope");
    drop(server);
    database.verify();
}

#[test]
fn an_operator_is_not_removed_from_a_directory_without_a_database() {
    let database = Database::of(Store::Sqlite);
    let (status, said) = database.run(&["operator", "remove", "ada@example.com"], &[]);
    assert!(!status.success() && said.contains("check --data and storage.dir"), "{said}");
    assert!(!database.directory().exists());
}

fn an_added_operator_excludes_a_first_one(store: Store) {
    let database = Arc::new(Database::of(store));
    let server = Server::on(&database, &[]);
    let ada = server.guest();
    let first =
        json!({"code": "A".repeat(43), "name": "Eve", "email": "eve@example.com", "password": PASSWORD});
    server.client().post("/auth/first-operator", &first).invalid(&["code"]);
    drop(server);
    let (status, said) = database.run(&["operator", "add", &ada.email, "--unverified"], &[]);
    assert!(status.success(), "{said}");
    let server = Server::on(&database, &[]);
    server.client().post("/auth/first-operator", &first).refused(404, "not_found");
}

fn a_password_that_is_refused_creates_no_operator(store: Store) {
    let database = Database::of(store);
    let guest = ["operator", "add", "guest-7@guest.invalid"];
    let (status, said) = run_with_input(&database.place(), &guest, &[], &format!("{PASSWORD}\n"));
    assert!(!status.success() && said.contains("is not an e-mail address"), "{said}");
    let refuse = [("auth.breached_passwords", "refuse")];
    for (password, reason) in
        [("12345678\n", "known from breaches"), ("short", "fewer than 8 characters"), ("", "empty")]
    {
        let add = ["operator", "add", "eve@example.com"];
        let (status, said) = run_with_input(&database.place(), &add, &refuse, password);
        assert!(!status.success() && said.contains(reason), "{password:?}: {said}");
    }
    let (_, said) = database.run(&["operator", "list"], &[]);
    assert_eq!(said, "there is no active operator\n");
}

#[test]
fn operators_change_beside_a_running_server_on_postgresql_within_two_seconds() {
    let database = Arc::new(Database::postgres());
    let server = Server::on(&database, &[]);
    let (ada, eve) = (server.guest(), server.guest());
    for person in [&ada, &eve] {
        let (status, said) = database.run(&["operator", "add", &person.email, "--unverified"], &[]);
        assert!(status.success(), "{said}");
    }
    let ada = server.client().login(&ada.email);
    ada.get("/operator/users").data(200);
    let (status, said) = database.run(&["operator", "remove", &ada.email], &[]);
    let removed = Instant::now();
    assert!(status.success(), "{said}");
    eventually("the role is gone", || (ada.get("/operator/users").status == 403).then_some(()));
    assert!(removed.elapsed() < Duration::from_secs(2), "{:?}", removed.elapsed());
}

#[test]
fn operators_on_sqlite_do_not_change_beside_a_running_server() {
    let database = Arc::new(Database::of(Store::Sqlite));
    let _server = Server::on(&database, &[]);
    let (status, said) = database.run(&["operator", "remove", "eve@example.com"], &[]);
    assert!(!status.success() && said.contains("in use"), "{said}");
    let (status, said) = database.run(&["operator", "list"], &[]);
    assert!(status.success() && said == "there is no active operator\n", "{said}");
    let (status, said) = run(&["operator", "list"], None, &[]);
    assert!(!status.success() && said.contains("storage.backend is memory"), "{said}");
}
