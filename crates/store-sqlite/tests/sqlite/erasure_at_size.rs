//! The erasure of a user with many rows continues after a restart.

use std::sync::Arc;

use cuepoint_domain::ports::Erased;
use cuepoint_store_sql_tests::SqlFixture;
use cuepoint_store_sql_tests::erasure_at_size::{is_pending, refuses_the_erased_alone};
use cuepoint_store_sql_tests::redaction::{add_profile_changes, whole_receipts};

use crate::fixtures::{erase, guest, now};
use crate::suite::database;

/// The user is erased by the first change; what remains of a long history is removed after a restart as well.
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_erasure_is_finished_after_a_restart() {
    let database = database().await;
    let store = Arc::clone(&database.store);
    let (user, stranger) = (guest(&*store, 0).await, guest(&*store, 0).await);
    add_profile_changes(&database, user, 20_000).await;
    let erasing = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { erase(&*store, user, now(), now()).await.unwrap() })
    };
    while !is_pending(&database, user).await {
        tokio::task::yield_now().await;
    }
    refuses_the_erased_alone(&*store, user, stranger).await;
    store.close().await;
    assert_eq!(erasing.await.unwrap(), Erased::Done);
    assert!(whole_receipts(&database, user).await > 0 && is_pending(&database, user).await);

    let store = database.reopen().await;
    assert_eq!(erase(&*store, user, now(), now()).await.unwrap(), Erased::Nobody);
    store.finish_erasures().await.unwrap();
    assert_eq!(whole_receipts(&database, user).await, 0);
    assert!(!is_pending(&database, user).await);
    store.close().await;
}
