//! The ledger port: plans go to the writer, keys are looked up.

use async_trait::async_trait;
use cuepoint_domain::operation::{KeyRecord, KeyScope, Plan};
use cuepoint_domain::ports::{Applied, ApplyError, Ledger, Unavailable};
use cuepoint_store_sql::rows::{StoredKey, StoredOperation};
use cuepoint_store_sql::schema::{idempotency_keys, operations};
use diesel::prelude::*;

use crate::SqlStore;
use crate::dialect::RunQueryDsl;

#[async_trait]
impl Ledger for SqlStore {
    async fn apply(&self, plan: Plan) -> Result<Applied, ApplyError> {
        self.writer.apply(plan).await
    }

    async fn find_key(&self, scope: &KeyScope) -> Result<Option<KeyRecord>, Unavailable> {
        let found = self.read(*scope, async |mut connection, scope| {
            let found = idempotency_keys::table
                .inner_join(operations::table)
                .filter(idempotency_keys::scope.eq(scope.0.to_vec()))
                .select((StoredKey::as_select(), StoredOperation::as_select()));
            let found: Option<(StoredKey, StoredOperation)> =
                found.get_result(&mut connection).await.optional()?;
            Ok(found)
        });
        let found = found.await?.map(|(key, operation)| key.record(&operation, &self.currency));
        found.transpose().map_err(Unavailable::new)
    }
}
