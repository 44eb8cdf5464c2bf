//! Redaction on a server with a fast clock.

use cuepoint_domain::ports::Store;
use cuepoint_store_sql_tests::SqlFixture;
use cuepoint_store_sql_tests::redaction::{add_profile_changes, whole_receipts};
use time::Duration;

use crate::fixtures::{guest, now};
use crate::suite::database;

/// The purge of a server whose clock is fast waits for the machine's.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_a_fast_clock_does_not_purge_early() {
    let database = database().await;
    let user = guest(&*database.store, 0).await;
    add_profile_changes(&database, user, 1).await;
    let fill = "DROP TRIGGER operations_are_never_changed; UPDATE operations SET at = unixepoch() * 1000000; \
        INSERT INTO security_events (kind, at) VALUES ('logged_in', (unixepoch() - 365 * 86400 + 60) * 1000000)";
    database.execute(fill).await;
    database.store.purge_expired(now().plus(Duration::days(10_000))).await.unwrap();
    assert_eq!(whole_receipts(&database, user).await, 1);
    assert_eq!(database.number("SELECT count(*) FROM security_events").await, 1);
}
