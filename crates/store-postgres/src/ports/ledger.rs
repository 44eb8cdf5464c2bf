//! The ledger port: plans go to the writer, keys are looked up.

use async_trait::async_trait;
use cuepoint_domain::operation::{KeyRecord, KeyScope, Plan};
use cuepoint_domain::ports::{Applied, ApplyError, Ledger, Unavailable};
use cuepoint_store_sql::rows::{StoredKey, StoredOperation};
use cuepoint_store_sql::schema::{idempotency_keys, operations};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::PostgresStore;

#[async_trait]
impl Ledger for PostgresStore {
    async fn apply(&self, plan: Plan) -> Result<Applied, ApplyError> {
        self.writer.apply(plan).await
    }

    async fn find_key(&self, scope: &KeyScope) -> Result<Option<KeyRecord>, Unavailable> {
        let found: Option<(StoredKey, StoredOperation)> = self
            .database
            .read(async |mut connection| {
                Ok(idempotency_keys::table
                    .inner_join(operations::table)
                    .filter(idempotency_keys::scope.eq(scope.0.as_slice()))
                    .select((StoredKey::as_select(), StoredOperation::as_select()))
                    .get_result(&mut connection)
                    .await
                    .optional()?)
            })
            .await?;
        found
            .map(|(key, operation)| key.record(&operation, &self.currency))
            .transpose()
            .map_err(Unavailable::new)
    }
}
