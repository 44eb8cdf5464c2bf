//! The erasure of a user with many rows delays no other user.

use std::sync::Arc;

use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::operation::{Rejection, plans};
use cuepoint_domain::ports::{ApplyError, Erased, Ledger, People};
use cuepoint_domain::user::ProfileChange;
use cuepoint_store_sql_tests::erasure_at_size::is_pending;
use cuepoint_store_sql_tests::redaction::{add_profile_changes, whole_receipts};

use crate::scenario::{client, guest, metadata, now, open, topup, until};
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
        tokio::spawn(async move { store.erase(user, now(), now()).await.unwrap() })
    };
    until("the erasure is committed", || is_pending(&database, user)).await;
    store.apply(topup(&*store, stranger, 1).await).await.unwrap();
    let change = plans::change_profile(metadata(&*store, user), user, ProfileChange::default());
    let refused = store.apply(change).await;
    assert!(
        matches!(refused, Err(ApplyError::Rejected(Rejection::Missing(EntityKind::User)))),
        "a plan about an erased user is answered: {refused:?}"
    );
    assert_eq!(erasing.await.unwrap(), Erased::Done);
    assert!(whole_receipts(&database, user).await > 0 && is_pending(&database, user).await);

    // Any server continues, like a restarted one.
    holder.batch_execute("ROLLBACK").await.unwrap();
    open(database.url()).await.finish_erasures().await.unwrap();
    assert_eq!(whole_receipts(&database, user).await, 0);
    assert!(!is_pending(&database, user).await);
}
