//! Redaction: profiles are removed from receipts in batches.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{
    Fingerprint, IdempotencyKey, KeyScope, OperationMetadata, Rejection, StoredReceipt, plans,
};
use cuepoint_domain::ports::ApplyError;
use cuepoint_domain::user::ProfileChange;
use time::Duration;

use crate::SqlFixture;
use crate::fixtures::{guest, metadata, now};

/// An operation with a receipt that shows the profile of its user; `NUMBERS` and `USER` are replaced.
const CHANGE: &str = r#"INSERT INTO operations (id, kind, actor_user_id, at, receipt)
    SELECT {new id}, 'profile', users.id, {time 1767225600000000} + n * {interval 1 second},
        ('{"profile":{"user":{"id":' || users.id || ',"name":"Formerly ' || n || '","email":"' || email || '"},'
        || '"balance":{"available":"0","held":"0","owed":"0"}}}'){as json}
    FROM users, NUMBERS WHERE users.id = USER"#;

/// The numbers from 1 to `most`, as a table with the column `n`.
pub(crate) fn numbers(most: i64) -> String {
    format!(
        "(WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < {most}) \
         SELECT n FROM series) AS numbers"
    )
}

/// Adds operations of this user with receipts that show their profile, one second apart, starting at `now()`.
pub async fn add_profile_changes(database: &dyn SqlFixture, user: UserId, changes: i64) {
    let add = CHANGE.replace("NUMBERS", &numbers(changes)).replace("USER", &user.to_string());
    database.execute(&add).await;
    assert_eq!(whole_receipts(database, user).await, changes);
}

/// The number of receipts that show this user.
pub async fn whole_receipts(database: &dyn SqlFixture, user: UserId) -> i64 {
    let whole = "SELECT count(*) FROM operations \
        WHERE {read profile.balance.available} IS NOT NULL AND {read profile.user.id} = 'USER'";
    database.count(&whole.replace("USER", &user.to_string())).await
}

/// Two servers purge, if several can use the database.
pub async fn concurrent_purges_redact_several_batches_of_profiles(database: &dyn SqlFixture) {
    let (store, other) = (database.store(), database.other_server().await);
    let user = guest(store, 0).await;
    add_profile_changes(database, user, 2_500).await;
    let later = now().plus(Duration::days(7)).plus(Duration::seconds(2_100));
    let (one, two) = tokio::join!(store.purge_expired(later), other.purge_expired(later));
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(whole_receipts(database, user).await, 400);
    let left = database.texts("SELECT CAST(receipt AS TEXT) FROM operations ORDER BY at LIMIT 1").await;
    assert_eq!(left[0].replace(' ', ""), format!(r#"{{"profile":{{"user":{{"id":{user}}}}}}}"#));
}

/// A key that outlives its receipt, as with differing clocks, is a stale state, not a corrupt row.
pub async fn keys_with_redacted_receipts_are_stale(database: &dyn SqlFixture) {
    let store = database.store();
    let user = guest(store, 0).await;
    let (scope, fingerprint) = (KeyScope([1; 32]), Fingerprint([2; 32]));
    let plan = || {
        let key = Some(IdempotencyKey { scope, fingerprint });
        plans::change_profile(
            OperationMetadata { key, ..metadata(store, user) },
            user,
            ProfileChange::default(),
        )
    };
    let first = plan();
    store.apply(first.clone()).await.unwrap();
    let redact = r#"UPDATE operations SET receipt = ('{"profile":{"user":{"id":USER}}}'){as json}"#;
    database.execute(&redact.replace("USER", &user.to_string())).await;
    let stored = store.find_key(&scope).await.unwrap().unwrap().receipt;
    assert_eq!(stored, StoredReceipt::Redacted { operation: first.metadata().operation, user });
    for plan in [plan(), first] {
        let answer = store.apply(plan).await;
        assert!(matches!(answer, Err(ApplyError::Rejected(Rejection::Stale))), "{answer:?}");
    }
}
