//! An absent, silent or vanishing database: every operation ends within five seconds, and the store recovers
//! by itself.

use std::time::{Duration, Instant};

use cuepoint_domain::audit::Auditor;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::music_request::Overdue;
use cuepoint_domain::operation::KeyScope;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{
    Applied, ApplyError, Audit, DjFilter, Ids, Ledger, MusicRequests, People, Sessions, Store, Topups,
    Wallets, Withdrawals,
};
use cuepoint_domain::topup::TopupFilter;
use cuepoint_domain::user::session::TokenHash;
use cuepoint_domain::withdrawal::WithdrawalFilter;
use cuepoint_store_postgres::PostgresStore;
use cuepoint_store_postgres::testing::TestDatabase;
use futures_util::FutureExt;
use futures_util::future::join_all;

use crate::proxy::{Proxy, ProxyMode};
use crate::scenario::{available, client, guest, now, open, topup, withdrawal};

struct Scene {
    database: TestDatabase,
    proxy: Proxy,
    store: PostgresStore,
    user: UserId,
}

impl Scene {
    async fn set() -> Self {
        let database = TestDatabase::create().await;
        let proxy = Proxy::before(database.url()).await;
        let store = open(&proxy.url(database.url())).await;
        let user = guest(&store, 100_00).await;
        Self { database, proxy, store, user }
    }

    /// Calls one method of every kind at once, and returns which of them succeeded.
    async fn call_every_method(&self) -> Vec<(&'static str, bool)> {
        let (store, user, page) = (&self.store, self.user, PageRequest::new(1, 15));
        let plan = withdrawal(store, user, 1_00, "T1").await;
        let scope = KeyScope([7; 32]);
        let token = TokenHash([7; 32]);
        let overdue = Overdue { requester: None, now: now(), after: None, limit: 5 };
        let (own, topups) = (WithdrawalFilter::of(user), TopupFilter::of(user));
        let calls = [
            ("apply", store.apply(plan).map(|answer| answer.is_ok()).boxed()),
            ("find_key", store.find_key(&scope).map(|answer| answer.is_ok()).boxed()),
            ("profile", store.profile(user).map(|answer| answer.is_ok()).boxed()),
            ("djs", store.djs(DjFilter::default(), page).map(|answer| answer.is_ok()).boxed()),
            ("balance", store.balance(user).map(|answer| answer.is_ok()).boxed()),
            ("entries", store.entries(user, page).map(|answer| answer.is_ok()).boxed()),
            ("withdrawals", store.withdrawals(&own, page).map(|answer| answer.is_ok()).boxed()),
            ("topups", store.topups(&topups, page).map(|answer| answer.is_ok()).boxed()),
            ("overdue", store.overdue(&overdue).map(|answer| answer.is_ok()).boxed()),
            ("end", store.end(&token, now()).map(|answer| answer.is_ok()).boxed()),
            ("adjustment", store.next_adjustment().map(|answer| answer.is_ok()).boxed()),
            ("ready", store.ready().map(|answer| answer.is_ok()).boxed()),
        ];
        join_all(calls.map(|(name, call)| async move { (name, call.await) })).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn store_methods_time_out_during_an_outage_and_succeed_after_it() {
    for mode in [ProxyMode::Cut, ProxyMode::Silent] {
        let scene = Scene::set().await;
        assert!(scene.call_every_method().await.iter().all(|(_, answered)| *answered));
        scene.proxy.turn(mode);
        for _ in 0..2 {
            let start = Instant::now();
            for (name, answered) in scene.call_every_method().await {
                // One number may be left in memory.
                assert!(!answered || name == "adjustment", "{mode:?}: {name} answered without a server");
            }
            assert!(start.elapsed() < Duration::from_secs(5), "{mode:?}: {:?}", start.elapsed());
        }
        scene.proxy.turn(ProxyMode::Fair);
        for (name, answered) in scene.call_every_method().await {
            assert!(answered, "{mode:?}: {name} did not recover");
        }
        let mut auditor = Auditor::new();
        scene.store.show(&mut auditor).await.unwrap();
        auditor.finish().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_with_a_lost_answer_is_looked_up() {
    let scene = Scene::set().await;
    let plan = topup(&scene.store, scene.user, 5_00).await;
    scene.proxy.turn(ProxyMode::LosesCommitAnswer);
    let answer = scene.store.apply(plan.clone()).await.unwrap();
    assert!(matches!(answer, Applied::Fresh(_)));
    assert_eq!(available(&scene.store, scene.user).await, 105_00);
    let again = scene.store.apply(plan).await.unwrap();
    assert_eq!(again, Applied::Replayed(answer.receipt().clone()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_commit_is_repeated() {
    let scene = Scene::set().await;
    let plan = topup(&scene.store, scene.user, 5_00).await;
    scene.proxy.turn(ProxyMode::LosesCommit);
    assert!(matches!(scene.store.apply(plan).await.unwrap(), Applied::Fresh(_)));
    assert_eq!(available(&scene.store, scene.user).await, 105_00);
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_idle_connections_are_replaced() {
    let scene = Scene::set().await;
    assert!(scene.call_every_method().await.iter().all(|(_, answered)| *answered));
    let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    client(scene.database.url()).await.batch_execute(others).await.unwrap();
    for (name, answered) in scene.call_every_method().await {
        assert!(answered, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_waits_less_than_five_seconds_for_a_row_lock() {
    let scene = Scene::set().await;
    let holder = client(scene.database.url()).await;
    let lock = format!("BEGIN; SELECT FROM wallets WHERE user_id = {} FOR UPDATE", scene.user);
    holder.batch_execute(&lock).await.unwrap();
    let plan = withdrawal(&scene.store, scene.user, 1_00, "T1").await;
    let start = Instant::now();
    let answer = scene.store.apply(plan).await;
    assert!(matches!(answer, Err(ApplyError::Unavailable(_))), "{answer:?}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    holder.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(available(&scene.store, scene.user).await, 100_00);
}
