//! The purge of rows past their retention.

use cuepoint_domain::network::KnownNetwork;
use cuepoint_domain::operation::KeyRecord;
use cuepoint_domain::security_log::SecurityEvent;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::Purpose;
use cuepoint_domain::user::code_quotas;
use cuepoint_domain::user::session::Session;
use cuepoint_store_sql::sql_types::{ColumnTime, UtcTime};
use diesel::sql_types::{BigInt, Interval};
use diesel_async::RunQueryDsl;
use time::Duration;

use super::redaction::redact_due;
use crate::connect::failure::DatabaseFailure;
use crate::connect::pool::Database;
use crate::statement::interval;
use crate::statement::query;

/// The maximum number of rows that one statement deletes, so that none takes long.
const BATCH: usize = 1_000;

/// The statements of the purge, and the retention of their rows. The database's clock counts too, so that a
/// server with a fast clock deletes nothing too early.
const RETENTION: [(&str, Duration); 8] = [
    (include_str!("purge/idempotency_keys.sql"), KeyRecord::RETENTION),
    (include_str!("purge/refresh_tokens.sql"), Duration::ZERO),
    (include_str!("purge/sessions.sql"), Session::RETENTION),
    (include_str!("purge/login_networks.sql"), KnownNetwork::RETENTION),
    (include_str!("purge/challenges.sql"), Purpose::Email.kept_for()),
    (include_str!("purge/restorations.sql"), Purpose::EmailRestore.kept_for()),
    (include_str!("purge/phone_codes.sql"), code_quotas::WINDOW),
    (include_str!("purge/security_events.sql"), SecurityEvent::RETENTION),
];

/// Deletes rows past their retention, and redacts receipts past theirs if the feature level permits it.
pub(crate) async fn purge_expired(database: &Database, now: Timestamp) -> Result<(), DatabaseFailure> {
    for (file, kept_for) in RETENTION {
        let mut deleted = BATCH;
        while deleted >= BATCH {
            deleted = database
                .write(async |connection| {
                    let statement = query(file)
                        .bind::<UtcTime, _>(ColumnTime(now))
                        .bind::<Interval, _>(interval(kept_for))
                        .bind::<BigInt, _>(i64::try_from(BATCH).unwrap_or(i64::MAX));
                    Ok(statement.execute(connection).await?)
                })
                .await?;
        }
    }
    if !database.cluster().feature_level().redacts_receipts() {
        return Ok(());
    }
    // After the keys, so that every key that is found has a whole receipt.
    redact_due(database, now).await
}
