//! The purge of rows past their retention.

use cuepoint_domain::challenge::Challenge;
use cuepoint_domain::code_quotas;
use cuepoint_domain::ledger::KeyRecord;
use cuepoint_domain::network::KnownNetwork;
use cuepoint_domain::security_log::SecurityEvent;
use cuepoint_domain::session::Session;
use cuepoint_domain::timestamp::Timestamp;
use diesel::pg::data_types::PgInterval;
use diesel::sql_types::{BigInt, Interval, Timestamptz};
use diesel_async::RunQueryDsl;
use time::Duration;

use super::redaction::redact_due;
use crate::connect::failure::Failure;
use crate::connect::pool::Database;
use crate::rows::{column_time, micros_of};

/// How many rows one statement deletes at most, so that none takes long.
const BATCH: usize = 1_000;

/// Deletes a batch of rows of a table, by its key, that are older than an interval by the server's clock and
/// by the database's: a server whose clock is ahead deletes nothing too early.
macro_rules! purge {
    ($table:literal, $key:literal, $at:literal) => {
        concat!(
            "DELETE FROM ",
            $table,
            " WHERE ",
            $key,
            " IN (SELECT ",
            $key,
            " FROM ",
            $table,
            " WHERE ",
            $at,
            " <= least($1, now()) - $2 LIMIT $3)"
        )
    };
}

/// What is purged, and how long it is kept.
const RETENTION: [(&str, Duration); 7] = [
    (purge!("idempotency_keys", "scope", "at"), KeyRecord::KEPT),
    (purge!("refresh_tokens", "hash", "expires_at"), Duration::ZERO),
    (purge!("sessions", "id", "least(ended_at, expires_at)"), Session::KEPT),
    (purge!("login_networks", "id", "seen_at"), KnownNetwork::KEPT),
    (purge!("challenges", "id", "issued_at"), Challenge::KEPT),
    (purge!("phone_codes", "id", "sent_at"), code_quotas::WINDOW),
    (purge!("security_events", "id", "at"), SecurityEvent::KEPT),
];

/// Deletes what is past its retention, and redacts receipts that are, from the feature level on that has them
/// redacted.
pub(crate) async fn purge_expired(database: &Database, now: Timestamp) -> Result<(), Failure> {
    for (statement, kept_for) in RETENTION {
        let mut deleted = BATCH;
        while deleted >= BATCH {
            deleted = database
                .write(async |connection| {
                    let statement = diesel::sql_query(statement)
                        .bind::<Timestamptz, _>(column_time(now))
                        .bind::<Interval, _>(PgInterval::from_microseconds(micros_of(kept_for)))
                        .bind::<BigInt, _>(i64::try_from(BATCH).unwrap_or(i64::MAX));
                    Ok(statement.execute(connection).await?)
                })
                .await?;
        }
    }
    if !database.cluster().feature_level().redacts_receipts() {
        return Ok(());
    }
    // After the keys, so that every key that is found stands for a whole answer.
    redact_due(database, now).await
}
