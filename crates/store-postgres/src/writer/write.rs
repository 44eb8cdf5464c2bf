//! Writes the write set of a group with a few multi-row statements.

use cuepoint_store_sql::WriteSet;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, try_join_all};

use super::statements::{EndSessions, Insert, Later, Update};
use crate::connect::failure::DatabaseFailure;
use crate::rows::{
    EntryRow, KeyRow, MusicRequestRow, NewEventRow, NewPostingRow, OperationRow, ProviderMessageRow,
    TopupRow, UserRow, WalletRow, WithdrawalRow,
};
use crate::schema::idempotency_keys;

/// Writes the whole set, and returns whether it had any rows.
///
/// Statements are pipelined: the server executes them in order, and if one fails, so do all after it.
pub(crate) async fn write(
    mut set: WriteSet,
    connection: &AsyncPgConnection,
) -> Result<bool, DatabaseFailure> {
    if set.is_empty() {
        return Ok(false);
    }
    set.sort();
    let mut statements: Vec<BoxFuture<'_, QueryResult<usize>>> = Vec::new();
    /// Executes a statement unless it has no rows.
    macro_rules! execute {
        ($statement:ty, $rows:expr) => {
            let mut rows = $rows.into_iter().peekable();
            if rows.peek().is_some() {
                let statement = rows.collect::<$statement>();
                statements.push(async move { statement.execute(&mut &*connection).await }.boxed());
            }
        };
    }
    execute!(Insert<OperationRow>, set.operations);
    execute!(Insert<MusicRequestRow>, set.requests.opened.into_values());
    execute!(Update<MusicRequestRow>, set.requests.moved.into_values());
    execute!(Insert<WithdrawalRow>, set.withdrawals.opened.into_values());
    execute!(Update<WithdrawalRow>, set.withdrawals.moved.into_values());
    execute!(Insert<TopupRow>, set.topups.opened.into_values());
    execute!(Update<TopupRow>, set.topups.moved.into_values());
    execute!(Update<TopupRow, Later>, set.suspense.into_values());
    execute!(Update<ProviderMessageRow>, set.resolved_messages.into_values());
    execute!(Update<UserRow>, set.users.into_values());
    execute!(EndSessions, set.ended_sessions.into_values());
    execute!(Update<WalletRow>, set.wallets.into_values());
    if !set.replaced_keys.is_empty() {
        let replaced =
            diesel::delete(idempotency_keys::table).filter(idempotency_keys::scope.eq_any(set.replaced_keys));
        statements.push(async move { replaced.execute(&mut &*connection).await }.boxed());
    }
    execute!(Insert<KeyRow>, set.keys);
    execute!(Insert<EntryRow>, set.entries);
    execute!(Insert<NewPostingRow>, set.postings);
    execute!(Insert<NewEventRow>, set.events);
    // Futures are polled, and statements sent, in this order.
    try_join_all(statements).await?;
    Ok(true)
}
