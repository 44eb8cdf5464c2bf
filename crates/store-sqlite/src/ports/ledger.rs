//! The ledger port.

use async_trait::async_trait;
use cuepoint_domain::operation::{KeyRecord, KeyScope, Plan};
use cuepoint_domain::ports::{Applied, ApplyError, Ledger, Unavailable};
use cuepoint_store_sql::rows::{StoredKey, StoredOperation};
use cuepoint_store_sql::schema::{idempotency_keys, operations};
use diesel::prelude::*;

use crate::SqliteStore;

#[async_trait]
impl Ledger for SqliteStore {
    async fn apply(&self, plan: Plan) -> Result<Applied, ApplyError> {
        self.writer.apply(plan).await
    }

    async fn find_key(&self, scope: &KeyScope) -> Result<Option<KeyRecord>, Unavailable> {
        self.readers.read(|connection| {
            let found = idempotency_keys::table
                .inner_join(operations::table)
                .filter(idempotency_keys::scope.eq(scope.0.to_vec()))
                .select((StoredKey::as_select(), StoredOperation::as_select()));
            let found: Option<(StoredKey, StoredOperation)> = found.get_result(connection).optional()?;
            Ok(found.map(|(key, operation)| key.record(&operation, &self.currency)).transpose()?)
        })
    }
}
