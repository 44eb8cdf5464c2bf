//! A store over the lifetime of its data directory.

use std::fs;
use std::path::Path;
use std::time::Duration;

use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Ids, Store};
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::TestDirectory;
use tokio::time::sleep;

fn open(directory: &Path) -> anyhow::Result<SqliteStore> {
    SqliteStore::open(directory, Currency::new("USD", 2).unwrap())
}

#[tokio::test]
async fn a_directory_is_used_by_one_store_at_a_time() {
    let directory = TestDirectory::create();
    let first = open(directory.path()).unwrap();
    let id = first.next_user().await.unwrap();
    let refused = open(directory.path()).unwrap_err().to_string();
    assert!(refused.contains("is in use by pid"), "{refused}");
    first.close().await;
    assert!(first.next_request().await.is_err(), "a closed store allocates no block");
    assert!(first.ready().await.is_err());
    let second = open(directory.path()).unwrap();
    assert!(second.next_user().await.unwrap() > id, "no id is allocated twice");
    second.ready().await.unwrap();
    second.close().await;
    let log = fs::metadata(directory.path().join("cuepoint.db-wal"));
    assert!(log.map_or(0, |log| log.len()) == 0, "a closed store leaves no log");
}

#[tokio::test]
async fn a_start_with_a_different_currency_is_refused() {
    let directory = TestDirectory::create();
    open(directory.path()).unwrap().close().await;
    let error = SqliteStore::open(directory.path(), Currency::new("EUR", 2).unwrap()).unwrap_err();
    assert!(error.to_string().contains("uses USD"), "{error}");
    open(directory.path()).unwrap().close().await;
}

#[tokio::test]
async fn a_store_whose_file_is_gone_or_replaced_is_not_ready() {
    for replace in [false, true] {
        let directory = TestDirectory::create();
        let store = open(directory.path()).unwrap();
        store.ready().await.unwrap();
        let (path, copy) = (directory.path().join("cuepoint.db"), directory.path().join("copy.db"));
        fs::copy(&path, &copy).unwrap();
        if replace {
            fs::rename(&copy, &path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        sleep(Duration::from_millis(1_100)).await;
        let cause = store.ready().await.unwrap_err().to_string();
        assert!(cause.contains("is gone") || cause.contains("was replaced"), "{cause}");
        assert!(store.next_request().await.is_err(), "nothing is committed to the lost file");
        store.close().await;
    }
}
