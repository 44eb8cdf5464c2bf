//! Readiness, and the hourly purge.

use async_trait::async_trait;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::{Store, Unavailable};
use cuepoint_domain::timestamp::Timestamp;

use crate::SqliteStore;
use crate::retention::purge_expired;

#[async_trait]
impl Store for SqliteStore {
    async fn ready(&self) -> Result<(), Unavailable> {
        Ok(self.writer.prove().await?)
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
