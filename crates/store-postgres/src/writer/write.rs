//! Writes the write set of a group with a few multi-row statements.

use std::mem;

use cuepoint_store_sql::WriteSet;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, try_join_all};

use super::operations::{self, InsertOperations};
use super::statements::{EndSessions, Insert, Later, RemoveKeys, RowsStatement, Update};
use crate::connect::failure::DatabaseFailure;
use crate::rows::{
    EntryRow, KeyRow, MusicRequestRow, NewEventRow, NewPostingRow, ProviderMessageRow, TopupRow, UserRow,
    WalletRow, WithdrawalRow,
};

/// Declares the statements that write a write set, in their order, each with its rows.
macro_rules! written {
    ($set:ident: $($statement:ty = $rows:expr,)+) => {
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

written! { set:
    Insert<MusicRequestRow> = set.entities.music_requests.opened.into_values(),
    Update<MusicRequestRow> = set.entities.music_requests.moved.into_values(),
    Insert<WithdrawalRow> = set.entities.withdrawals.opened.into_values(),
    Update<WithdrawalRow> = set.entities.withdrawals.moved.into_values(),
    Insert<TopupRow> = set.entities.topups.opened.into_values(),
    Update<TopupRow> = set.entities.topups.moved.into_values(),
    Update<TopupRow, Later> = set.suspense.into_values(),
    Update<ProviderMessageRow> = set.entities.provider_messages.moved.into_values(),
    Update<UserRow> = set.entities.users.moved.into_values(),
    EndSessions = set.ended_sessions.into_values(),
    Update<WalletRow> = set.wallets.into_values(),
    RemoveKeys = set.replaced_keys,
    Insert<KeyRow> = set.keys,
    Insert<EntryRow> = set.entries,
    Insert<NewPostingRow> = set.postings,
    Insert<NewEventRow> = set.events,
}

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
