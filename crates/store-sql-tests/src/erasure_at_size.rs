//! The erasure of a user with very many rows succeeds, and delays no other user.

use std::cell::Cell;
use std::env;
use std::time::{Duration, Instant};

use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{Rejection, plans};
use cuepoint_domain::ports::{ApplyError, Erased, Store};
use cuepoint_domain::user::ProfileChange;

use crate::SqlFixture;
use crate::fixtures::{erase, guest, metadata, now, topup};
use crate::redaction::{add_profile_changes, numbers, whole_receipts};

/// The number of profile changes in a long run.
const CHANGES_IN_SOAK: i64 = 1_000_000;
/// The maximum delay of another user's operation by an erasure: one batch. A long run measures the delay as the
/// difference between the longest operation during an erasure and the longest operation without an erasure.
const MAX_DELAY: Duration = Duration::from_millis(100);

fn is_long_run() -> bool {
    env::var_os("CUEPOINT_SOAK").is_some()
}

/// Whether rows of this user are still to be removed.
pub async fn is_pending(database: &dyn SqlFixture, user: UserId) -> bool {
    let pending = format!("SELECT count(*) FROM users WHERE id = {user} AND erasure_pending");
    database.number(&pending).await == 1
}

/// Tops up another user repeatedly, and returns the duration of the longest operation and their number.
async fn top_up(store: &dyn Store, stranger: UserId, goes_on: impl Fn() -> bool) -> (Duration, u64) {
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

/// Expects that an erased user with remaining rows cannot be changed, and that another user is served.
pub async fn refuses_the_erased_alone(store: &dyn Store, erased: UserId, stranger: UserId) {
    store.apply(topup(store, stranger, 1).await).await.unwrap();
    let change = plans::change_profile(metadata(store, erased), erased, ProfileChange::default());
    let refused = store.apply(change).await;
    assert!(
        matches!(refused, Err(ApplyError::Rejected(Rejection::Missing(EntityKind::User)))),
        "a plan about an erased user is answered: {refused:?}"
    );
}

/// The erasure is answered before all receipts are redacted.
pub async fn erasing_a_large_account_does_not_block_others(database: &dyn SqlFixture) {
    let changes = if is_long_run() { CHANGES_IN_SOAK } else { database.many_changes() };
    let store = database.store();
    let (user, stranger) = (guest(store, 0).await, guest(store, 0).await);
    add_profile_changes(database, user, changes).await;
    database.vacuum().await;

    let over = Cell::new(false);
    let erasing = async {
        let began = Instant::now();
        assert_eq!(erase(store, user, now(), now()).await.unwrap(), Erased::Done);
        let answered = began.elapsed();
        store.finish_erasures().await.unwrap();
        over.set(true);
        (answered, began.elapsed())
    };
    let ((answered, finished), (longest, operations)) =
        tokio::join!(erasing, top_up(store, stranger, || !over.get()));
    println!(
        "{changes} changes: answered after {answered:?}, finished after {finished:?}; longest call of {operations} \
         beside it {longest:?}"
    );

    assert_eq!(whole_receipts(database, user).await, 0);
    assert!(!is_pending(database, user).await);
    assert!(answered < Duration::from_secs(4), "{answered:?}");
    if is_long_run() {
        let began = Instant::now();
        let (alone, _) = top_up(store, stranger, || began.elapsed() < finished).await;
        assert!(
            longest <= alone + MAX_DELAY,
            "another user waited {longest:?}, and {alone:?} without an erasure"
        );
    }
}

/// More rows of a user than one batch of each kind; `NUMBERS`, `USER` and `AT` are replaced.
const ROWS: &str = "
    INSERT INTO users (id, name, email, email_folded, email_verified, phone_verified, password_hash, role, is_dj,
            online, fee_upcoming_artist, fee_popular_song, played, rating_stars, rating_count, created_at)
        SELECT USER + n, 'Guest', 'n' || n, 'n' || n, false, false, 'hash', 'member', false, false, 0, 0, 0, 0, 0, AT
            FROM NUMBERS;
    INSERT INTO blocks (dj_id, guest_id, at) SELECT USER, USER + n, AT FROM NUMBERS;
    INSERT INTO blocks (dj_id, guest_id, at) SELECT USER + n, USER, AT FROM NUMBERS;
    INSERT INTO sessions (id, user_id, began_at, used_at, expires_at, ended_at, address, agent)
        SELECT n, USER, AT, AT, AT, AT, '192.0.2.1', 'Browser' FROM NUMBERS;
    INSERT INTO login_networks (user_id, network, seen_at) SELECT USER, n || '.example/32', AT FROM NUMBERS;
    INSERT INTO webhook_endpoints (owner_id, feed, url, state, secrets, cursor, created_at)
        VALUES (USER, 'own', 'https://example.com', 'active', 's', 0, AT);
    INSERT INTO webhook_deliveries (endpoint_id, position, attempts, failed_at) SELECT 1, n, 10, AT FROM NUMBERS;
    INSERT INTO topups (id, user_id, amount, status, created_at, updated_at)
        SELECT n, USER, {money 1}, CASE n % 5 WHEN 0 THEN 'failed' ELSE 'pending' END, AT, AT FROM NUMBERS";

/// Sessions, networks, blocks and failed deliveries to a webhook endpoint also exceed one batch. Top-ups that are
/// still pending delay only the end of the erasure.
pub async fn pending_topups_do_not_delay_the_removal_of_sessions(database: &dyn SqlFixture) {
    let store = database.store();
    let user = guest(store, 0).await;
    let at = format!("{{time {}}}", now().unix_micros());
    let rows = ROWS.replace("NUMBERS", &numbers(2_500)).replace("USER", &user.to_string()).replace("AT", &at);
    database.execute(&rows).await;
    let later = now().plus(time::Duration::seconds(1));
    assert_eq!(erase(store, user, now(), later).await.unwrap(), Erased::Done);
    store.finish_erasures().await.unwrap();
    for (rows, left) in [
        ("blocks", 0),
        ("login_networks", 0),
        ("webhook_endpoints", 0),
        ("webhook_deliveries", 0),
        ("sessions WHERE coalesce(address, agent) IS NOT NULL", 0),
        ("topups WHERE status = 'pending'", 2_000),
    ] {
        assert_eq!(database.number(&format!("SELECT count(*) FROM {rows}")).await, left, "{rows}");
    }
    assert!(is_pending(database, user).await);
    database.execute("UPDATE topups SET status = 'failed'").await;
    store.finish_erasures().await.unwrap();
    assert!(!is_pending(database, user).await);
}
