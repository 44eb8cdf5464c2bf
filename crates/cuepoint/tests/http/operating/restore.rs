//! `cuepoint restore`: tokens and ids issued after a backup are void once the backup is in use.

use std::process::ExitStatus;
use std::sync::Arc;

use serde_json::json;

use crate::accounts::keys::KeyFolder;
use crate::events::lost_events;
use crate::harness::{Database, Proxy, Server, Traffic, eventually, once_servers_are_gone, run};

fn name_of(url: &str) -> &str {
    url.rsplit_once('/').unwrap().1
}

fn attempt(url: &str, name: &str, keys: &[(&str, &str)]) -> (ExitStatus, String) {
    run(&["restore", "--database-name", name], Some(url), keys)
}

fn restore(url: &str, name: &str, keys: &[(&str, &str)]) -> (bool, String) {
    once_servers_are_gone(|| attempt(url, name, keys))
}

#[test]
fn a_restore_is_refused_if_a_server_is_connected_or_the_name_differs() {
    let database = Arc::new(Database::postgres());
    let name = name_of(database.url()).to_owned();
    let server = Server::on(&database, &[]);
    let guest = server.guest();
    let (status, said) = attempt(database.url(), &name, &[]);
    assert!(!status.success() && said.contains("a server is connected"), "{said}");
    guest.get("/wallet").data(200);
    drop(server);
    let (done, said) = restore(database.url(), "cuepoint", &[]);
    assert!(!done && said.contains("--database-name"), "{said}");
    for _ in 0..2 {
        let (done, said) = restore(database.url(), &name, &[]);
        assert!(done && said.contains("the ledger is consistent"), "{said}");
    }
}

#[test]
fn a_moved_database_is_refused_until_restored() {
    let database = Arc::new(Database::postgres());
    let guest = Server::on(&database, &[]).guest();
    // As in the dump of another cluster.
    database.rows("UPDATE deployment SET system_identifier = 7");
    let (status, said) = run(&["serve"], Some(database.url()), &[]);
    assert!(!status.success() && said.contains("cuepoint restore"), "{said}");
    let (done, said) = restore(database.url(), name_of(database.url()), &[]);
    assert!(done, "{said}");
    let server = Server::on(&database, &[]);
    assert_eq!(server.client().login(&guest.email).id, guest.id);
}

/// Attack API2: a token from before a restore, with an id that was assigned again.
#[test]
fn a_restore_invalidates_all_tokens_and_reuses_no_id() {
    let (folder, database) = (KeyFolder::new(), Arc::new(Database::postgres()));
    let file = folder.path();
    let keys = [("auth.signing_key_file", file.as_str())];
    let (status, said) = run(&["keys", "rotate"], None, &keys);
    assert!(status.success(), "{said}");
    let server = Server::on(&database, &keys);
    let early = server.payer("100");
    let held = early.withdrawal("10");
    let (_, personal) = early.personal_token(&["events:read"]);
    let last = lost_events::head(&early);
    drop(server);
    let backup = database.copy();

    let server = Server::on(&database, &keys);
    let late = server.payer("400");
    let withdrawn = late.withdrawal("50");
    let seen = lost_events::head(&late);
    drop(server);

    let backup = Arc::new(backup);
    let (done, said) = restore(backup.url(), name_of(backup.url()), &keys);
    assert!(done, "{said}");
    assert!(said.contains("in flight: 0 withdrawals, 0 top-ups"), "{said}");
    assert!(said.contains("newest operation: 20") && said.contains(" is removed"), "{said}");

    let server = Server::on(&backup, &keys);
    lost_events::are_noticed(&server, &early.at(&server.client()), last, seen);
    for token in [&late.token, &early.token] {
        server.client().call("GET", "/user/personal-info").bearer(token).send().refused(401, "invalid_token");
    }
    server.client().call("GET", "/events").bearer(&personal).send().refused(401, "session_ended");
    let refresh = json!({"refresh_token": early.refresh_token});
    server.client().post("/auth/refresh", &refresh).refused(401, "invalid_refresh_token");
    let other = server.payer("300");
    let others = other.withdrawal("300");
    assert!(other.id > late.id + 999_999 && others > withdrawn + 999_999, "{} {others}", other.id);
    let early = early.at(&server.client());
    assert_eq!(early.wallet(), ("93.00".into(), "10.00".into()));
    assert_eq!(early.get(&format!("/withdrawals/{held}")).data(200)["status"], "pending");
    backup.verify();
}

/// Their ledger audit reports a gap.
#[test]
fn a_restore_before_the_upgrade_is_finalized_records_no_gap_of_positions() {
    let database = Arc::new(Database::postgres());
    drop(Server::on(&database, &[]).payer("1"));
    database.rows("UPDATE deployment SET feature_level = 1");
    let (done, said) = restore(database.url(), name_of(database.url()), &[]);
    assert!(done, "{said}");
    assert_eq!(database.rows("SELECT * FROM position_gaps").len(), 0);
}

/// Attack API2: a token from before a restore, at a server that ran during the restore.
#[test]
fn a_running_server_refuses_old_tokens_and_skips_old_ids_after_a_restore() {
    let database = Arc::new(Database::postgres());
    let proxy = Proxy::start(database.server());
    let server = Server::through(&database, &database.url_at(proxy.address()), &[]);
    let guest = server.payer("100");
    guest.get("/withdrawals/options").data(200);
    proxy.set(Traffic::Cut);
    let said = eventually("the connections are cut", || {
        let (status, said) = attempt(database.url(), name_of(database.url()), &[]);
        status.success().then_some(said)
    });
    proxy.set(Traffic::Flows);
    // Answered from the server's memory, without the database.
    eventually("the token is refused", || (guest.get("/withdrawals/options").status == 401).then_some(()));
    let again = guest.at(&server.client());
    assert_eq!(again.wallet().0, "100.00", "{said}");
    assert!(again.topup("1") > 999_999);
    assert!(server.guest().id > 999_999);
}
