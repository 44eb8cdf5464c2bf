//! Readiness, and the hourly purge.

use std::time::Duration as Wait;

use async_trait::async_trait;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::{Store, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use diesel::IntoSql;
use diesel::sql_types::Integer;
use diesel_async::RunQueryDsl;
use futures_util::future::try_join;
use tokio::time::timeout;

use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::retention::purge_expired;

/// Time limit of the readiness check.
const READY: Wait = Wait::from_millis(1_800);

#[async_trait]
impl Store for PostgresStore {
    async fn ready(&self) -> Result<(), Unavailable> {
        self.database.report_sizes();
        let read = self.read_aside((), async |mut connection, ()| {
            Ok(diesel::select(1_i32.into_sql::<Integer>()).get_result::<i32>(&mut connection).await?)
        });
        let reads = async { read.await.map(drop) };
        let both = async { try_join(reads, self.writer.prove()).await.map(drop) };
        timeout(READY, both).await.unwrap_or_else(|_| Err(DatabaseFailure::Deadline.into()))
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<(), Unavailable> {
        purge_expired(self, now).await
    }

    fn feature_level(&self) -> FeatureLevel {
        Self::feature_level(self)
    }

    async fn close(&self) {
        Self::close(self).await;
    }
}
