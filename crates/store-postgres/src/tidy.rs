//! Readiness, and the removal of what is no longer kept.

use std::time::Duration as Wait;

use async_trait::async_trait;
use cuepoint_domain::challenge::Challenge;
use cuepoint_domain::ledger::KeyRecord;
use cuepoint_domain::ports::{Store, Unavailable};
use cuepoint_domain::security_log::SecurityEvent;
use cuepoint_domain::session::Session;
use cuepoint_domain::timestamp::Timestamp;
use diesel::sql_types::{BigInt, Text, Timestamptz};
use diesel_async::RunQueryDsl;
use time::Duration;
use tokio::time::timeout;

use crate::PostgresStore;
use crate::database::Failure;
use crate::rows::column_time;

/// How long the database may take to be ready.
const READY: Wait = Wait::from_millis(1_800);
/// How many rows one statement deletes at most, so that none takes long.
const BATCH: usize = 1_000;

const OLD_KEYS: &str = "DELETE FROM idempotency_keys WHERE scope IN \
    (SELECT scope FROM idempotency_keys WHERE at <= $1 LIMIT $2)";
const OLD_TOKENS: &str = "DELETE FROM refresh_tokens WHERE hash IN \
    (SELECT hash FROM refresh_tokens WHERE expires_at <= $1 LIMIT $2)";
const OLD_SESSIONS: &str = "DELETE FROM sessions WHERE id IN \
    (SELECT id FROM sessions WHERE least(ended_at, expires_at) <= $1 LIMIT $2)";
const OLD_CHALLENGES: &str = "DELETE FROM challenges WHERE id IN \
    (SELECT id FROM challenges WHERE issued_at <= $1 LIMIT $2)";
// The server goes by its own clock as well: it lets no event go before.
const OLD_EVENTS: &str = "DELETE FROM security_events WHERE id IN (SELECT id FROM security_events \
    WHERE at <= least($1, now() - interval '365 days') LIMIT $2)";

diesel::define_sql_function! {
    /// A setting of the server.
    fn current_setting(name: Text) -> Text;
}
diesel::define_sql_function! {
    /// Whether the server only replays what another one does.
    fn pg_is_in_recovery() -> Bool;
}

#[async_trait]
impl Store for PostgresStore {
    async fn ready(&self) -> Result<(), Unavailable> {
        self.database.tell();
        let asked = self.database.read_by_pool(async |mut connection| {
            let writes = (pg_is_in_recovery(), current_setting("transaction_read_only"));
            Ok(diesel::select(writes).get_result::<(bool, String)>(&mut connection).await?)
        });
        let (standby, read_only) = timeout(READY, asked).await.unwrap_or(Err(Failure::Deadline))?;
        if standby || read_only == "on" {
            return Err(Unavailable::new("the database can only be read"));
        }
        Ok(())
    }

    async fn tidy(&self, now: Timestamp) -> Result<(), Unavailable> {
        let kept = [
            (OLD_KEYS, KeyRecord::KEPT),
            (OLD_TOKENS, Duration::ZERO),
            (OLD_SESSIONS, Session::KEPT),
            (OLD_CHALLENGES, Challenge::KEPT),
            (OLD_EVENTS, SecurityEvent::KEPT),
        ];
        for (statement, kept_for) in kept {
            let until = now.minus(kept_for);
            let mut deleted = BATCH;
            while deleted >= BATCH {
                deleted = self
                    .database
                    .write(async |connection| {
                        let statement = diesel::sql_query(statement)
                            .bind::<Timestamptz, _>(column_time(until))
                            .bind::<BigInt, _>(i64::try_from(BATCH).unwrap_or(i64::MAX));
                        Ok(statement.execute(connection).await?)
                    })
                    .await?;
            }
        }
        Ok(())
    }
}
