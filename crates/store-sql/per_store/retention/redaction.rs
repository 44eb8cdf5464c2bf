//! Redaction: in receipts of profile and account changes, the profile is replaced by the user's id. Each
//! batch is a transaction of its own, which locks only its receipts.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::Receipt;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use diesel::deserialize::Queryable;
use tokio::time::Instant;
use uuid::Uuid;

use super::pace::Pace;
use super::statements::{PURGE_PACE, redact_some_due, redact_some_of};
use crate::SqlStore;

/// The last receipt of a batch: the next batch begins after it, so that none scans the rows of earlier ones.
#[derive(Clone, Copy, Queryable)]
pub(super) struct Position {
    pub(super) at: Timestamp,
    pub(super) id: Uuid,
}

impl Position {
    const START: Self = Self { at: Timestamp::EPOCH, id: Uuid::nil() };
}

/// Redacts all receipts past [`Receipt::RETENTION`].
pub(super) async fn redact_due(store: &SqlStore, now: Timestamp) -> Result<(), Unavailable> {
    let mut position = Some(Position::START);
    while let Some(after) = position {
        let began = Instant::now();
        let batch = store.write_repeatable((after, now), async |connection, (after, now)| {
            redact_some_due(connection, after, now, Receipt::RETENTION).await
        });
        position = batch.await?;
        if position.is_some() {
            PURGE_PACE.rest(began).await;
        }
    }
    Ok(())
}

/// Redacts every receipt that shows this user, who is erased and changes no more.
pub(super) async fn redact_person(store: &SqlStore, user: UserId, pace: Pace) -> Result<(), Unavailable> {
    let mut position = Some(Position::START);
    while let Some(after) = position {
        let began = Instant::now();
        let batch = store.write_repeatable((after, user), async |connection, (after, user)| {
            redact_some_of(connection, after, user).await
        });
        position = batch.await?;
        if position.is_some() {
            pace.rest(began).await;
        }
    }
    Ok(())
}
