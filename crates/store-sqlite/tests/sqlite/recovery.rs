//! Recovery without a restart: from locks of other processes, and from files that are moved while the store
//! is open.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cuepoint_domain::operation::Plan;
use cuepoint_domain::ports::{Applied, ApplyError, Ids, Ledger, Store};
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use futures_util::future::join_all;
use tokio::time::sleep;

use crate::fixtures::{audit, available, guest, open, refusal, topup, until};

fn database(directory: &TestDirectory) -> PathBuf {
    directory.path().join("cuepoint.db")
}

fn log(directory: &TestDirectory) -> PathBuf {
    directory.path().join("cuepoint.db-wal")
}

/// A connection as of another program.
fn foreign(directory: &TestDirectory) -> SqliteConnection {
    SqliteConnection::establish(database(directory).to_str().unwrap()).unwrap()
}

/// The time after which a moved file is noticed.
async fn until_checked() {
    sleep(Duration::from_millis(1_100)).await;
}

async fn refused(store: &SqliteStore, plan: &Plan) -> String {
    match store.apply(plan.clone()).await {
        Err(ApplyError::Unavailable(cause)) => cause.to_string(),
        other => panic!("{other:?}"),
    }
}

async fn is_applied(store: &SqliteStore, plan: Plan) {
    assert!(matches!(store.apply(plan).await.unwrap(), Applied::Fresh(_)));
    until("it is ready", async || store.ready().await.is_ok()).await;
}

#[tokio::test]
async fn changes_fail_within_five_seconds_if_another_process_has_the_write_lock() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let user = guest(&store, 10_00).await;
    let plans = join_all((0..100).map(|_| topup(&store, user, 1_00))).await;
    let mut other = foreign(&directory);
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let start = Instant::now();
    let answers = join_all(plans.iter().map(|plan| store.apply(plan.clone()))).await;
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(answers.iter().all(|answer| matches!(answer, Err(ApplyError::Unavailable(_)))));
    let start = Instant::now();
    store.ready().await.unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(available(&store, user).await, 10_00, "reads are not affected");
    other.batch_execute("ROLLBACK").unwrap();
    for plan in plans {
        is_applied(&store, plan).await;
    }
    assert_eq!(available(&store, user).await, 110_00);
    store.close().await;
}

#[tokio::test]
async fn the_store_recovers_when_a_moved_database_or_log_file_is_put_back() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let user = guest(&store, 10_00).await;
    for path in [database(&directory), log(&directory)] {
        let away = directory.path().join("away");
        fs::rename(&path, &away).unwrap();
        until_checked().await;
        let plan = topup(&store, user, 1_00).await;
        for _ in 0..2 {
            let cause = refused(&store, &plan).await;
            assert!(cause.contains(&format!("the database file {} is gone", path.display())), "{cause}");
            store.ready().await.unwrap_err();
        }
        assert!(!path.exists(), "no new file is created");
        fs::rename(&away, &path).unwrap();
        is_applied(&store, plan).await;
    }
    assert_eq!(available(&store, user).await, 12_00);
    audit(&store).await;
    store.close().await;
}

#[tokio::test]
async fn a_file_that_replaces_the_open_database_is_not_modified() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let user = guest(&store, 10_00).await;
    let (path, away) = (database(&directory), directory.path().join("away"));
    fs::rename(&path, &away).unwrap();
    fs::write(&path, "").unwrap();
    until_checked().await;
    let plan = topup(&store, user, 1_00).await;
    for _ in 0..2 {
        let cause = refused(&store, &plan).await;
        assert!(cause.contains("cuepoint.db was replaced while the server was running"), "{cause}");
        store.ready().await.unwrap_err();
    }
    store.close().await;
    assert_eq!(fs::read(&path).unwrap(), b"", "nothing is written into the other file");
    // The log is still beside the path, so that the first file is complete once it is back.
    fs::rename(&away, &path).unwrap();
    let store = open(directory.path()).unwrap();
    assert_eq!(available(&store, user).await, 10_00);
    is_applied(&store, plan).await;
    audit(&store).await;
    store.close().await;
}

#[tokio::test]
async fn deleting_the_write_ahead_log_loses_no_data() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let user = guest(&store, 10_00).await;
    // Its snapshot is still open afterwards.
    assert_eq!(available(&store, user).await, 10_00);
    fs::remove_file(log(&directory)).unwrap();
    // Within the second before the next check.
    is_applied(&store, topup(&store, user, 1_00).await).await;
    until_checked().await;
    let cause = refused(&store, &topup(&store, user, 1_00).await).await;
    assert!(cause.contains("cuepoint.db-wal is gone"), "{cause}");
    // As after an end of the process by a signal.
    let copy = TestDirectory::create();
    fs::copy(database(&directory), database(&copy)).unwrap();
    let copied = open(copy.path()).unwrap();
    assert_eq!(available(&copied, user).await, 11_00);
    audit(&copied).await;
    copied.close().await;
    store.close().await;
}

#[tokio::test]
async fn an_idle_store_truncates_its_log() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    guest(&store, 10_00).await;
    let size = || fs::metadata(log(&directory)).unwrap().len();
    assert!(size() > 0);
    until("the log is empty", async || size() == 0).await;
    store.next_user().await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn a_second_store_in_a_directory_is_refused() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let user = guest(&store, 10_00).await;
    let message = refusal(directory.path());
    assert!(message.contains(&format!("is in use by pid {}", std::process::id())), "{message}");
    is_applied(&store, topup(&store, user, 1_00).await).await;
    audit(&store).await;
    store.close().await;
}
