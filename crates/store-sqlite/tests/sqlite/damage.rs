//! Damage to the database file: found at the start or by the audit, and said clearly.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cuepoint_domain::audit::Finding;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Ledger, People, Topups, Wallets, Withdrawals};
use cuepoint_domain::topup::TopupFilter;
use cuepoint_domain::withdrawal::WithdrawalFilter;
use cuepoint_store_sql_tests::fixtures::audit;
use cuepoint_store_sql_tests::tamper::{WHOLE, populate};
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::fixtures::{available, guest, open, topup, usd, withdrawal};

/// The size of a page in bytes.
const PAGE: usize = 4096;
/// The number of flipped bits.
const FLIPS: usize = 100;

fn database(directory: &TestDirectory) -> PathBuf {
    directory.path().join("cuepoint.db")
}

/// A closed database with a ledger; its log is empty.
async fn closed() -> TestDirectory {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    populate(&store).await;
    store.close().await;
    directory
}

/// Overwrites a part of a file in another process, since closing it in this one would release the locks of
/// its connections.
fn overwrite(path: &Path, offset: usize, bytes: &[u8]) {
    let mut dd = Command::new("dd")
        .arg(format!("of={}", path.display()))
        .args([&format!("seek={offset}"), "bs=1", "conv=notrunc", "status=none"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    dd.stdin.take().unwrap().write_all(bytes).unwrap();
    assert!(dd.wait().unwrap().success());
}

/// The offset of the first page of a table or an index.
fn page_of(directory: &TestDirectory, name: &str) -> usize {
    let root = format!("SELECT rootpage FROM sqlite_schema WHERE name = '{name}'");
    let root: i64 = diesel::dsl::sql::<BigInt>(&root).get_result(&mut directory.connection()).unwrap();
    (usize::try_from(root).unwrap() - 1) * PAGE
}

#[tokio::test]
async fn opening_a_store_finds_pages_with_a_damaged_beginning() {
    let directory = closed().await;
    let path = database(&directory);
    let sound = fs::read(&path).unwrap();
    let pages = sound.len() / PAGE;
    assert!(pages > 40, "{pages} pages");
    for page in 0..pages {
        for (from, length) in [(0, PAGE), (0, 8), (PAGE / 2, PAGE / 2)] {
            let mut damaged = sound.clone();
            damaged[page * PAGE + from..][..length].fill(0xa5);
            fs::write(&path, &damaged).unwrap();
            match SqliteStore::open(directory.path(), usd()) {
                Err(error) => {
                    let error = format!("{error:#}");
                    assert!(
                        error.contains("cuepoint.db is damaged: restore a backup"),
                        "page {page}: {error}"
                    );
                }
                // The second half of a page may be free.
                Ok(store) => {
                    assert!(from > 0, "page {page} is damaged");
                    let audited = audit(&store).await;
                    assert!(audited == Ok(WHOLE) || audited.is_err());
                    store.close().await;
                }
            }
        }
    }
    fs::write(&path, &sound).unwrap();
    let store = open(directory.path()).unwrap();
    assert_eq!(audit(&store).await, Ok(WHOLE));
}

#[tokio::test]
async fn opening_a_store_finds_a_truncated_file() {
    let directory = closed().await;
    let path = database(&directory);
    let sound = fs::read(&path).unwrap();
    for length in [PAGE * 20, sound.len() - PAGE, sound.len() - PAGE / 2] {
        fs::write(&path, &sound[..length]).unwrap();
        let error = format!("{:#}", SqliteStore::open(directory.path(), usd()).unwrap_err());
        assert!(error.contains("is damaged: restore a backup"), "{length} bytes: {error}");
    }
}

/// A flipped bit may leave a valid database with another value, which the audit finds if it matters.
#[tokio::test]
async fn a_flipped_bit_causes_no_panic() {
    let directory = closed().await;
    let path = database(&directory);
    let sound = fs::read(&path).unwrap();
    let (mut refused, mut found, mut harmless) = (0, 0, 0);
    for number in 0..FLIPS {
        let mut damaged = sound.clone();
        // A prime, so that the positions are spread over the whole file.
        damaged[number * 1_000_003 % sound.len()] ^= 1 << (number % 8);
        fs::write(&path, &damaged).unwrap();
        let Ok(store) = SqliteStore::open(directory.path(), usd()) else {
            refused += 1;
            continue;
        };
        let audited = audit(&store).await;
        for user in 1..=8 {
            let user = UserId::new(user).unwrap();
            let page = PageRequest::new(1, 100);
            let _ = store.profile(user).await;
            let _ = store.entries(user, page).await;
            let _ = store.topups(&TopupFilter::of(user), page).await;
            let _ = store.withdrawals(&WithdrawalFilter::of(user), page).await;
        }
        store.close().await;
        match audited {
            Ok(summary) => {
                assert_eq!(summary, WHOLE);
                harmless += 1;
            }
            Err(_) => found += 1,
        }
    }
    println!("{refused} flips were refused at the start, {found} found by the audit, {harmless} harmless");
    assert!(refused > 0 && found > 0);
}

#[tokio::test]
async fn damage_at_runtime_fails_only_affected_requests() {
    let directory = closed().await;
    let store = open(directory.path()).unwrap();
    let guest_id = UserId::new(1).unwrap();
    overwrite(&database(&directory), page_of(&directory, "topups"), &[0xa5; PAGE]);
    let page = PageRequest::new(1, 10);
    for _ in 0..2 {
        let error = store.topups(&TopupFilter::of(guest_id), page).await.unwrap_err().to_string();
        assert!(
            error.contains("the database file is damaged") && error.contains("restore a backup"),
            "{error}"
        );
    }
    let error = format!("{:?}", store.apply(topup(&store, guest_id, 1_00).await).await.unwrap_err());
    assert!(error.contains("the database file is damaged"), "{error}");
    // Requests that do not meet the page go on.
    let before = store.balance(guest_id).await.unwrap().unwrap().available.minor();
    store.apply(withdrawal(&store, guest_id, 1_00, "T1").await).await.unwrap();
    assert_eq!(available(&store, guest_id).await, before - 1_00);
    guest(&store, 0).await;
    let finding = audit(&store).await.unwrap_err();
    assert!(matches!(finding, Finding::Unreadable { .. }));
    assert!(finding.to_string().contains("the database file is damaged: restore a backup"), "{finding}");
    store.close().await;
}

/// Only the full check finds an index that does not match its table.
#[tokio::test]
async fn the_audit_finds_an_index_that_does_not_match_its_table() {
    let directory = closed().await;
    let rewrite = "PRAGMA writable_schema = ON; \
        UPDATE sqlite_schema SET sql = replace(sql, 'id DESC', 'id ASC') WHERE name = 'users_newest'; \
        PRAGMA writable_schema = OFF";
    let mut vandal = directory.connection();
    vandal.batch_execute(rewrite).unwrap();
    drop(vandal);
    let store = open(directory.path()).unwrap();
    let finding = audit(&store).await.unwrap_err().to_string();
    assert!(
        finding.contains("the database file is damaged") && finding.contains("users_newest"),
        "{finding}"
    );
    store.close().await;
}
