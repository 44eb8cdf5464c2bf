//! Writes the write set of a group with a few multi-row statements.

use std::any::TypeId;
use std::collections::HashSet;
use std::mem;

use cuepoint_domain::entities;
use cuepoint_store_sql::rows::{
    StoredCode, StoredDedication, StoredEntry, StoredKey, StoredPosting, StoredSecurityEvent, StoredTopup,
    StoredWallet,
};
use cuepoint_store_sql::table::Later;
use cuepoint_store_sql::{RowOf, WriteSet};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use futures_util::future::{BoxFuture, try_join, try_join_all};
use futures_util::{FutureExt, TryFutureExt};
use tokio::task::unconstrained;

use super::operations::{self, InsertOperations};
use super::statements::{EndSessions, Insert, RemoveKeys, RowsStatement, Update};
use crate::connect::failure::DatabaseFailure;

/// Declares the statements that write a write set, in their order, each with its rows. Codes come before the gigs that
/// name them, and entities before the other rows.
macro_rules! written {
    (
        stored { $($Kind:ident($Type:ty, $Id:ident) in $table:ident { $($facts:tt)+ })+ }
        recorded { $($recorded:tt)+ }
    ) => {
        written! { WriteSet {
            operations: _,
            codes,
            entities,
            suspense,
            ended_sessions,
            wallets,
            replaced_keys,
            keys,
            entries,
            postings,
            events,
            dedications,
        } =>
            Insert<StoredCode> = codes,
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
            Insert<StoredDedication> = dedications,
        }
    };
    ($set:pat => $($statement:ty = $rows:expr,)+) => {
        /// The tables of these statements, some of them several times, and that of operations.
        pub(super) const TABLES: &[&str] =
            &[$(<$statement as RowsStatement>::TABLE,)+ <InsertOperations as RowsStatement>::TABLE];

        /// Returns the statements that have rows.
        fn statements($set: WriteSet, connection: &AsyncPgConnection) -> Writes<'_> {
            let mut writes = Writes::default();
            $({
                let mut rows = $rows.into_iter().peekable();
                if rows.peek().is_some() {
                    let statement = rows.collect::<$statement>();
                    let executed = async move { Ok(statement.execute(&mut &*connection).await?) };
                    writes.add(TypeId::of::<$statement>(), executed.boxed());
                }
            })+
            writes
        }
    };
}

entities!(written);

/// The statements of writes that are prepared on a connection, by their types.
#[derive(Debug, Default)]
pub(crate) struct PreparedWrites(HashSet<TypeId>);

/// The statements that write a set, in their order; none is sent yet.
#[derive(Default)]
pub(crate) struct Writes<'a> {
    types: Vec<TypeId>,
    executed: Vec<BoxFuture<'a, Result<usize, DatabaseFailure>>>,
}

/// The failure of writes that are sent with their commit.
#[derive(Debug)]
pub(super) enum WritesFailure {
    /// A write failed, so that PostgreSQL rolls back when it reads COMMIT.
    Write(DatabaseFailure),
    /// The commit failed, or its outcome is unknown.
    Commit(DatabaseFailure),
}

impl WritesFailure {
    /// The failure of a write before COMMIT; if the connection ended, COMMIT may have arrived.
    fn of_write(failure: DatabaseFailure) -> Self {
        if failure.ended_connection() { Self::Commit(failure) } else { Self::Write(failure) }
    }
}

impl<'a> Writes<'a> {
    /// The writes of a set that is not empty. A timeline is noted with the operations, which come after all other rows.
    pub(crate) fn of(mut set: WriteSet, timeline: Option<u32>, connection: &'a AsyncPgConnection) -> Self {
        set.sort_keys();
        let operations = mem::take(&mut set.operations);
        let mut writes = statements(set, connection);
        let added = operations::add(operations, timeline, connection);
        writes.add(TypeId::of::<InsertOperations>(), added.boxed());
        writes
    }

    fn add(&mut self, statement: TypeId, executed: BoxFuture<'a, Result<usize, DatabaseFailure>>) {
        self.types.push(statement);
        self.executed.push(executed);
    }

    /// Executes the statements, and notes them as prepared.
    ///
    /// They are pipelined: the server executes them in order, and if one fails, so do all after it.
    pub(crate) async fn execute(self, prepared: &mut PreparedWrites) -> Result<(), DatabaseFailure> {
        // Futures are polled, and statements sent, in this order.
        try_join_all(self.executed).await?;
        prepared.0.extend(self.types);
        Ok(())
    }

    /// Whether all are prepared on the connection. To prepare one takes a round trip, in which a commit would overtake
    /// it. The lock of positions is prepared with the first operations.
    pub(super) fn are_prepared(&self, prepared: &PreparedWrites) -> bool {
        self.types.iter().all(|statement| prepared.0.contains(statement))
    }

    /// Executes the statements, all of them prepared, and commits them in the same flight. PostgreSQL reads COMMIT after
    /// it has granted the lock of positions and added the operations.
    ///
    /// The replies are read in order: if the first failure is that of a write, PostgreSQL has read COMMIT in a failed
    /// transaction, and rolled back. If a write fails before it is sent, COMMIT is not sent.
    pub(super) async fn execute_and_commit(
        self,
        connection: &AsyncPgConnection,
    ) -> Result<(), WritesFailure> {
        let mut connection = connection;
        // Polled, and sent, in this order.
        let writes = try_join_all(self.executed).map_err(WritesFailure::of_write);
        let commit = connection.batch_execute("COMMIT");
        let commit = commit.map_err(|error| WritesFailure::Commit(error.into()));
        // Without the runtime's budget, which could make a write give way before it is sent, but not the commit.
        unconstrained(try_join(writes, commit)).await?;
        Ok(())
    }
}
