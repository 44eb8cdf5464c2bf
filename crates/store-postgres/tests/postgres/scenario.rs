//! Fixtures: stores and connections to their databases, and the fixtures of the suite of both SQL stores.

use cuepoint_store_postgres::{PostgresOptions, PostgresStore};
use tokio_postgres::{Client, NoTls};

pub(crate) use cuepoint_store_sql_tests::fixtures::{
    amount, available, dj, erase, gig, guest, metadata, new_gig, now, request, tip, topup, until, usd,
    withdrawal, withdrawal_on,
};

/// The statement that holds the lock of positions.
pub(crate) const HOLD_POSITIONS: &str = "BEGIN; SELECT pg_advisory_xact_lock(4, 0)";

pub(crate) fn options(url: &str) -> PostgresOptions {
    PostgresOptions { url: url.to_owned(), pool_size: 4, migrate_on_start: false }
}

pub(crate) async fn open(url: &str) -> PostgresStore {
    PostgresStore::open(options(url), usd()).await.unwrap()
}

/// A connection of the test itself.
pub(crate) async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Waits until this many transactions wait for locks.
pub(crate) async fn until_waiting(asking: &Client, waiters: i64) {
    until("transactions wait for locks", || async {
        let waiting = "SELECT count(*) FROM pg_stat_activity \
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        asking.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == waiters
    })
    .await;
}
