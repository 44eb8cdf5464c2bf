//! Redaction: profiles are removed from receipts in batches that are found by an index.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{
    Fingerprint, IdempotencyKey, KeyScope, OperationMetadata, Rejection, StoredReceipt, plans,
};
use cuepoint_domain::ports::{ApplyError, Ledger, Store};
use cuepoint_domain::user::ProfileChange;
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use time::Duration;

use crate::fixtures::{guest, metadata, now, number, open};

/// Adds operations of this user with receipts that show their profile, one second apart from `now()` on.
pub(crate) fn add_profile_changes(connection: &mut SqliteConnection, user: UserId, changes: i64) {
    let add = format!(
        "INSERT INTO operations (id, kind, actor_user_id, at, receipt) \
         WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {changes}) \
         SELECT randomblob(16), 'profile', id, (1767225600 + n) * 1000000, json_object('profile', json_object( \
             'user', json_object('id', id, 'name', 'Formerly ' || n, 'email', email), \
             'balance', json_object('available', '0', 'held', '0', 'owed', '0'))) \
         FROM users, numbers WHERE users.id = {user}"
    );
    let added = diesel::sql_query(add).execute(connection).unwrap();
    assert_eq!(i64::try_from(added).unwrap(), changes);
}

/// The number of receipts that show this user.
pub(crate) fn whole_receipts(connection: &mut SqliteConnection, user: UserId) -> i64 {
    let whole = format!(
        "SELECT count(*) FROM operations WHERE json_type(receipt, '$.profile.balance') IS NOT NULL \
         AND json_extract(receipt, '$.profile.user.id') = {user}"
    );
    number(connection, &whole)
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_purges_redact_more_profiles_than_one_batch() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let (user, mut connection) = (guest(&store, 0).await, directory.connection());
    add_profile_changes(&mut connection, user, 2_500);
    let later = now().plus(Duration::days(7)).plus(Duration::seconds(2_100));
    let (one, two) = tokio::join!(store.purge_expired(later), store.purge_expired(later));
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(whole_receipts(&mut connection, user), 400);
    let left: String = diesel::dsl::sql::<Text>("SELECT receipt FROM operations ORDER BY at LIMIT 1")
        .get_result(&mut connection)
        .unwrap();
    assert_eq!(left, format!(r#"{{"profile":{{"user":{{"id":{user}}}}}}}"#));
}

/// The purge of a server whose clock is fast waits for the machine's.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_purged_before_its_time_by_the_clock_of_the_machine() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let (user, mut connection) = (guest(&store, 0).await, directory.connection());
    add_profile_changes(&mut connection, user, 1);
    let fill = "DROP TRIGGER operations_are_never_changed; UPDATE operations SET at = unixepoch() * 1000000; \
        INSERT INTO security_events (kind, at) VALUES ('logged_in', (unixepoch() - 365 * 86400 + 60) * 1000000)";
    connection.batch_execute(fill).unwrap();
    store.purge_expired(now().plus(Duration::days(10_000))).await.unwrap();
    assert_eq!(whole_receipts(&mut connection, user), 1);
    assert_eq!(number(&mut connection, "SELECT count(*) FROM security_events"), 1);
}

/// A key that outlives its receipt, as with differing clocks, is a stale state, not a corrupt row.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_with_a_redacted_receipt_is_stale() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
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
    let redact = format!(
        "UPDATE operations SET receipt = json_object('profile', json_object('user', json_object('id', {user})))"
    );
    diesel::sql_query(redact).execute(&mut directory.connection()).unwrap();
    let stored = store.find_key(&scope).await.unwrap().unwrap().receipt;
    assert_eq!(stored, StoredReceipt::Redacted { operation: first.metadata().operation, user });
    for plan in [plan(), first] {
        let answer = store.apply(plan).await;
        assert!(matches!(answer, Err(ApplyError::Rejected(Rejection::Stale))), "{answer:?}");
    }
}
