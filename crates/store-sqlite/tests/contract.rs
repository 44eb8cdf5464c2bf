//! The store contract on a database file, with a data directory for each test.

#![allow(clippy::expect_used, reason = "a test without its store has failed")]

use std::sync::{Arc, Mutex};

use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Store;
use cuepoint_store_contract::{Fixture, store_contract};
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::{TestDirectory, query_plans};
use futures_util::future::BoxFuture;

/// A store in its own data directory.
struct Opened {
    store: Mutex<Arc<dyn Store>>,
    directory: TestDirectory,
}

impl Fixture for Opened {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store.lock().expect("the store"))
    }

    /// Closes the previous store first, since one server uses a directory at a time.
    fn reopen(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async {
            self.store().close().await;
            let store = open(&self.directory);
            *self.store.lock().expect("the store") = Arc::clone(&store);
            store
        })
    }
}

fn open(directory: &TestDirectory) -> Arc<dyn Store> {
    let currency = Currency::new("USD", 2).expect("a currency");
    Arc::new(SqliteStore::open(directory.path(), currency).expect("a store"))
}

impl Drop for Opened {
    /// Judges the plans of the statements so far.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            query_plans::check();
        }
    }
}

async fn store() -> Opened {
    query_plans::record();
    let directory = TestDirectory::create();
    Opened { store: Mutex::new(open(&directory)), directory }
}

store_contract!(store, histories = 8, steps = 60);
