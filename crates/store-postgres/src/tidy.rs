//! Readiness, and the removal of what is no longer kept.

use std::time::Duration;

use async_trait::async_trait;
use cuepoint_domain::ledger::KeyRecord;
use cuepoint_domain::ports::{Store, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use diesel::sql_types::{BigInt, Text, Timestamptz};
use diesel_async::RunQueryDsl;
use tokio::time::timeout;

use crate::PostgresStore;
use crate::database::Failure;
use crate::rows::column_time;

/// How long the database may take to be ready.
const READY: Duration = Duration::from_millis(1_800);
/// How many rows one statement deletes at most, so that none takes long.
const BATCH: usize = 1_000;

const OLD_KEYS: &str = "DELETE FROM idempotency_keys WHERE scope IN \
    (SELECT scope FROM idempotency_keys WHERE at <= $1 LIMIT $2)";
const OLD_TOKENS: &str = "DELETE FROM refresh_tokens WHERE hash IN \
    (SELECT hash FROM refresh_tokens WHERE expires_at <= $1 LIMIT $2)";
const EMPTY_FAMILIES: &str = "DELETE FROM refresh_token_families WHERE id IN \
    (SELECT id FROM refresh_token_families AS family WHERE created_at <= $1 AND NOT EXISTS \
    (SELECT FROM refresh_tokens WHERE family_id = family.id) LIMIT $2)";

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
        let asked = self.database.read(async |connection| {
            let writes = (pg_is_in_recovery(), current_setting("transaction_read_only"));
            Ok(diesel::select(writes).get_result::<(bool, String)>(connection).await?)
        });
        let (standby, read_only) = timeout(READY, asked).await.unwrap_or(Err(Failure::Deadline))?;
        if standby || read_only == "on" {
            return Err(Unavailable::new("the database can only be read"));
        }
        Ok(())
    }

    async fn tidy(&self, now: Timestamp) -> Result<(), Unavailable> {
        let oldest_key = now.minus(KeyRecord::KEPT);
        for (statement, until) in [(OLD_KEYS, oldest_key), (OLD_TOKENS, now), (EMPTY_FAMILIES, now)] {
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
