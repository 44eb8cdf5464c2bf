//! The operations that moved or approved withdrawals.

use std::collections::HashMap;

use cuepoint_domain::audit::Trace;
use cuepoint_store_sql::rows::StoredOperation;
use diesel::sql_types::{Array, BigInt};
use diesel_async::RunQueryDsl;

use super::{End, Showing, patiently, read};
use crate::statement::{Columns, statement};

statement! {
    /// The operations that moved or approved withdrawals.
    WithdrawalOperations("withdrawal_operations.sql") [
        withdrawals: Array<BigInt> as Vec<i64>,
    ] -> (BigInt, Columns<StoredOperation>)
}

impl Showing<'_> {
    /// Adds the outcomes of the operations that moved or approved these withdrawals, including those without
    /// entries.
    pub(super) async fn moves(&mut self, ids: Vec<i64>, traces: &mut HashMap<i64, Trace>) -> Result<(), End> {
        let query = WithdrawalOperations { withdrawals: ids };
        let load = query.load::<(i64, StoredOperation)>(self.connection);
        for (id, row) in patiently(async { Ok(load.await?) }).await? {
            let name = format!("operation {}", row.id.simple());
            traces.entry(id).or_default().moves.push(read(name, row.receipt(self.currency))?);
        }
        Ok(())
    }
}
