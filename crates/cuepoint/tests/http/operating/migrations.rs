//! The binary and its schema: pending migrations, and servers whose role owns nothing.

use std::sync::Arc;
use std::thread;

use crate::harness::{Database, Server, eventually, run};

#[test]
fn a_server_works_with_the_documented_database_role() {
    let database = Arc::new(Database::postgres());
    let url = database.service_url();
    let server = Server::through(&database, &url, &[("storage.postgres.migrate_on_start", "false")]);
    let (guest, dj) = (server.payer("20"), server.dj());
    let request = guest.request_song(&dj);
    for status in ["accepted", "played"] {
        dj.answer(request, status).data(200);
    }
    assert_eq!(guest.wallet(), ("15.00".into(), "0.00".into()));
    let withdrawal = guest.withdrawal("3");
    let withdrawn = guest.get("/withdrawals").data(200);
    assert_eq!(withdrawn["data"][0]["id"], withdrawal);
    let (status, said) = run(&["ledger", "verify"], Some(&url), &[]);
    assert!(status.success(), "{said}");
    let refused = "permission denied";
    assert!(!server.log().contains(refused), "{}", server.log());
    // The schema is current, so this role may run `migrate` too.
    let (status, said) = run(&["migrate"], Some(&url), &[]);
    assert!(status.success() && said.contains("up to date"), "{said}");
}

#[test]
fn a_waiting_migration_is_logged_with_the_blocking_transaction() {
    let database = Arc::new(Database::postgres());
    database.rows(
        "DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE __diesel_schema_migrations \
         (version varchar(50) PRIMARY KEY, run_on timestamp NOT NULL DEFAULT now())",
    );
    let holder = thread::spawn({
        let database = Arc::clone(&database);
        move || {
            let held =
                "BEGIN; LOCK TABLE __diesel_schema_migrations IN SHARE MODE; SELECT pg_sleep(3); COMMIT";
            database.rows(held);
        }
    });
    let locked = "SELECT pid FROM pg_locks WHERE mode = 'ShareLock' AND granted \
        AND relation = '__diesel_schema_migrations'::regclass";
    let pid = eventually("the lock is taken", || database.rows(locked).pop()?.pop()?);
    let (status, said) = run(&["migrate"], Some(database.url()), &[]);
    assert!(status.success() && said.contains("applied 2026-11-20-000001_people"), "{said}");
    let waited = said.lines().find(|line| line.contains("a migration waits for a lock"));
    let waited = waited.unwrap_or_else(|| panic!("{said}"));
    assert!(waited.contains("2026-11-20-000001_people"), "{waited}");
    assert!(waited.contains("oldest_transaction_pid") && waited.contains(&pid), "{waited}");
    holder.join().unwrap();
}
