//! The erasure of a user with very many rows succeeds, and delays no other user.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{Rejection, plans};
use cuepoint_domain::ports::{ApplyError, Erased, Ledger, People};
use cuepoint_domain::user::ProfileChange;
use cuepoint_store_postgres::PostgresStore;
use cuepoint_store_postgres::testing::TestDatabase;
use tokio_postgres::Client;

use crate::redaction::{add_profile_changes, whole_receipts};
use crate::scenario::{client, guest, metadata, now, open, topup, until};

/// The number of profile changes in every run.
const CHANGES: i64 = 100_000;
/// The number of profile changes in a long run.
const CHANGES_IN_SOAK: i64 = 1_000_000;
/// The maximum delay of another user's operation by an erasure. A long run measures it: the difference
/// between the longest operation beside an erasure and the longest one in the same time without.
const MAX_DELAY: Duration = Duration::from_millis(100);

fn is_long_run() -> bool {
    env::var_os("CUEPOINT_SOAK").is_some()
}

/// Whether rows of this user are still to be removed.
async fn is_pending(client: &Client, user: UserId) -> bool {
    let pending = "SELECT erasure_pending FROM users WHERE id = $1";
    client.query_one(pending, &[&user.get()]).await.unwrap().get(0)
}

/// Tops up another user repeatedly, and returns the duration of the longest operation.
async fn top_up(store: &PostgresStore, stranger: UserId, goes_on: impl Fn() -> bool) -> Duration {
    let mut longest = Duration::ZERO;
    while goes_on() {
        let plan = topup(store, stranger, 1).await;
        let began = Instant::now();
        store.apply(plan).await.unwrap();
        longest = longest.max(began.elapsed());
    }
    longest
}

/// The work under the locks that plans need does not grow with the user's history: long locks on the user's
/// other rows delay neither the erasure, nor a plan with the user, nor one of another user.
#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_does_not_wait_for_locked_history_rows() {
    let database = TestDatabase::create().await;
    let store = Arc::new(open(database.url()).await);
    let (user, stranger) = (guest(&store, 0).await, guest(&store, 0).await);
    let (holder, asking) = (client(database.url()).await, client(database.url()).await);
    add_profile_changes(&holder, user, 3_000).await;
    holder
        .batch_execute("BEGIN; SELECT FROM operations WHERE kind = 'profile' ORDER BY at LIMIT 1 FOR UPDATE")
        .await
        .unwrap();
    let erasing = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.erase(user, now(), now()).await.unwrap() })
    };
    until("the erasure is committed", || is_pending(&asking, user)).await;
    store.apply(topup(&store, stranger, 1).await).await.unwrap();
    let change = plans::change_profile(metadata(&store, user), user, ProfileChange::default());
    let refused = store.apply(change).await;
    assert!(
        matches!(refused, Err(ApplyError::Rejected(Rejection::Missing(EntityKind::User)))),
        "a plan about an erased user is answered: {refused:?}"
    );
    assert_eq!(erasing.await.unwrap(), Erased::Done);
    assert!(whole_receipts(&asking, user).await > 0 && is_pending(&asking, user).await);

    // Any server continues, like a restarted one.
    holder.batch_execute("ROLLBACK").await.unwrap();
    open(database.url()).await.finish_erasures().await.unwrap();
    assert_eq!(whole_receipts(&asking, user).await, 0);
    assert!(!is_pending(&asking, user).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn erasing_a_user_with_many_changes_blocks_no_others() {
    let changes = if is_long_run() { CHANGES_IN_SOAK } else { CHANGES };
    let database = TestDatabase::create().await;
    let store = Arc::new(open(database.url()).await);
    let (user, stranger) = (guest(&store, 0).await, guest(&store, 0).await);
    let client = client(database.url()).await;
    add_profile_changes(&client, user, changes).await;
    client.batch_execute("VACUUM ANALYZE operations").await.unwrap();

    let over = Arc::new(AtomicBool::new(false));
    let others = {
        let (store, over) = (Arc::clone(&store), Arc::clone(&over));
        tokio::spawn(async move { top_up(&store, stranger, || !over.load(Ordering::Relaxed)).await })
    };
    let began = Instant::now();
    assert_eq!(store.erase(user, now(), now()).await.unwrap(), Erased::Done);
    let answered = began.elapsed();
    store.finish_erasures().await.unwrap();
    let finished = began.elapsed();
    over.store(true, Ordering::Relaxed);
    let longest = others.await.unwrap();
    println!(
        "{changes} changes: answered after {answered:?}, finished after {finished:?}; longest call beside it {longest:?}"
    );

    assert_eq!(whole_receipts(&client, user).await, 0);
    assert!(!is_pending(&client, user).await);
    assert!(answered < Duration::from_secs(4), "{answered:?}");
    if is_long_run() {
        let began = Instant::now();
        let alone = top_up(&store, stranger, || began.elapsed() < finished).await;
        assert!(
            longest <= alone + MAX_DELAY,
            "another user waited {longest:?}, and {alone:?} without an erasure"
        );
    }
}

/// Sessions, blocks and failed deliveries to a webhook endpoint also exceed one batch. Top-ups that are still
/// pending delay only the end of the erasure.
#[tokio::test(flavor = "multi_thread")]
async fn many_sessions_and_blocks_are_removed_beside_pending_topups() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 0).await;
    let client = client(database.url()).await;
    let fill = format!(
        "INSERT INTO users SELECT (jsonb_populate_record(users, jsonb_build_object('id', users.id + n, \
             'email', 'n' || n, 'email_folded', 'n' || n))).* FROM users, generate_series(1, 2500) AS n; \
         INSERT INTO blocks SELECT {user}, {user} + n, now() FROM generate_series(1, 2500) AS n; \
         INSERT INTO blocks SELECT {user} + n, {user}, now() FROM generate_series(1, 2500) AS n; \
         INSERT INTO sessions SELECT n, {user}, now(), now(), now(), now(), '192.0.2.1', 'Browser' \
             FROM generate_series(1, 2500) AS n; \
         INSERT INTO topups (id, user_id, amount, status, created_at, updated_at) \
             SELECT n, {user}, 1, 'pending', '2026-01-01Z', '2026-01-01Z' FROM generate_series(1, 2500) AS n; \
         INSERT INTO webhook_endpoints (owner_id, feed, url, state, secrets, cursor, created_at) \
             VALUES ({user}, 'own', 'https://example.com', 'active', 's', 0, now()); \
         INSERT INTO webhook_deliveries (endpoint_id, position, attempts, failed_at) \
             SELECT 1, n, 10, now() FROM generate_series(1, 2500) AS n"
    );
    client.batch_execute(&fill).await.unwrap();
    assert_eq!(store.erase(user, now(), now()).await.unwrap(), Erased::Done);
    store.finish_erasures().await.unwrap();
    let left = "SELECT (SELECT count(*) FROM blocks), \
        (SELECT count(*) FROM sessions WHERE num_nonnulls(address, agent) > 0), \
        (SELECT count(*) FROM topups WHERE status <> 'pending'), \
        (SELECT count(*) FROM webhook_endpoints), (SELECT count(*) FROM webhook_deliveries)";
    let row = client.query_one(left, &[]).await.unwrap();
    assert_eq!([0, 1, 2, 3, 4].map(|place| row.get::<_, i64>(place)), [0; 5]);
    assert!(is_pending(&client, user).await);
    client.batch_execute("UPDATE topups SET status = 'failed'").await.unwrap();
    store.finish_erasures().await.unwrap();
    assert!(!is_pending(&client, user).await);
}
