//! Loads the rows of a lock set: first the named ones are locked, then the rest is read.

use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::operation::LockedRows;
use cuepoint_store_sql::{EntityRows, GroupLockSet, LoadedRows, LockedTable, StoredAdjustment};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::FutureExt;
use futures_util::future::{try_join_all, try_join5};
use uuid::Uuid;

use crate::connect::failure::DatabaseFailure;
use crate::rows::{
    KeyRow, MusicRequestRow, OperationRow, ProviderMessageRow, TopupRow, UserRow, WalletRow, WithdrawalRow,
    column_time, timestamp,
};
use crate::schema::{
    idempotency_keys, music_requests, operations, provider_messages, topups, users, wallets, withdrawals,
};
use crate::tables::adjustments::{AdjustedRow, adjustments};
use crate::tables::users::ACTING_OPERATOR;

/// Rows as they are stored.
fn stored<Row: Into<Stored>, Stored>(rows: Vec<Row>) -> Vec<Stored> {
    rows.into_iter().map(Into::into).collect()
}

/// Locks the rows of the set, one table after the other in the lock order.
pub(super) async fn lock(
    set: &GroupLockSet,
    connection: &AsyncPgConnection,
) -> Result<LoadedRows, DatabaseFailure> {
    let tables = LockedTable::in_lock_order().map(|table| lock_table(table, &set.rows, connection).boxed());
    // Futures are polled, and statements sent, in this order.
    let mut locked = LoadedRows::default();
    for rows in try_join_all(tables).await? {
        locked.extend(rows);
    }
    Ok(locked)
}

/// Locks the rows of one table by id.
async fn lock_table(
    table: LockedTable,
    rows: &LockedRows,
    connection: &AsyncPgConnection,
) -> QueryResult<LoadedRows> {
    /// Locks the rows with these ids.
    macro_rules! lock {
        ($ids:expr, $table:ident, $id:ident, $row:ident) => {{
            let ids: Vec<i64> = $ids.collect();
            if ids.is_empty() {
                return Ok(LoadedRows::default());
            }
            let rows = $table::table
                .filter($table::$id.eq_any(ids))
                .order($table::$id)
                .for_no_key_update()
                .select($row::as_select())
                .load::<$row>(&mut &*connection);
            stored(rows.await?)
        }};
    }
    let mut locked = LoadedRows::default();
    match table {
        LockedTable::Wallets => {
            locked.wallets = lock!(rows.wallets.iter().map(|id| id.get()), wallets, user_id, WalletRow);
        }
        LockedTable::Entities(EntityKind::MusicRequest, _) => {
            locked.entities.music_requests =
                lock!(rows.ids(EntityKind::MusicRequest), music_requests, id, MusicRequestRow);
        }
        LockedTable::Entities(EntityKind::User, _) if rows.operators => {
            locked.entities.users = stored(lock_operators(rows, connection).await?);
        }
        LockedTable::Entities(EntityKind::User, _) => {
            locked.entities.users = lock!(rows.ids(EntityKind::User), users, id, UserRow);
        }
        LockedTable::Entities(EntityKind::Withdrawal, _) => {
            locked.entities.withdrawals =
                lock!(rows.ids(EntityKind::Withdrawal), withdrawals, id, WithdrawalRow);
        }
        LockedTable::Entities(EntityKind::Topup, _) => {
            locked.entities.topups = lock!(rows.ids(EntityKind::Topup), topups, id, TopupRow);
        }
        LockedTable::Entities(EntityKind::ProviderMessage, _) => {
            locked.entities.provider_messages =
                lock!(rows.ids(EntityKind::ProviderMessage), provider_messages, id, ProviderMessageRow);
        }
        LockedTable::Entities(EntityKind::Wallet | EntityKind::Adjustment, _) => {}
    }
    Ok(locked)
}

/// Locks the named users and every operator, by id in one statement, in the same order as the users of other
/// groups.
async fn lock_operators(rows: &LockedRows, mut connection: &AsyncPgConnection) -> QueryResult<Vec<UserRow>> {
    let ids: Vec<i64> = rows.ids(EntityKind::User).collect();
    users::table
        .filter(users::id.eq_any(ids).or(sql::<Bool>(ACTING_OPERATOR)))
        .order(users::id)
        .for_no_key_update()
        .select(UserRow::as_select())
        .load(&mut connection)
        .await
}

/// Reads the other rows of the set after the locks: these statements see what the last holder of the locks
/// committed.
pub(super) async fn read(
    set: &GroupLockSet,
    connection: &AsyncPgConnection,
) -> Result<LoadedRows, DatabaseFailure> {
    let (withdrawals, requests, adjusted, operations, keys) = try_join5(
        recent_withdrawals(set, connection),
        open_requests(set, connection),
        recent_adjustments(set, connection),
        earlier_operations(set, connection),
        used_keys(set, connection),
    )
    .await?;
    let keys = keys.into_iter().map(|(key, operation)| (key.into(), operation.into()));
    Ok(LoadedRows {
        entities: EntityRows {
            withdrawals: stored(withdrawals),
            music_requests: stored(requests),
            ..EntityRows::default()
        },
        adjusted: adjusted
            .into_iter()
            .map(|(wallet_id, actor_user_id, at)| StoredAdjustment {
                wallet_id,
                actor_user_id,
                at: timestamp(at),
            })
            .collect(),
        operations: stored(operations),
        keys: keys.collect(),
        ..LoadedRows::default()
    })
}

async fn recent_withdrawals(
    set: &GroupLockSet,
    mut connection: &AsyncPgConnection,
) -> QueryResult<Vec<WithdrawalRow>> {
    let Some(since) = set.withdrawn_since else { return Ok(Vec::new()) };
    let of: Vec<i64> = set.withdrawn_by.iter().map(|user| user.get()).collect();
    withdrawals::table
        .filter(withdrawals::user_id.eq_any(of))
        .filter(withdrawals::created_at.ge(column_time(since)))
        .select(WithdrawalRow::as_select())
        .load(&mut connection)
        .await
}

async fn open_requests(
    set: &GroupLockSet,
    mut connection: &AsyncPgConnection,
) -> QueryResult<Vec<MusicRequestRow>> {
    if set.guests.is_empty() {
        return Ok(Vec::new());
    }
    // Every guest with every DJ is a superset, but no count is wrong: each plan counts its own pair.
    let guests: Vec<i64> = set.guests.iter().map(|user| user.get()).collect();
    let djs: Vec<i64> = set.djs.iter().map(|user| user.get()).collect();
    music_requests::table
        .filter(music_requests::requester_id.eq_any(guests))
        .filter(music_requests::dj_id.eq_any(djs))
        .filter(music_requests::expires_at.is_not_null())
        .select(MusicRequestRow::as_select())
        .load(&mut connection)
        .await
}

async fn recent_adjustments(
    set: &GroupLockSet,
    connection: &AsyncPgConnection,
) -> QueryResult<Vec<AdjustedRow>> {
    let Some(since) = set.adjusted_since else { return Ok(Vec::new()) };
    let of = set.adjusted.iter().map(|wallet| wallet.get()).collect();
    adjustments(connection, of, column_time(since)).await
}

async fn earlier_operations(
    set: &GroupLockSet,
    mut connection: &AsyncPgConnection,
) -> QueryResult<Vec<OperationRow>> {
    let ids: Vec<Uuid> = set.operations.iter().map(|id| Uuid::from_u128(id.0)).collect();
    operations::table
        .filter(operations::id.eq_any(ids))
        .select(OperationRow::as_select())
        .load(&mut connection)
        .await
}

async fn used_keys(
    set: &GroupLockSet,
    mut connection: &AsyncPgConnection,
) -> QueryResult<Vec<(KeyRow, OperationRow)>> {
    let scopes: Vec<Vec<u8>> = set.keys.iter().map(|scope| scope.0.to_vec()).collect();
    if scopes.is_empty() {
        return Ok(Vec::new());
    }
    idempotency_keys::table
        .inner_join(operations::table)
        .filter(idempotency_keys::scope.eq_any(scopes))
        .select((KeyRow::as_select(), OperationRow::as_select()))
        .load(&mut connection)
        .await
}
