//! The ledger audit beside other work.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use cuepoint_domain::audit::Auditor;
use cuepoint_domain::ports::{Audit, Ledger, Store, Wallets};
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::TestDirectory;
use tokio::sync::oneshot;

use crate::fixtures::{available, guest, open, topup};

/// An auditor that waits at its first wallet until the sender is dropped, and the moment at which it waits.
fn waiting() -> (Auditor, mpsc::Sender<()>, oneshot::Receiver<()>) {
    let (go_on, waits) = mpsc::channel();
    let (arrive, arrived) = oneshot::channel();
    let mut arrive = Some(arrive);
    let auditor = Auditor::new().reporting(move |_| {
        if let Some(arrive) = arrive.take() {
            let _ = arrive.send(());
        }
        let _ = waits.recv();
    });
    (auditor, go_on, arrived)
}

async fn store(directory: &TestDirectory) -> SqliteStore {
    let store = open(directory.path()).unwrap();
    for _ in 0..3 {
        guest(&store, 10_00).await;
    }
    store
}

/// On one thread, which the audit would block.
#[tokio::test]
async fn the_store_responds_while_a_ledger_audit_runs() {
    let directory = TestDirectory::create();
    let store = store(&directory).await;
    let (mut auditor, go_on, arrived) = waiting();
    let others = async {
        arrived.await.unwrap();
        let user = guest(&store, 0).await;
        for _ in 0..50 {
            store.apply(topup(&store, user, 1_00).await).await.unwrap();
        }
        assert_eq!(available(&store, user).await, 50_00);
        store.ready().await.unwrap();
        drop(go_on);
    };
    let (shown, ()) = tokio::join!(store.show(&mut auditor), others);
    shown.unwrap();
    let seen = auditor.finish().unwrap();
    assert_eq!((seen.wallets, seen.entries), (3, 3), "the ledger as it was at the beginning");
    let mut auditor = Auditor::new();
    store.show(&mut auditor).await.unwrap();
    assert_eq!(auditor.finish().unwrap().entries, 53);
    store.close().await;
}

#[tokio::test]
async fn closing_the_store_ends_its_audit() {
    let directory = TestDirectory::create();
    let store = store(&directory).await;
    let (mut auditor, go_on, arrived) = waiting();
    let close = async {
        arrived.await.unwrap();
        let release = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            drop(go_on);
        };
        tokio::join!(store.close(), release);
    };
    let (shown, ()) = tokio::join!(store.show(&mut auditor), close);
    assert!(shown.is_err());
    let log = std::fs::metadata(directory.path().join("cuepoint.db-wal"));
    assert!(log.map_or(0, |log| log.len()) == 0, "the audit held no snapshot any more");
    assert!(store.show(&mut Auditor::new()).await.is_err(), "a closed store is not audited");
}

#[tokio::test]
async fn an_abandoned_audit_does_not_delay_the_close_of_the_store() {
    let directory = TestDirectory::create();
    let store = store(&directory).await;
    let (mut auditor, go_on, arrived) = waiting();
    tokio::select! {
        shown = store.show(&mut auditor) => panic!("the audit did not wait: {shown:?}"),
        arrived = arrived => arrived.unwrap(),
    }
    drop(go_on);
    let began = Instant::now();
    store.close().await;
    assert!(began.elapsed() < Duration::from_secs(4), "it waited for the audit");
}

#[tokio::test]
async fn concurrent_audits_of_a_store_all_succeed() {
    let directory = TestDirectory::create();
    let store = store(&directory).await;
    let audit = async || {
        let mut auditor = Auditor::new();
        store.show(&mut auditor).await.unwrap();
        auditor.finish().unwrap().wallets
    };
    let (one, two, three, four) = tokio::join!(audit(), audit(), audit(), audit());
    assert_eq!([one, two, three, four], [3; 4]);
    assert!(store.balance(cuepoint_domain::ids::UserId::new(1).unwrap()).await.unwrap().is_some());
}
