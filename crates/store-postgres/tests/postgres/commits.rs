//! Commits that are sent together with the writes of their group.

use std::time::{Duration, Instant};

use cuepoint_domain::audit::Auditor;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::{Applied, ApplyError, Audit, Ledger};
use cuepoint_store_postgres::PostgresStore;
use cuepoint_store_postgres::testing::TestDatabase;
use futures_util::future::poll_immediate;

use crate::proxy::{Proxy, ProxyMode};
use crate::scenario::{HOLD_POSITIONS, available, client, guest, open, until, until_waiting, withdrawal};

/// A store behind a proxy, and a guest with money.
struct Scene {
    database: TestDatabase,
    proxy: Proxy,
    store: PostgresStore,
    guest: UserId,
}

impl Scene {
    /// The statements of a withdrawal are prepared.
    async fn set() -> Self {
        let database = TestDatabase::create().await;
        let proxy = Proxy::before(database.url()).await;
        let store = open(&proxy.url(database.url())).await;
        let guest = guest(&store, 100_00).await;
        let scene = Self { database, proxy, store, guest };
        scene.withdraw(1_00).await.unwrap();
        scene
    }

    async fn withdraw(&self, cents: i128) -> Result<Applied, ApplyError> {
        self.store.apply(withdrawal(&self.store, self.guest, cents, "T1").await).await
    }

    /// Asserts the balance, and that the audit finds nothing.
    async fn assert_balance(&self, cents: i128) {
        assert_eq!(available(&self.store, self.guest).await, cents);
        let mut auditor = Auditor::new();
        self.store.show(&mut auditor).await.unwrap();
        auditor.finish().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_follows_its_writes_at_once_when_their_statements_are_prepared() {
    let scene = Scene::set().await;
    let before = scene.proxy.commits_with_writes();
    scene.withdraw(1_00).await.unwrap();
    assert_eq!(scene.proxy.commits_with_writes(), before + 1);
    // The statements of a connection of its own are not prepared.
    let fresh = open(&scene.proxy.url(scene.database.url())).await;
    fresh.apply(withdrawal(&fresh, scene.guest, 1_00, "T1").await).await.unwrap();
    assert_eq!(scene.proxy.commits_with_writes(), before + 1);
    scene.assert_balance(97_00).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_fails_before_its_commit_rolls_back() {
    let scene = Scene::set().await;
    let owner = client(scene.database.url()).await;
    // Operations are written last, and entries before the wallets.
    for (table, refused) in [
        ("operations", "kind <> 'open_withdrawal'"),
        ("ledger_entries", "kind <> 'hold'"),
        ("withdrawals", "amount <> 7"),
    ] {
        let add = format!("ALTER TABLE {table} ADD CONSTRAINT refuses CHECK ({refused}) NOT VALID");
        owner.batch_execute(&add).await.unwrap();
        let before = scene.proxy.commits_with_writes();
        let answer = scene.withdraw(7_00).await;
        assert!(matches!(answer, Err(ApplyError::Unavailable(_))), "{table}: {answer:?}");
        assert_eq!(scene.proxy.commits_with_writes(), before + 1, "{table}");
        owner.batch_execute(&format!("ALTER TABLE {table} DROP CONSTRAINT refuses")).await.unwrap();
        scene.assert_balance(99_00).await;
    }
    scene.withdraw(7_00).await.unwrap();
    scene.assert_balance(92_00).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_behind_a_lock_of_positions_that_is_not_granted_in_time_rolls_back() {
    let scene = Scene::set().await;
    let lock = client(scene.database.url()).await;
    lock.batch_execute(HOLD_POSITIONS).await.unwrap();
    let before = scene.proxy.commits_with_writes();
    let start = Instant::now();
    let refused = scene.withdraw(1_00).await;
    assert!(matches!(refused, Err(ApplyError::Unavailable(_))), "{refused:?}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(scene.proxy.commits_with_writes() > before);
    lock.batch_execute("ROLLBACK").await.unwrap();
    scene.assert_balance(99_00).await;
    scene.withdraw(1_00).await.unwrap();
    scene.assert_balance(98_00).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_is_made_after_the_deadline_of_its_plan_is_found_by_a_repetition() {
    let scene = Scene::set().await;
    let (lock, observer) = (client(scene.database.url()).await, client(scene.database.url()).await);
    lock.batch_execute(HOLD_POSITIONS).await.unwrap();
    let plan = withdrawal(&scene.store, scene.guest, 1_00, "T1").await;
    let start = Instant::now();
    let mut waiting = scene.store.apply(plan.clone());
    assert!(poll_immediate(&mut waiting).await.is_none());
    until_waiting(&observer, 1).await;
    // No reply arrives from now on, though the lock is granted.
    scene.proxy.turn(ProxyMode::Silent);
    lock.batch_execute("ROLLBACK").await.unwrap();
    let refused = waiting.await;
    assert!(matches!(refused, Err(ApplyError::Unavailable(_))), "{refused:?}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    scene.proxy.turn(ProxyMode::Fair);
    until("the plan is found", async || {
        matches!(scene.store.apply(plan.clone()).await, Ok(Applied::Replayed(_)))
    })
    .await;
    scene.assert_balance(98_00).await;
}
