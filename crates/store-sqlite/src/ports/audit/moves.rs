//! The operations that moved or approved withdrawals.

use std::collections::HashMap;

use cuepoint_domain::audit::Trace;
use cuepoint_store_sql::rows::StoredOperation;
use cuepoint_store_sql::schema::operations;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};

use super::{End, Showing, read, readable};
use crate::connect::failure::SqliteFailure;
use crate::dialect::RunQueryDsl;

/// The condition and the expression of the index of operations on withdrawals.
const ON_WITHDRAWALS: &str = "kind IN ('move_withdrawal', 'approve_withdrawal')";
const OF_WITHDRAWAL: &str = "json_extract(receipt, '$.withdrawal.withdrawal.id') = ";

impl Showing<'_> {
    /// Adds the outcomes of the operations that moved or approved these withdrawals, including those without
    /// entries.
    pub(super) async fn moves(&mut self, ids: Vec<i64>, traces: &mut HashMap<i64, Trace>) -> Result<(), End> {
        for id in ids {
            let query = operations::table
                .filter(sql::<Bool>(ON_WITHDRAWALS))
                .filter(sql::<Bool>(OF_WITHDRAWAL).bind::<BigInt, _>(id))
                .select(StoredOperation::as_select());
            let loaded = query.load::<StoredOperation>(self.connection).await.map_err(SqliteFailure::from);
            let row = || format!("an operation on withdrawal {id}");
            for row in readable(loaded, &mut 1, row)?.unwrap_or_default() {
                let name = format!("operation {}", row.id.simple());
                traces.entry(id).or_default().moves.push(read(name, row.receipt(self.currency))?);
            }
        }
        Ok(())
    }
}
