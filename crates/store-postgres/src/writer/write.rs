//! Writes the write set of a group with a few multi-row statements.

use std::mem;

use cuepoint_domain::entities;
use cuepoint_store_sql::rows::{
    StoredEntry, StoredKey, StoredPosting, StoredSecurityEvent, StoredTopup, StoredWallet,
};
use cuepoint_store_sql::table::Later;
use cuepoint_store_sql::{RowOf, WriteSet};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, try_join_all};

use super::operations::{self, InsertOperations};
use super::statements::{EndSessions, Insert, RemoveKeys, RowsStatement, Update};
use crate::connect::failure::DatabaseFailure;

/// Declares the statements that write a write set, in their order, each with its rows. Statements for entities come
/// first.
macro_rules! written {
    (
        stored { $($Kind:ident($Type:ty, $Id:ident) in $table:ident { $($facts:tt)+ })+ }
        recorded { $($recorded:tt)+ }
    ) => {
        written! { WriteSet {
            operations: _,
            entities,
            suspense,
            ended_sessions,
            wallets,
            replaced_keys,
            keys,
            entries,
            postings,
            events,
        } =>
            $(
                Insert<RowOf<$Type>> = entities.$table.opened.into_values(),
                Update<RowOf<$Type>> = entities.$table.moved.into_values(),
            )+
            Update<StoredTopup, Later> = suspense.into_values(),
            EndSessions = ended_sessions.into_values(),
            RemoveKeys = replaced_keys,
            Insert<StoredKey> = keys,
            Insert<StoredEntry> = entries,
            // After the entries: their check of wallets then finds the rows as the plan locked them.
            Update<StoredWallet> = wallets.into_values(),
            Insert<StoredPosting> = postings,
            Insert<StoredSecurityEvent> = events,
        }
    };
    ($set:pat => $($statement:ty = $rows:expr,)+) => {
        /// The tables of these statements, some of them several times, and that of operations.
        pub(super) const TABLES: &[&str] =
            &[$(<$statement as RowsStatement>::TABLE,)+ <InsertOperations as RowsStatement>::TABLE];

        /// Returns the statements that have rows.
        fn statements(
            $set: WriteSet,
            connection: &AsyncPgConnection,
        ) -> Vec<BoxFuture<'_, Result<usize, DatabaseFailure>>> {
            let mut statements = Vec::new();
            $({
                let mut rows = $rows.into_iter().peekable();
                if rows.peek().is_some() {
                    let statement = rows.collect::<$statement>();
                    statements.push(async move { Ok(statement.execute(&mut &*connection).await?) }.boxed());
                }
            })+
            statements
        }
    };
}

entities!(written);

/// Writes the whole set, and returns whether it had any rows.
///
/// Statements are pipelined: the server executes them in order, and if one fails, so do all after it. A timeline
/// is noted with the operations.
pub(crate) async fn write(
    mut set: WriteSet,
    timeline: Option<u32>,
    connection: &AsyncPgConnection,
) -> Result<bool, DatabaseFailure> {
    if set.is_empty() {
        return Ok(false);
    }
    set.sort_keys();
    let operations = mem::take(&mut set.operations);
    let mut statements = statements(set, connection);
    statements.push(operations::add(operations, timeline, connection).boxed());
    // Futures are polled, and statements sent, in this order.
    try_join_all(statements).await?;
    Ok(true)
}
