//! Servers under the role that docs/guide/postgresql.md creates: it owns nothing, and has only the privileges that
//! the service needs.

use std::time::Duration as Wait;

use cuepoint_domain::ports::{Erased, Ids, Ledger, Store};
use cuepoint_store_postgres::testing::{ExtraMigration, TestDatabase, service_role_statements};
use cuepoint_store_postgres::{PostgresOptions, PostgresStore};
use tokio_postgres::error::SqlState;

use crate::scenario::{available, client, erase, guest, now, open, options, usd, withdrawal};

/// Statements that the role must not execute, beside those that each table refuses.
const FORBIDDEN: &[&str] = &[
    "DROP TRIGGER ledger_entries_append_only ON ledger_entries",
    "DROP TRIGGER postings_append_only ON postings",
    "ALTER TABLE ledger_entries DISABLE TRIGGER ALL",
    "SET session_replication_role = replica",
    "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "DROP TABLE ledger_entries",
    "TRUNCATE postings",
    "CREATE TABLE more (id int)",
    "UPDATE ledger_entries SET available_change = 1",
    "DELETE FROM ledger_entries",
    "UPDATE postings SET amount = 1",
    "DELETE FROM postings",
    "DELETE FROM operations",
    "TRUNCATE wallets",
    "TRUNCATE users",
    "UPDATE security_events SET detail = 'x'",
    "UPDATE deployment SET scale = 3",
    "DELETE FROM bootstrap_operator",
    "UPDATE idempotency_keys SET at = now()",
    "INSERT INTO __diesel_schema_migrations (version) VALUES ('1')",
    "DELETE FROM __diesel_schema_migrations",
    "SELECT setval('user_ids', 1)",
];

#[tokio::test(flavor = "multi_thread")]
async fn servers_work_with_the_service_role() {
    let database = TestDatabase::create().await;
    let role = client(&database.service_url()).await;
    let owned = "SELECT count(*) FROM pg_class WHERE relowner = current_user::regrole";
    assert_eq!(role.query_one(owned, &[]).await.unwrap().get::<_, i64>(0), 0);

    // The first start, which records the currency, and a later one, which reads it.
    let url = database.service_url();
    open(&url).await.close().await;
    let store = open(&url).await;
    let (ada, bo) = (guest(&store, 50_00).await, guest(&store, 0).await);
    store.apply(withdrawal(&store, ada, 20_00, "T9").await).await.unwrap();
    assert_eq!(available(&store, ada).await, 30_00);
    assert_eq!(erase(&store, bo, now(), now()).await.unwrap(), Erased::Done);
    store.purge_expired(now()).await.unwrap();
    store.ready().await.unwrap();
    assert!(store.next_request().await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_role_cannot_change_the_schema_or_the_ledger() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    guest(&store, 50_00).await;
    let role = client(&database.service_url()).await;
    for statement in FORBIDDEN {
        let refused = role.batch_execute(statement).await.expect_err(statement);
        assert_eq!(refused.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{statement}: {refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_on_an_old_database_names_the_command_that_migrates_it() {
    const LATER: ExtraMigration = ExtraMigration {
        name: "2099-01-01-000001_later",
        up: "CREATE TABLE later (id bigint); CREATE SEQUENCE later_ids",
        in_transaction: true,
    };
    let database = TestDatabase::create().await;
    let owner = client(database.url()).await;
    // Tables of a later version are usable before the grants are executed again.
    database.migrate_with(&[LATER], Wait::from_secs(60)).await.unwrap();
    let role = client(&database.service_url()).await;
    role.batch_execute(
        "INSERT INTO later VALUES (nextval('later_ids')); UPDATE later SET id = 2; DELETE FROM later",
    )
    .await
    .unwrap();
    owner.batch_execute(service_role_statements().unwrap().1).await.unwrap();
    assert!(role.batch_execute("UPDATE later SET id = 2").await.is_err(), "until a grant names it");

    let newest = "DELETE FROM __diesel_schema_migrations WHERE version < '2099' AND version = (SELECT max(version) \
        FROM __diesel_schema_migrations WHERE version < '2099')";
    owner.execute(newest, &[]).await.unwrap();
    let refused = PostgresStore::open(options(&database.service_url()), usd()).await.expect_err("a refusal");
    assert!(format!("{refused:#}").contains("run `cuepoint migrate` first"), "{refused:#}");
}

/// Missing privileges prevent only actual migrations: without pending ones, a migrating start changes
/// nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_without_pending_migrations_needs_no_privileges_to_migrate() {
    let database = TestDatabase::create().await;
    let options = PostgresOptions { migrate_on_start: true, ..options(&database.service_url()) };
    PostgresStore::open(options, usd()).await.unwrap();
}
