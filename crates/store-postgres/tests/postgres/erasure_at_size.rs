//! The erasure of a user with many rows delays no other user.

use std::sync::Arc;

use cuepoint_domain::ports::{Erased, People};
use cuepoint_store_sql_tests::erasure_at_size::{is_pending, refuses_the_erased_alone};
use cuepoint_store_sql_tests::redaction::{add_profile_changes, whole_receipts};

use crate::scenario::{client, erase, guest, now, open, until};
use crate::suite::database;

/// The work under the locks that plans need does not grow with the user's history: long locks on the user's
/// other rows delay neither the erasure, nor a plan with the user, nor one of another user.
#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_does_not_wait_for_locked_history_rows() {
    let database = database().await;
    let store = Arc::new(open(database.url()).await);
    let (user, stranger) = (guest(&*store, 0).await, guest(&*store, 0).await);
    let holder = client(database.url()).await;
    add_profile_changes(&database, user, 3_000).await;
    holder
        .batch_execute("BEGIN; SELECT FROM operations WHERE kind = 'profile' ORDER BY at LIMIT 1 FOR UPDATE")
        .await
        .unwrap();
    let erasing = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { erase(&*store, user, now(), now()).await.unwrap() })
    };
    until("the erasure is committed", || is_pending(&database, user)).await;
    refuses_the_erased_alone(&*store, user, stranger).await;
    assert_eq!(erasing.await.unwrap(), Erased::Done);
    assert!(whole_receipts(&database, user).await > 0 && is_pending(&database, user).await);

    // Any server continues, like a restarted one.
    holder.batch_execute("ROLLBACK").await.unwrap();
    open(database.url()).await.finish_erasures().await.unwrap();
    assert_eq!(whole_receipts(&database, user).await, 0);
    assert!(!is_pending(&database, user).await);
}
