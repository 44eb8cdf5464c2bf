//! The ledger port: plans go to the writer, keys and entities are looked up.

use async_trait::async_trait;
use cuepoint_domain::entities;
use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::{Entity, KeyRecord, KeyScope, Plan};
use cuepoint_domain::ports::{Applied, ApplyError, Ledger, Unavailable};
use cuepoint_store_sql::rows::{StoredKey, StoredOperation};
use cuepoint_store_sql::schema::{self, idempotency_keys, operations};
use cuepoint_store_sql::{RowOf, Rowed};
use diesel::prelude::*;

use crate::SqlStore;
use crate::dialect::{Reading, RunQueryDsl, StoreFailure};

/// Declares how a stored entity is read by its id.
macro_rules! read_entity {
    (
        stored { $($Kind:ident($Type:ty, $Id:ident) in $table:ident { $($facts:tt)+ })+ }
        recorded { $($Recorded:ident($RecordedType:ty, $RecordedId:ident) { $($recorded_facts:tt)+ })+ }
    ) => {
        /// Reads a stored entity.
        async fn entity(
            mut connection: Reading<'_>,
            reference: EntityRef,
            currency: &Currency,
        ) -> Result<Option<Entity>, StoreFailure> {
            match reference {
                $(EntityRef::$Kind(id) => {
                    let row = schema::$table::table.find(id.get()).select(<RowOf<$Type>>::as_select());
                    let row: Option<RowOf<$Type>> = row.get_result(&mut connection).await.optional()?;
                    Ok(row.map(|row| <$Type>::of_row(row, currency)).transpose()?.map(Entity::$Kind))
                })+
                EntityRef::Unknown { .. } $(| EntityRef::$Recorded(_))+ => Ok(None),
            }
        }
    };
}

entities!(read_entity);

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

    async fn entity(&self, reference: EntityRef) -> Result<Option<Entity>, Unavailable> {
        self.read((reference, self.currency.clone()), async |connection, (reference, currency)| {
            entity(connection, reference, &currency).await
        })
        .await
    }
}
