//! Redaction: in receipts of changes of users, the profile is replaced by the user's id. Each
//! batch is a transaction of its own, which locks only its receipts.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::Receipt;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use tokio::time::Instant;

use super::batches::{LastReceipt, Pace};
use super::statements::{PURGE_PACE, redact_some_due, redact_some_of};
use crate::SqlStore;

/// Redacts all receipts past [`Receipt::RETENTION`].
pub(super) async fn redact_due(store: &SqlStore, now: Timestamp) -> Result<(), Unavailable> {
    let mut last = Some(LastReceipt::START);
    while let Some(after) = last {
        let began = Instant::now();
        let batch = store.write_repeatable((after, now), async |connection, (after, now)| {
            redact_some_due(connection, after, now, Receipt::RETENTION).await
        });
        last = batch.await?;
        if last.is_some() {
            PURGE_PACE.rest(began).await;
        }
    }
    Ok(())
}

/// Redacts every receipt that shows this user, who is erased and changes no more.
pub(super) async fn redact_person(store: &SqlStore, user: UserId, pace: Pace) -> Result<(), Unavailable> {
    let mut last = Some(LastReceipt::START);
    while let Some(after) = last {
        let began = Instant::now();
        let batch = store.write_repeatable((after, user), async |connection, (after, user)| {
            redact_some_of(connection, after, user).await
        });
        last = batch.await?;
        if last.is_some() {
            pace.rest(began).await;
        }
    }
    Ok(())
}
