//! What every store promises, on a real server with a database for each promise.

#![allow(clippy::expect_used, reason = "a test without its store has failed")]

use std::sync::Arc;

use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Store;
use cuepoint_store_contract::store_contract;
use cuepoint_store_postgres::testing::TestDatabase;
use cuepoint_store_postgres::{PostgresOptions, PostgresStore};

async fn store() -> (Arc<dyn Store>, TestDatabase) {
    let database = TestDatabase::create().await;
    let options = PostgresOptions { url: database.url().to_owned(), pool_size: 8, migrate_on_start: false };
    let currency = Currency::new("USD", 2).expect("a currency");
    let store = PostgresStore::open(options, currency).await.expect("a store");
    (Arc::new(store), database)
}

store_contract!(store, histories = 8, steps = 60);
