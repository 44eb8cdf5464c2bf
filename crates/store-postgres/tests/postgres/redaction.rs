//! Redaction: due receipts are found without a scan of their table.

use cuepoint_domain::ports::Store;
use cuepoint_store_sql_tests::redaction::add_profile_changes;
use time::Duration;

use crate::scenario::{guest, now};
use crate::suite::database;

#[tokio::test(flavor = "multi_thread")]
async fn receipts_due_for_redaction_are_found_by_an_index() {
    let database = database().await;
    let user = guest(&database.store, 0).await;
    add_profile_changes(&database, user, 5_000).await;
    database.store.purge_expired(now().plus(Duration::days(8))).await.unwrap();
    database.client.batch_execute("VACUUM ANALYZE operations").await.unwrap();
    let due = "EXPLAIN SELECT id, at FROM operations \
        WHERE (receipt -> 'profile') ? 'balance' AND (at, id) > ('epoch', '00000000-0000-0000-0000-000000000000') \
        AND at <= least('2027-01-01', now()) - interval '7 days' ORDER BY at, id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED";
    let plan: Vec<String> =
        database.client.query(due, &[]).await.unwrap().iter().map(|row| row.get::<_, String>(0)).collect();
    assert!(plan.iter().any(|line| line.contains("operations_whole_profiles")), "{plan:?}");
}
