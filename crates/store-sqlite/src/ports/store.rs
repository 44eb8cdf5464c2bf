//! The store as a whole.

use async_trait::async_trait;
use cuepoint_domain::ports::{Store, Unavailable};
use cuepoint_domain::timestamp::Timestamp;

use super::unfinished::unfinished;
use crate::SqliteStore;

#[async_trait]
impl Store for SqliteStore {
    async fn ready(&self) -> Result<(), Unavailable> {
        Ok(self.writer.prove().await?)
    }

    async fn purge_expired(&self, _: Timestamp) -> Result<(), Unavailable> {
        unfinished()
    }

    async fn close(&self) {
        SqliteStore::close(self).await;
    }
}
