//! Readiness, and the purge of rows past their retention.

use std::time::Duration as Wait;

use async_trait::async_trait;
use cuepoint_domain::challenge::Challenge;
use cuepoint_domain::code_quotas;
use cuepoint_domain::ledger::KeyRecord;
use cuepoint_domain::network::KnownNetwork;
use cuepoint_domain::ports::{Store, Unavailable};
use cuepoint_domain::security_log::SecurityEvent;
use cuepoint_domain::session::Session;
use cuepoint_domain::timestamp::Timestamp;
use diesel::IntoSql;
use diesel::pg::data_types::PgInterval;
use diesel::sql_types::{BigInt, Integer, Interval, Timestamptz};
use diesel_async::RunQueryDsl;
use futures_util::future::try_join;
use time::Duration;
use tokio::time::timeout;

use crate::PostgresStore;
use crate::database::Failure;
use crate::redaction::redact_due;
use crate::rows::{column_time, micros_of};

/// How long the database may take to be ready.
const READY: Wait = Wait::from_millis(1_800);
/// How many rows one statement deletes at most, so that none takes long.
const BATCH: usize = 1_000;

/// Deletes a batch of rows of a table, by its key, that are older than an interval by the server's clock and by the
/// database's: a server whose clock is ahead deletes nothing too early.
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

#[async_trait]
impl Store for PostgresStore {
    async fn ready(&self) -> Result<(), Unavailable> {
        self.database.tell();
        let read = self.database.read_by_pool(async |mut connection| {
            Ok(diesel::select(1_i32.into_sql::<Integer>()).get_result::<i32>(&mut connection).await?)
        });
        let reads = async { read.await.map(drop).map_err(Unavailable::from) };
        let both = async { try_join(reads, self.writer.prove()).await.map(drop) };
        timeout(READY, both).await.unwrap_or_else(|_| Err(Failure::Deadline.into()))
    }

    async fn tidy(&self, now: Timestamp) -> Result<(), Unavailable> {
        for (statement, kept_for) in RETENTION {
            let mut deleted = BATCH;
            while deleted >= BATCH {
                deleted = self
                    .database
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
        if !self.database.cluster().feature_level().redacts_receipts() {
            return Ok(());
        }
        // After the keys, so that every key that is found stands for a whole answer.
        Ok(redact_due(&self.database, now).await?)
    }
}
