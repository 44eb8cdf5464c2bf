//! Redaction: profiles are removed from receipts in batches that are found by an index.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{
    Fingerprint, IdempotencyKey, KeyScope, OperationMetadata, Rejection, StoredReceipt, plans,
};
use cuepoint_domain::ports::{ApplyError, Ledger, Store};
use cuepoint_domain::user::ProfileChange;
use cuepoint_store_postgres::testing::TestDatabase;
use time::Duration;
use tokio_postgres::Client;

use crate::scenario::{client, guest, metadata, now, open};

/// Adds operations of this user with receipts that show their profile, one second apart from `now()` on.
pub(crate) async fn add_profile_changes(client: &Client, user: UserId, number: i64) {
    let add = "INSERT INTO operations (id, kind, actor_user_id, at, receipt) \
        SELECT gen_random_uuid(), 'profile', users.id, to_timestamp(1767225600 + n), jsonb_build_object('profile', \
            jsonb_build_object('user', to_jsonb(users) || jsonb_build_object('name', 'Formerly ' || n), \
                'balance', '{\"available\": \"0\", \"held\": \"0\", \"owed\": \"0\"}'::jsonb)) \
        FROM users, generate_series(1, $2::bigint) AS n WHERE users.id = $1";
    let added = client.execute(add, &[&user.get(), &number]).await.unwrap();
    assert_eq!(i64::try_from(added).unwrap(), number);
}

/// The number of receipts that show this user.
pub(crate) async fn whole_receipts(client: &Client, user: UserId) -> i64 {
    let whole = "SELECT count(*) FROM operations WHERE (receipt -> 'profile') ? 'balance' \
        AND (receipt #>> '{profile,user,id}')::bigint = $1";
    client.query_one(whole, &[&user.get()]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_redact_more_profiles_than_one_batch() {
    let database = TestDatabase::create().await;
    let (store, other) = (open(database.url()).await, open(database.url()).await);
    let (user, client) = (guest(&store, 0).await, client(database.url()).await);
    add_profile_changes(&client, user, 2_500).await;
    let (one, two) = tokio::join!(
        store.purge_expired(now().plus(Duration::days(7)).plus(Duration::seconds(2_100))),
        other.purge_expired(now().plus(Duration::days(7)).plus(Duration::seconds(2_100)))
    );
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(whole_receipts(&client, user).await, 400);
    let left: String = client
        .query_one("SELECT receipt::text FROM operations ORDER BY at LIMIT 1", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(left, format!(r#"{{"profile": {{"user": {{"id": {user}}}}}}}"#));
}

/// No scan of the table is needed to find that no receipt is due.
#[tokio::test(flavor = "multi_thread")]
async fn due_receipts_are_found_by_an_index() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let (user, client) = (guest(&store, 0).await, client(database.url()).await);
    add_profile_changes(&client, user, 5_000).await;
    store.purge_expired(now().plus(Duration::days(8))).await.unwrap();
    client.batch_execute("VACUUM ANALYZE operations").await.unwrap();
    let due = "EXPLAIN SELECT id, at FROM operations \
        WHERE (receipt -> 'profile') ? 'balance' AND (at, id) > ('epoch', '00000000-0000-0000-0000-000000000000') \
        AND at <= least('2027-01-01', now()) - interval '7 days' ORDER BY at, id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED";
    let plan: Vec<String> =
        client.query(due, &[]).await.unwrap().iter().map(|row| row.get::<_, String>(0)).collect();
    assert!(plan.iter().any(|line| line.contains("operations_whole_profiles")), "{plan:?}");
}

/// A key that outlives its receipt, as with differing clocks, is a stale state, not a corrupt row.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_with_a_redacted_receipt_is_stale() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 0).await;
    let (scope, fingerprint) = (KeyScope([1; 32]), Fingerprint([2; 32]));
    let plan = || {
        let key = Some(IdempotencyKey { scope, fingerprint });
        plans::change_profile(
            OperationMetadata { key, ..metadata(&store, user) },
            user,
            ProfileChange::default(),
        )
    };
    let first = plan();
    store.apply(first.clone()).await.unwrap();
    let redact = "UPDATE operations SET receipt = jsonb_build_object('profile', jsonb_build_object('user', \
        jsonb_build_object('id', $1::bigint)))";
    client(database.url()).await.execute(redact, &[&user.get()]).await.unwrap();
    let stored = store.find_key(&scope).await.unwrap().unwrap().receipt;
    assert_eq!(stored, StoredReceipt::Redacted { operation: first.metadata().operation, user });
    for plan in [plan(), first] {
        let answer = store.apply(plan).await;
        assert!(matches!(answer, Err(ApplyError::Rejected(Rejection::Stale))), "{answer:?}");
    }
}
