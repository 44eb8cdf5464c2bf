//! The store contract on a real server, with a database for each test, under the role that owns nothing.

#![allow(clippy::expect_used, reason = "a test without its store has failed")]

use std::sync::Arc;

use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Store;
use cuepoint_store_contract::{Fixture, store_contract};
use cuepoint_store_postgres::testing::TestDatabase;
use cuepoint_store_postgres::{PostgresOptions, PostgresStore};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// A store on its own database.
struct Opened {
    store: Arc<dyn Store>,
    database: TestDatabase,
}

impl Fixture for Opened {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    fn reopen(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        open(&self.database).boxed()
    }
}

async fn open(database: &TestDatabase) -> Arc<dyn Store> {
    let options = PostgresOptions { url: database.service_url(), pool_size: 8, migrate_on_start: false };
    let currency = Currency::new("USD", 2).expect("a currency");
    Arc::new(PostgresStore::open(options, currency).await.expect("a store"))
}

async fn store() -> Opened {
    let database = TestDatabase::create().await;
    Opened { store: open(&database).await, database }
}

store_contract!(store, histories = 8, steps = 60);
