//! Migrations beside other migrators, long reads and active servers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cuepoint_domain::ports::Ledger;
use cuepoint_store_postgres::testing::{ExtraMigration, TestDatabase};
use futures_util::future::join_all;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use crate::scenario::{available, client, guest, open, topup, until};

/// How long the migrators of these tests retry to get a lock, and how long a statement may queue behind them.
const PATIENCE: Duration = Duration::from_secs(60);
const QUEUED_AT_MOST: Duration = Duration::from_secs(2);

/// Changes a table that every plan writes.
const NOTES: ExtraMigration = ExtraMigration {
    name: "2099-01-01-000001_notes",
    up: "ALTER TABLE users ADD COLUMN note text",
    in_transaction: true,
};
/// Creates an index as migrations of tables in use do.
const INDEX: ExtraMigration = ExtraMigration {
    name: "2099-01-01-000002_users_by_name",
    up: "-- People by name; for a list.\n\
        DROP INDEX CONCURRENTLY IF EXISTS users_by_name;\n\
        CREATE INDEX CONCURRENTLY users_by_name ON users (name);\n",
    in_transaction: false,
};
const EXTRA: [ExtraMigration; 2] = [NOTES, INDEX];

/// Whether the index is valid; `None` if it does not exist.
async fn index_is_valid(client: &Client) -> Option<bool> {
    let valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('users_by_name')";
    client.query_opt(valid, &[]).await.unwrap().map(|row| row.get(0))
}

/// A transaction that has read a table and stays open.
async fn long_read(database: &TestDatabase) -> Client {
    let reader = client(database.url()).await;
    reader.batch_execute("BEGIN; SELECT count(*) FROM users").await.unwrap();
    reader
}

fn migrating(
    database: &Arc<TestDatabase>,
    extra: &'static [ExtraMigration],
    patience: Duration,
) -> JoinHandle<anyhow::Result<Vec<String>>> {
    let database = Arc::clone(database);
    tokio::spawn(async move { database.migrate_with(extra, patience).await })
}

/// Waits until a migrator queues for a lock on the table of users.
async fn until_queued(client: &Client) {
    let queued = "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'users'::regclass \
        AND mode = 'AccessExclusiveLock')";
    until("a migration waits for its lock", async || {
        client.query_one(queued, &[]).await.unwrap().get::<_, bool>(0)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_several_concurrent_migrators_applies_migrations() {
    for _ in 0..3 {
        let database = TestDatabase::empty().await;
        let applied = join_all((0..4).map(|_| database.migrate_with(&EXTRA, PATIENCE))).await;
        let mut applied: Vec<Vec<String>> = applied.into_iter().map(Result::unwrap).collect();
        applied.sort_by_key(Vec::len);
        assert_eq!(applied[..3], [const { Vec::<String>::new() }; 3]);
        assert!(applied[3].ends_with(&EXTRA.map(|extra| extra.name.to_owned())), "{applied:?}");
        assert_eq!(index_is_valid(&client(database.url()).await).await, Some(true));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_waiting_for_a_long_read_blocks_no_server() {
    let database = Arc::new(TestDatabase::create().await);
    let store = open(database.url()).await;
    let user = guest(&store, 0).await;
    let observer = client(database.url()).await;
    let reader = long_read(&database).await;
    let migrating = migrating(&database, &[NOTES], PATIENCE);
    for attempt in 1..=3 {
        until_queued(&observer).await;
        let start = Instant::now();
        // Their callers do not retry them: each must get through behind the waiting migration.
        let registered = async { guest(&store, 0).await };
        let paid_in = async { store.apply(topup(&store, user, 100).await).await.unwrap() };
        let (_, _, balance) = tokio::join!(registered, paid_in, available(&store, user));
        let took = start.elapsed();
        assert!(took < QUEUED_AT_MOST, "the server waited {took:?}");
        assert!(balance >= (attempt - 1) * 100);
        assert_eq!(available(&store, user).await, attempt * 100);
        let fresh = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'users'::regclass";
        until("the migration pauses", async || {
            observer.query_one(fresh, &[]).await.unwrap().get::<_, i64>(0) == 0
        })
        .await;
    }
    assert!(!migrating.is_finished());
    reader.batch_execute("COMMIT").await.unwrap();
    assert_eq!(migrating.await.unwrap().unwrap(), [NOTES.name]);
    store.apply(topup(&store, user, 100).await).await.unwrap();
    assert_eq!(observer.query("SELECT note FROM users", &[]).await.unwrap().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_that_cannot_get_its_lock_times_out_and_changes_nothing() {
    let database = Arc::new(TestDatabase::create().await);
    let reader = long_read(&database).await;
    let failed = migrating(&database, &[NOTES], Duration::from_secs(1)).await.unwrap();
    let failure = format!("{:#}", failed.expect_err("a read that has not ended"));
    assert!(failure.contains(NOTES.name) && failure.contains("lock"), "{failure}");
    reader.batch_execute("COMMIT").await.unwrap();
    assert_eq!(database.migrate_with(&[NOTES], PATIENCE).await.unwrap(), [NOTES.name]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_migration_fails_at_once_and_its_name_is_reported() {
    const WRONG: ExtraMigration = ExtraMigration {
        name: "2099-01-01-000001_wrong",
        up: "ALTER TABLE nothing ADD x int",
        in_transaction: true,
    };
    let database = TestDatabase::create().await;
    let start = Instant::now();
    let failure =
        format!("{:#}", database.migrate_with(&[WRONG, INDEX], PATIENCE).await.expect_err("no table"));
    assert!(failure.contains(WRONG.name) && failure.contains("\"nothing\" does not exist"), "{failure}");
    assert!(start.elapsed() < PATIENCE / 2);
    assert_eq!(index_is_valid(&client(database.url()).await).await, None, "what comes behind it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_concurrent_index_build_blocks_no_server() {
    let database = Arc::new(TestDatabase::create().await);
    let store = open(database.url()).await;
    let user = guest(&store, 0).await;
    let observer = client(database.url()).await;
    let writer = long_read(&database).await;
    writer.batch_execute("UPDATE users SET city = 'Oslo' WHERE id = -1").await.unwrap();
    let migrating = migrating(&database, &[INDEX], PATIENCE);
    until("the index is being built", async || index_is_valid(&observer).await == Some(false)).await;
    let start = Instant::now();
    // Longer than the lock timeout of a transaction, which a concurrent build must outlast.
    while start.elapsed() < Duration::from_secs(3) {
        store.apply(topup(&store, user, 100).await).await.unwrap();
        assert!(!migrating.is_finished());
    }
    writer.batch_execute("COMMIT").await.unwrap();
    migrating.await.unwrap().unwrap();
    assert_eq!(index_is_valid(&observer).await, Some(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_index_of_an_interrupted_build_is_replaced() {
    let database = TestDatabase::create().await;
    let observer = client(database.url()).await;
    let reader = long_read(&database).await;
    reader.batch_execute("UPDATE users SET city = 'Oslo' WHERE id = -1").await.unwrap();
    observer.batch_execute("SET lock_timeout = 50").await.unwrap();
    let interrupted = observer.batch_execute("CREATE INDEX CONCURRENTLY users_by_name ON users (name)").await;
    assert!(interrupted.is_err());
    assert_eq!(index_is_valid(&observer).await, Some(false));
    reader.batch_execute("COMMIT").await.unwrap();
    database.migrate_with(&[INDEX], PATIENCE).await.unwrap();
    assert_eq!(index_is_valid(&observer).await, Some(true));
}
