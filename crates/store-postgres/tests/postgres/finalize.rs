//! The end of an upgrade: its preconditions, and how running servers learn of it.

use cuepoint_domain::money::BasisPoints;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::operation::{Entity, Rejection, plans};
use cuepoint_domain::ports::{
    Applied, ApplyError, Erased, Ids, Ledger, PasswordHash, People, Registered, Sessions, Store, Withdrawals,
};
use cuepoint_domain::user::User;
use cuepoint_domain::withdrawal::Move;
use cuepoint_store_postgres::testing::TestDatabase;
use cuepoint_store_postgres::{PostgresStore, finalize_upgrade};
use cuepoint_store_sql_tests::redaction::{add_profile_changes, whole_receipts};
use time::Duration;
use tokio_postgres::Client;

use crate::scenario::{
    amount, available, client, dj, erase, gig, guest, metadata, now, open, tip, until, withdrawal,
};
use crate::suite::database;

/// The lock that connections of the first version share.
const FIRST_VERSION: &str = "SELECT pg_advisory_lock_shared(x'726573746f726521'::bigint)";

fn name(url: &str) -> &str {
    url.rsplit_once('/').unwrap().1
}

/// Turns the database into one that servers of the first version began.
async fn as_of_the_first_version(url: &str) -> Client {
    open(url).await.close().await;
    let owner = client(url).await;
    owner.batch_execute("UPDATE deployment SET feature_level = 0").await.unwrap();
    owner
}

/// Approves, as an operator, a new withdrawal that needs two approvals.
async fn approve(store: &PostgresStore) -> Result<Applied, ApplyError> {
    let (owner, operator) = (guest(store, 20_00).await, guest(store, 0).await);
    let opened = store.apply(withdrawal(store, owner, 10_00, "T9").await).await.unwrap();
    let Applied::Fresh(receipt) = opened else { panic!("{opened:?}") };
    let id = match receipt.outcome {
        cuepoint_domain::operation::Outcome { entity: Entity::Withdrawal(withdrawal), .. } => withdrawal.id,
        other => panic!("{other:?}"),
    };
    let stored = store.withdrawal(id).await.unwrap().unwrap();
    let by_two = Move::Approve { by: Some(operator), second_above: Some(amount(1_00)) };
    let plan = plans::move_withdrawal(metadata(store, operator), &stored, by_two).unwrap();
    let answer = store.apply(plan).await;
    let after = store.withdrawal(id).await.unwrap().unwrap();
    assert_eq!(after.approvals.len(), usize::from(answer.is_ok()));
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_deployment_starts_at_the_newest_feature_level() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    assert!(matches!(approve(&store).await, Ok(Applied::Fresh(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn finalizing_requires_that_no_older_server_is_connected() {
    let database = TestDatabase::create().await;
    let (url, name) = (database.url(), name(database.url()));
    as_of_the_first_version(url).await;
    let store = open(url).await;
    let refused = approve(&store).await;
    assert!(matches!(refused, Err(ApplyError::Rejected(Rejection::NotFinalized))), "{refused:?}");

    let older = client(url).await;
    older.batch_execute(FIRST_VERSION).await.unwrap();
    let wrong = finalize_upgrade(url, "cuepoint").await.unwrap_err().to_string();
    assert!(wrong.contains("--database-name"), "{wrong}");
    let beside = finalize_upgrade(url, name).await.unwrap_err().to_string();
    assert!(beside.contains("servers of an earlier version have 1 connections"), "{beside}");
    drop(older);
    until("the old server is gone", || async {
        finalize_upgrade(url, name).await.is_ok_and(|before| before == FeatureLevel::Level0)
    })
    .await;
    assert_eq!(finalize_upgrade(url, name).await.unwrap(), FeatureLevel::NEWEST);

    // The read that a running server repeats every second.
    store.revoked_since(now()).await.unwrap();
    assert!(matches!(approve(&store).await, Ok(Applied::Fresh(_))));
}

/// Creates a guest account without a session.
async fn create_guest(store: &PostgresStore) -> Registered {
    let id = store.next_user().await.unwrap();
    let registered =
        store.register(&User::guest(id, None, now()), &PasswordHash::none(), None).await.unwrap();
    assert_eq!(store.profile(id).await.unwrap().is_some(), registered == Registered::Done);
    registered
}

#[tokio::test(flavor = "multi_thread")]
async fn guest_accounts_and_tips_require_feature_level_2() {
    let database = TestDatabase::create().await;
    let url = database.url();
    let store = open(url).await;
    let (payer, dj) = (guest(&store, 5_00).await, dj(&store).await);
    let gig = gig(&store, dj).await;
    let owner = client(url).await;
    owner.batch_execute("UPDATE deployment SET feature_level = 1").await.unwrap();
    store.revoked_since(now()).await.unwrap();
    let tip = tip(&store, payer, &gig, 2_00, BasisPoints::default()).await;
    assert_eq!(create_guest(&store).await, Registered::NotYet);
    let refused = store.apply(tip.clone()).await;
    assert!(matches!(refused, Err(ApplyError::Rejected(Rejection::NotFinalized))), "{refused:?}");
    assert_eq!((available(&store, payer).await, available(&store, dj).await), (5_00, 0));

    finalize_upgrade(url, name(url)).await.unwrap();
    store.revoked_since(now()).await.unwrap();
    assert_eq!(create_guest(&store).await, Registered::Done);
    assert!(matches!(store.apply(tip).await, Ok(Applied::Fresh(_))));
    assert_eq!((available(&store, payer).await, available(&store, dj).await), (3_00, 2_00));
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_are_redacted_only_after_the_upgrade_is_finalized() {
    let database = database().await;
    let url = database.url();
    as_of_the_first_version(url).await;
    let store = open(url).await;
    let user = guest(&store, 0).await;
    add_profile_changes(&database, user, 3).await;
    let later = now().plus(Duration::days(8));
    store.purge_expired(later).await.unwrap();
    assert_eq!(whole_receipts(&database, user).await, 3);

    finalize_upgrade(url, name(url)).await.unwrap();
    store.revoked_since(now()).await.unwrap();
    store.purge_expired(later).await.unwrap();
    assert_eq!(whole_receipts(&database, user).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_older_servers_add_for_erased_users_are_removed_after_the_upgrade() {
    let database = TestDatabase::create().await;
    let url = database.url();
    let owner = as_of_the_first_version(url).await;
    let store = open(url).await;
    let user = guest(&store, 0).await;
    assert_eq!(erase(&store, user, now(), now()).await.unwrap(), Erased::Done);
    let add = "INSERT INTO login_networks (user_id, network, seen_at) VALUES ($1, '203.0.113.7/32', now())";
    owner.execute(add, &[&user.get()]).await.unwrap();
    finalize_upgrade(url, name(url)).await.unwrap();
    store.finish_erasures().await.unwrap();
    let left = owner.query_one("SELECT count(*) FROM login_networks", &[]).await.unwrap();
    assert_eq!(left.get::<_, i64>(0), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn finalizing_a_database_that_no_server_has_used_is_refused() {
    let database = TestDatabase::create().await;
    let refused = finalize_upgrade(database.url(), name(database.url())).await.unwrap_err().to_string();
    assert!(refused.contains("no server was ever started"), "{refused}");
}
