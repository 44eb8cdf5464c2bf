//! The program that tests start in a process of its own, because they end it or limit it:
//! `cuepoint-sqlite-child CASE DIRECTORY`.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failed assumption fails the test that started it"
)]
#![allow(clippy::inconsistent_digit_grouping, reason = "sums are written as dollars and cents: 100_00")]

#[path = "../tests/sqlite/fixtures.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod fixtures;

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use cuepoint_domain::ids::{OperationId, TopupId, UserId};
use cuepoint_domain::operation::{OperationMetadata, Plan, plans};
use cuepoint_domain::ports::{Applied, ApplyError, Ledger, Store};
use cuepoint_domain::topup::Charge;
use cuepoint_store_sqlite::SqliteStore;
use fixtures::{
    ALL, BEFORE, FATAL, amount, audit, available, guest, now, numbered_withdrawal, open, refusal, until, usd,
};
use futures_util::future::join_all;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [case, directory] = arguments.as_slice() else { panic!("a case and a directory are required") };
    let directory = Path::new(directory);
    match case.as_str() {
        "first_start" => open(directory).unwrap().close().await,
        "killed_while_it_writes" => killed_while_it_writes(directory).await,
        "limited_files" => limited_files(directory).await,
        "limited_log" => limited_log(directory).await,
        "read_only_database" => read_only_database(directory),
        "read_only_disk" => read_only_disk(directory).await,
        "small_disk" => small_disk(directory).await,
        _ => panic!("there is no case {case}"),
    }
}

/// Withdraws one after the other, then at once, and prints what is acknowledged.
async fn killed_while_it_writes(directory: &Path) {
    let store = open(directory).unwrap();
    let user = guest(&store, 100_00).await;
    println!("user {user}");
    let withdraw = async |number| {
        let applied = store.apply(numbered_withdrawal(number, user, number == FATAL)).await.unwrap();
        assert!(matches!(applied, Applied::Fresh(_)));
        println!("acknowledged {number}");
    };
    for number in 1..=BEFORE {
        withdraw(number).await;
    }
    join_all((BEFORE + 1..=ALL).map(withdraw)).await;
}

async fn limited_files(directory: &Path) {
    // One page of the log fits, so that commits fail on the way.
    recovers(directory, || limit_files(6 << 10), || limit_files(u64::MAX)).await;
}

async fn limited_log(directory: &Path) {
    let store = open(directory).unwrap();
    let user = guest(&store, 10_00).await;
    // Its snapshot stays open while the log grows.
    assert_eq!(available(&store, user).await, 10_00);
    // Larger than the database, so that the log can be copied into it.
    let size = |name| fs::metadata(directory.join(name)).unwrap().len();
    let mut number = 0;
    let mut apply = async || {
        number += 1;
        store.apply(numbered_topup(1_000 + number, user, 1_00)).await.unwrap()
    };
    while size("cuepoint.db-wal") < size("cuepoint.db") + (100 << 10) {
        apply().await;
    }
    limit_files(size("cuepoint.db-wal"));
    for _ in 0..20 {
        assert!(matches!(apply().await, Applied::Fresh(_)));
    }
    audit(&store).await;
    assert_eq!(available(&store, user).await, 10_00 + i128::from(number) * 1_00);
    store.close().await;
}

fn read_only_database(directory: &Path) {
    let to_read = format!("{:#}", SqliteStore::open_to_read(directory, usd()).unwrap_err());
    for message in [refusal(directory), to_read] {
        assert!(message.contains("/cuepoint.db cannot be written to: Permission denied"), "{message}");
    }
}

async fn read_only_disk(directory: &Path) {
    open(directory).unwrap().close().await;
    remount(directory, "ro");
    let message = refusal(directory);
    assert!(message.contains("/lock cannot be used: Read-only file system"), "{message}");
    remount(directory, "rw");
    open(directory).unwrap().close().await;
}

async fn small_disk(directory: &Path) {
    let ballast = directory.join("ballast");
    recovers(directory, || fill(directory), || fs::remove_file(&ballast).unwrap()).await;
    let store = open(directory).unwrap();
    fill(directory);
    let message = refusal(directory);
    let holder =
        format!("{} is in use by pid {}: stop that process first", directory.display(), std::process::id());
    assert_eq!(message, format!("the data directory {holder}"));
    store.close().await;
    let message = refusal(directory);
    assert!(
        message.starts_with(&format!("the disk of the data directory {} is full: ", directory.display())),
        "{message}"
    );
    fs::remove_file(&ballast).unwrap();
    open(directory).unwrap().close().await;
}

/// A top-up with a given id.
fn numbered_topup(number: i64, user: UserId, cents: i128) -> Plan {
    let operation = OperationId(u128::try_from(number).unwrap() + (1 << 64));
    let metadata = OperationMetadata::by(user, operation, now());
    plans::open_topup(metadata, TopupId::new(number).unwrap(), user, amount(cents), Charge::Confirmed)
}

/// Limits the size of every file that this process writes.
fn limit_files(bytes: u64) {
    let (_, most) = getrlimit(Resource::RLIMIT_FSIZE).unwrap();
    setrlimit(Resource::RLIMIT_FSIZE, bytes.min(most), most).unwrap();
}

async fn fails(store: &SqliteStore, plans: &[Plan]) {
    let answers = join_all(plans.iter().map(|plan| store.apply(plan.clone()))).await;
    assert!(answers.iter().all(|answer| matches!(answer, Err(ApplyError::Unavailable(_)))), "{answers:?}");
    store.ready().await.unwrap_err();
}

/// Plans fail while there is no space, and are applied exactly once when there is space again.
async fn recovers(directory: &Path, use_up: impl FnOnce(), free: impl FnOnce()) {
    let store = open(directory).unwrap();
    let user = guest(&store, 10_00).await;
    let known = numbered_topup(1_000, user, 1_00);
    store.apply(known.clone()).await.unwrap();
    // Otherwise it has room for more.
    let log = directory.join("cuepoint.db-wal");
    until("the log is empty", async || fs::metadata(&log).unwrap().len() == 0).await;
    let plans: Vec<Plan> = (1_001..1_020).map(|number| numbered_topup(number, user, 1_00)).collect();
    use_up();
    for _ in 0..3 {
        fails(&store, &plans).await;
    }
    assert_eq!(available(&store, user).await, 11_00, "reads are not affected");
    free();
    for plan in &plans {
        // Applied by now, or by an attempt with an unknown outcome.
        store.apply(plan.clone()).await.unwrap();
    }
    assert!(matches!(store.apply(known).await.unwrap(), Applied::Replayed(_)));
    until("it is ready", async || store.ready().await.is_ok()).await;
    ends_with(store, user, directory).await;
}

/// Closes the store, opens it once more, and finds every plan once.
async fn ends_with(store: SqliteStore, user: UserId, directory: &Path) {
    audit(&store).await;
    assert_eq!(available(&store, user).await, 30_00);
    store.close().await;
    let store = open(directory).unwrap();
    audit(&store).await;
    assert_eq!(available(&store, user).await, 30_00);
    store.close().await;
}

/// Fills the file system of a directory.
fn fill(directory: &Path) {
    let mut file = File::create(directory.join("ballast")).unwrap();
    for block in [65_536, 512, 1] {
        while file.write_all(&vec![1; block]).is_ok() {}
    }
}

fn remount(directory: &Path, how: &str) {
    let done = Command::new("mount").args(["-o", &format!("remount,{how}")]).arg(directory).status();
    assert!(done.unwrap().success());
}
