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
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;

use crate::fixtures::{guest, metadata, now, number, open, topup};
use crate::redaction::{add_profile_changes, whole_receipts};

/// The number of profile changes in every run.
const CHANGES: i64 = 30_000;
/// The number of profile changes in a long run.
const CHANGES_IN_SOAK: i64 = 1_000_000;
/// The maximum delay of another user's operation by an erasure: one batch. A long run measures it: the
/// difference between the longest operation beside an erasure and the longest one in the same time without.
const MAX_DELAY: Duration = Duration::from_millis(100);

fn is_long_run() -> bool {
    env::var_os("CUEPOINT_SOAK").is_some()
}

/// Whether rows of this user are still to be removed.
fn is_pending(connection: &mut SqliteConnection, user: UserId) -> bool {
    number(connection, &format!("SELECT erasure_pending FROM users WHERE id = {user}")) == 1
}

/// Tops up another user repeatedly, and returns the duration of the longest operation and their number.
async fn top_up(store: &SqliteStore, stranger: UserId, goes_on: impl Fn() -> bool) -> (Duration, u64) {
    let (mut longest, mut operations) = (Duration::ZERO, 0);
    while goes_on() {
        let plan = topup(store, stranger, 1).await;
        let began = Instant::now();
        store.apply(plan).await.unwrap();
        longest = longest.max(began.elapsed());
        operations += 1;
    }
    (longest, operations)
}

/// The user is erased by the first change; what remains of a long history is removed after a restart as well.
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_erasure_is_finished_after_a_restart() {
    let directory = TestDirectory::create();
    let store = Arc::new(open(directory.path()).unwrap());
    let (user, stranger) = (guest(&store, 0).await, guest(&store, 0).await);
    let mut connection = directory.connection();
    add_profile_changes(&mut connection, user, 20_000);
    let erasing = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.erase(user, now(), now()).await.unwrap() })
    };
    while !is_pending(&mut connection, user) {
        tokio::task::yield_now().await;
    }
    store.apply(topup(&store, stranger, 1).await).await.unwrap();
    let change = plans::change_profile(metadata(&store, user), user, ProfileChange::default());
    let refused = store.apply(change).await;
    assert!(
        matches!(refused, Err(ApplyError::Rejected(Rejection::Missing(EntityKind::User)))),
        "a plan about an erased user is answered: {refused:?}"
    );
    store.close().await;
    assert_eq!(erasing.await.unwrap(), Erased::Done);
    assert!(whole_receipts(&mut connection, user) > 0 && is_pending(&mut connection, user));

    let store = open(directory.path()).unwrap();
    assert_eq!(store.erase(user, now(), now()).await.unwrap(), Erased::Nobody);
    store.finish_erasures().await.unwrap();
    assert_eq!(whole_receipts(&mut connection, user), 0);
    assert!(!is_pending(&mut connection, user));
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn erasing_a_user_with_many_changes_blocks_no_others() {
    let changes = if is_long_run() { CHANGES_IN_SOAK } else { CHANGES };
    let directory = TestDirectory::create();
    let store = Arc::new(open(directory.path()).unwrap());
    let (user, stranger) = (guest(&store, 0).await, guest(&store, 0).await);
    let mut connection = directory.connection();
    add_profile_changes(&mut connection, user, changes);

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
    let (longest, operations) = others.await.unwrap();
    println!(
        "{changes} changes: answered after {answered:?}, finished after {finished:?}; longest call of {operations} \
         beside it {longest:?}"
    );

    assert_eq!(whole_receipts(&mut connection, user), 0);
    assert!(!is_pending(&mut connection, user));
    assert!(answered < Duration::from_secs(4), "{answered:?}");
    if is_long_run() {
        let began = Instant::now();
        let (alone, _) = top_up(&store, stranger, || began.elapsed() < finished).await;
        assert!(
            longest <= alone + MAX_DELAY,
            "another user waited {longest:?}, and {alone:?} without an erasure"
        );
    }
}

/// Sessions, networks, blocks and failed deliveries to a webhook endpoint also exceed one batch. Top-ups that are
/// still pending delay only the end of the erasure.
#[tokio::test(flavor = "multi_thread")]
async fn many_sessions_and_blocks_are_removed_beside_pending_topups() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let user = guest(&store, 0).await;
    let mut connection = directory.connection();
    let numbers =
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2500)";
    let at = now().unix_micros();
    let fill = format!(
        "INSERT INTO users (id, name, email, email_folded, email_verified, phone_verified, password_hash, role, is_dj, \
                 online, fee_upcoming_artist, fee_popular_song, played, rating_stars, rating_count, created_at) \
             {numbers} SELECT {user} + n, 'Guest', 'n' || n, 'n' || n, 0, 0, 'hash', 'member', 0, 0, '0', '0', 0, 0, 0, {at} \
                 FROM numbers; \
         INSERT INTO blocks {numbers} SELECT {user}, {user} + n, {at} FROM numbers; \
         INSERT INTO blocks {numbers} SELECT {user} + n, {user}, {at} FROM numbers; \
         INSERT INTO sessions {numbers} SELECT n, {user}, {at}, {at}, {at}, {at}, '192.0.2.1', 'Browser' FROM numbers; \
         INSERT INTO login_networks (user_id, network, seen_at) {numbers} \
             SELECT {user}, n || '.example/32', {at} FROM numbers; \
         INSERT INTO webhook_endpoints (id, owner_id, feed, url, state, secrets, cursor, created_at) \
             VALUES (1, {user}, 'own', 'https://example.com', 'active', 's', 0, {at}); \
         INSERT INTO webhook_deliveries (endpoint_id, position, attempts, failed_at) {numbers} \
             SELECT 1, n, 10, {at} FROM numbers; \
         INSERT INTO topups (id, user_id, amount, status, created_at, updated_at) {numbers} \
             SELECT n, {user}, '1', iif(n % 5, 'pending', 'failed'), {at}, {at} FROM numbers"
    );
    connection.batch_execute(&fill).unwrap();
    let later = now().plus(time::Duration::seconds(1));
    assert_eq!(store.erase(user, now(), later).await.unwrap(), Erased::Done);
    store.finish_erasures().await.unwrap();
    let left = [
        "SELECT count(*) FROM blocks",
        "SELECT count(*) FROM login_networks",
        "SELECT count(*) FROM webhook_endpoints",
        "SELECT count(*) FROM webhook_deliveries",
        "SELECT count(*) FROM sessions WHERE coalesce(address, agent) IS NOT NULL",
    ];
    assert_eq!(left.map(|left| number(&mut connection, left)), [0; 5]);
    assert_eq!(number(&mut connection, "SELECT count(*) FROM topups WHERE status = 'pending'"), 2_000);
    assert!(is_pending(&mut connection, user));
    connection.batch_execute("UPDATE topups SET status = 'failed'").unwrap();
    store.finish_erasures().await.unwrap();
    assert!(!is_pending(&mut connection, user));
}
