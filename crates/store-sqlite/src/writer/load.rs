//! Loads the rows of a lock set. Nothing is locked, because there is one writer. Rows are read one by one,
//! each by a statement that is prepared once: a list of ids would make its text depend on their number.

use std::collections::BTreeSet;

use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::LockedRows;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::{EntityRows, GroupLockSet, LoadedRows, StoredAdjustment};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use uuid::Uuid;

use crate::connect::failure::SqliteFailure;
use crate::rows::table_row::TableRow;
use crate::rows::{
    KeyRow, MusicRequestRow, OperationRow, ProviderMessageRow, TopupRow, UserRow, WalletRow, WithdrawalRow,
};
use crate::schema::{
    idempotency_keys, ledger_entries, music_requests, operations, provider_messages, topups, users, wallets,
    withdrawals,
};
use crate::tables::users::ACTING_OPERATOR;

/// The condition of the partial index of adjustments.
const ADJUSTMENT: &str = "ledger_entries.kind = 'adjustment'";

/// Loads all rows of the set.
pub(super) fn load(
    connection: &mut SqliteConnection,
    set: &GroupLockSet,
    currency: &Currency,
) -> Result<LoadedRows, SqliteFailure> {
    /// Loads the rows with these keys.
    macro_rules! find {
        ($keys:expr, $table:ident, $row:ident) => {{
            let mut rows = Vec::new();
            for key in $keys {
                let row = $table::table.find(key).select($row::as_select());
                let row: Option<$row> = row.get_result(connection).optional()?;
                rows.extend(row.map(|row| row.decode(currency)).transpose()?);
            }
            rows
        }};
    }
    let rows = &set.rows;
    let mut loaded = LoadedRows {
        entities: EntityRows {
            music_requests: find!(rows.ids(EntityKind::MusicRequest), music_requests, MusicRequestRow),
            withdrawals: find!(rows.ids(EntityKind::Withdrawal), withdrawals, WithdrawalRow),
            topups: find!(rows.ids(EntityKind::Topup), topups, TopupRow),
            provider_messages: find!(
                rows.ids(EntityKind::ProviderMessage),
                provider_messages,
                ProviderMessageRow
            ),
            ..EntityRows::default()
        },
        wallets: find!(rows.wallets.iter().map(|id| id.get()), wallets, WalletRow),
        operations: find!(
            set.operations.iter().map(|id| Uuid::from_u128(id.0).as_bytes().to_vec()),
            operations,
            OperationRow
        ),
        ..LoadedRows::default()
    };
    let users = load_users(connection, &set.rows)?;
    loaded.entities.users = users.into_iter().map(|row| row.decode(currency)).collect::<Result<_, _>>()?;
    if let Some(since) = set.withdrawn_since {
        for row in recent_withdrawals(connection, &set.withdrawn_by, since)? {
            loaded.entities.withdrawals.push(row.decode(currency)?);
        }
    }
    for row in open_requests(connection, &set.guests)? {
        loaded.entities.music_requests.push(row.decode(currency)?);
    }
    if let Some(since) = set.adjusted_since {
        loaded.adjusted = recent_adjustments(connection, &set.adjusted, since)?;
    }
    for scope in &set.keys {
        let found = idempotency_keys::table
            .inner_join(operations::table)
            .filter(idempotency_keys::scope.eq(scope.0.to_vec()))
            .select((KeyRow::as_select(), OperationRow::as_select()));
        let found: Option<(KeyRow, OperationRow)> = found.get_result(connection).optional()?;
        if let Some((key, operation)) = found {
            loaded.keys.push((key.decode(currency)?, operation.decode(currency)?));
        }
    }
    Ok(loaded)
}

/// Loads the named users, and all operators if the set needs them.
fn load_users(connection: &mut SqliteConnection, set: &LockedRows) -> QueryResult<Vec<UserRow>> {
    let mut rows: Vec<UserRow> = Vec::new();
    if set.operators {
        let operators = users::table.filter(sql::<Bool>(ACTING_OPERATOR)).select(UserRow::as_select());
        rows = operators.load(connection)?;
    }
    let operators: BTreeSet<i64> = rows.iter().map(|row| row.id).collect();
    for id in set.ids(EntityKind::User).filter(|id| !operators.contains(id)) {
        let user = users::table.find(id).select(UserRow::as_select());
        rows.extend(user.get_result(connection).optional()?);
    }
    Ok(rows)
}

fn recent_withdrawals(
    connection: &mut SqliteConnection,
    of: &BTreeSet<UserId>,
    since: Timestamp,
) -> QueryResult<Vec<WithdrawalRow>> {
    let mut rows = Vec::new();
    for user in of {
        let recent: Vec<WithdrawalRow> = withdrawals::table
            .filter(withdrawals::user_id.eq(user.get()))
            .filter(withdrawals::created_at.ge(since.unix_micros()))
            .select(WithdrawalRow::as_select())
            .load(connection)?;
        rows.extend(recent);
    }
    Ok(rows)
}

/// Loads all open requests of these guests: a superset, of which each plan counts those with its DJ.
fn open_requests(
    connection: &mut SqliteConnection,
    guests: &BTreeSet<UserId>,
) -> QueryResult<Vec<MusicRequestRow>> {
    let mut rows = Vec::new();
    for guest in guests {
        let open: Vec<MusicRequestRow> = music_requests::table
            .filter(music_requests::requester_id.eq(guest.get()))
            .filter(music_requests::expires_at.is_not_null())
            .select(MusicRequestRow::as_select())
            .load(connection)?;
        rows.extend(open);
    }
    Ok(rows)
}

fn recent_adjustments(
    connection: &mut SqliteConnection,
    of: &BTreeSet<UserId>,
    since: Timestamp,
) -> QueryResult<Vec<StoredAdjustment>> {
    let mut adjusted = Vec::new();
    for wallet in of {
        let rows: Vec<(i64, Option<i64>, i64)> = ledger_entries::table
            .inner_join(operations::table.on(operations::id.eq(ledger_entries::operation_id)))
            .filter(ledger_entries::wallet_id.eq(wallet.get()))
            .filter(ledger_entries::at.gt(since.unix_micros()))
            .filter(sql::<Bool>(ADJUSTMENT))
            .filter(operations::actor_user_id.is_not_null())
            .select((ledger_entries::wallet_id, operations::actor_user_id, ledger_entries::at))
            .load(connection)?;
        adjusted.extend(rows.into_iter().map(|(wallet_id, actor_user_id, at)| StoredAdjustment {
            wallet_id,
            actor_user_id,
            at: Timestamp::from_unix_micros(at),
        }));
    }
    Ok(adjusted)
}
