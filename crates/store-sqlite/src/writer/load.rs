//! Loads the rows of a lock set. Nothing is locked, because there is one writer. Rows are read one by one,
//! each by a statement that is prepared once: a list of ids would make its text depend on their number.

use std::collections::BTreeSet;

use cuepoint_domain::entities;
use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::LockedRows;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_domain::user::Role;
use cuepoint_store_sql::rows::{
    ACTING_OPERATOR, StoredGig, StoredKey, StoredOperation, StoredRequest, StoredTopup, StoredUser,
    StoredWallet, StoredWithdrawal,
};
use cuepoint_store_sql::schema::{
    self, gigs, idempotency_keys, ledger_entries, music_requests, operations, topups, users, withdrawals,
};
use cuepoint_store_sql::sql_types::{ColumnId, ColumnTime};
use cuepoint_store_sql::{EntityRows, GroupLockSet, LoadedRows, RowOf, StoredAdjustment};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use uuid::Uuid;

use crate::connect::failure::SqliteFailure;
use crate::tables::income::income_of;

/// The condition of the partial index of adjustments.
const ADJUSTMENT: &str = "ledger_entries.kind = 'adjustment'";

/// Loads the rows of a table with these primary keys.
macro_rules! find {
    ($table:ident: $Row:ty, $keys:expr, $connection:expr) => {{
        let mut rows = Vec::new();
        for key in $keys {
            let row = schema::$table::table.find(key).select(<$Row>::as_select());
            rows.extend(row.get_result::<$Row>($connection).optional()?);
        }
        rows
    }};
}

/// Declares how the entities of a lock set are loaded.
macro_rules! load_entities {
    (
        stored { $($Kind:ident($Type:ty, $Id:ident) in $table:ident { $($facts:tt)+ })+ }
        recorded { $($recorded:tt)+ }
    ) => {
        /// Loads the named entities.
        fn load_entities(connection: &mut SqliteConnection, rows: &LockedRows) -> QueryResult<EntityRows> {
            Ok(EntityRows {
                $($table: find!($table: RowOf<$Type>, rows.ids(EntityKind::$Kind), connection),)+
            })
        }
    };
}

entities!(load_entities);

/// Loads all rows of the set.
pub(super) fn load(
    connection: &mut SqliteConnection,
    set: &GroupLockSet,
) -> Result<LoadedRows, SqliteFailure> {
    let wallets = set.rows.wallets.iter().map(|owner| owner.get());
    let operations = set.operations.iter().map(|id| ColumnId(Uuid::from_u128(id.0)));
    let mut loaded = LoadedRows {
        entities: load_entities(connection, &set.rows)?,
        wallets: find!(wallets: StoredWallet, wallets, connection),
        operations: find!(operations: StoredOperation, operations, connection),
        ..LoadedRows::default()
    };
    if set.rows.operators {
        let named: BTreeSet<i64> = set.rows.ids(EntityKind::User).collect();
        let operators = operators(connection)?.into_iter().filter(|row| !named.contains(&row.id));
        loaded.entities.users.extend(operators);
    }
    if let Some(since) = set.withdrawn_since {
        loaded.entities.withdrawals.extend(recent_withdrawals(connection, &set.withdrawn_by, since)?);
    }
    if let Some(since) = set.topups_since {
        loaded.entities.topups.extend(recent_topups(connection, &set.topped_up_by, since)?);
    }
    loaded.entities.music_requests.extend(open_requests(connection, &set.open_requests)?);
    loaded.entities.gigs.extend(open_gigs(connection, &set.gigs_of)?);
    if let Some(at) = set.queues_at {
        for gig in set.queues.iter().map(|gig| gig.get()) {
            loaded.queues.push((gig, open_in(gig, at).count().get_result(connection)?));
        }
        for gig in set.queues_of_guest_accounts.iter().map(|gig| gig.get()) {
            let of_guest_accounts = open_in(gig, at)
                .inner_join(users::table.on(users::id.eq(music_requests::requester_id)))
                .filter(users::role.eq(Role::Guest.name()));
            let count = of_guest_accounts.count().get_result(connection)?;
            loaded.queues_of_guest_accounts.push((gig, count));
        }
    }
    if let Some(since) = set.adjusted_since {
        loaded.adjusted = recent_adjustments(connection, &set.adjusted, since)?;
    }
    if let Some(since) = set.income_since {
        for wallet in &set.income_of {
            loaded.income.extend(income_of(connection, *wallet, since, None)?);
        }
    }
    for scope in &set.keys {
        let found = idempotency_keys::table
            .inner_join(operations::table)
            .filter(idempotency_keys::scope.eq(scope.0.to_vec()))
            .select((StoredKey::as_select(), StoredOperation::as_select()));
        let found: Option<(StoredKey, StoredOperation)> = found.get_result(connection).optional()?;
        loaded.keys.extend(found);
    }
    Ok(loaded)
}

/// Loads all operators.
fn operators(connection: &mut SqliteConnection) -> QueryResult<Vec<StoredUser>> {
    users::table.filter(sql::<Bool>(ACTING_OPERATOR)).select(StoredUser::as_select()).load(connection)
}

fn recent_topups(
    connection: &mut SqliteConnection,
    of: &BTreeSet<UserId>,
    since: Timestamp,
) -> QueryResult<Vec<StoredTopup>> {
    let mut rows = Vec::new();
    for user in of {
        let recent: Vec<StoredTopup> = topups::table
            .filter(topups::user_id.eq(user.get()))
            .filter(
                topups::updated_at.ge(ColumnTime(since)).or(topups::status.eq(TopupStatus::Pending.name())),
            )
            .select(StoredTopup::as_select())
            .load(connection)?;
        rows.extend(recent);
    }
    Ok(rows)
}

fn recent_withdrawals(
    connection: &mut SqliteConnection,
    of: &BTreeSet<UserId>,
    since: Timestamp,
) -> QueryResult<Vec<StoredWithdrawal>> {
    let mut rows = Vec::new();
    for user in of {
        let recent: Vec<StoredWithdrawal> = withdrawals::table
            .filter(withdrawals::user_id.eq(user.get()))
            .filter(withdrawals::created_at.ge(ColumnTime(since)))
            .select(StoredWithdrawal::as_select())
            .load(connection)?;
        rows.extend(recent);
    }
    Ok(rows)
}

/// Loads all open requests of these guests: a superset, of which each plan counts those to its DJ.
fn open_requests(
    connection: &mut SqliteConnection,
    of: &BTreeSet<(UserId, UserId)>,
) -> QueryResult<Vec<StoredRequest>> {
    let guests: BTreeSet<UserId> = of.iter().map(|(guest, _)| *guest).collect();
    let mut rows = Vec::new();
    for guest in guests {
        let open: Vec<StoredRequest> = music_requests::table
            .filter(music_requests::requester_id.eq(guest.get()))
            .filter(music_requests::expires_at.is_not_null())
            .select(StoredRequest::as_select())
            .load(connection)?;
        rows.extend(open);
    }
    Ok(rows)
}

/// The open requests in a gig. Only open requests have a deadline.
#[diesel::dsl::auto_type]
fn open_in(gig: i64, at: Timestamp) -> _ {
    let at: ColumnTime = ColumnTime(at);
    music_requests::table.filter(music_requests::gig_id.eq(gig)).filter(music_requests::expires_at.gt(at))
}

/// Loads the open gigs of these DJs.
fn open_gigs(connection: &mut SqliteConnection, djs: &BTreeSet<UserId>) -> QueryResult<Vec<StoredGig>> {
    let mut rows = Vec::new();
    for dj in djs {
        let open = gigs::table.filter(gigs::dj_id.eq(dj.get())).filter(gigs::ended_at.is_null());
        let open: Vec<StoredGig> = open.select(StoredGig::as_select()).load(connection)?;
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
        let rows: Vec<(i64, Option<i64>, Timestamp)> = ledger_entries::table
            .inner_join(operations::table.on(operations::id.eq(ledger_entries::operation_id)))
            .filter(ledger_entries::wallet_id.eq(wallet.get()))
            .filter(ledger_entries::at.gt(ColumnTime(since)))
            .filter(sql::<Bool>(ADJUSTMENT))
            .filter(operations::actor_user_id.is_not_null())
            .select((ledger_entries::wallet_id, operations::actor_user_id, ledger_entries::at))
            .load(connection)?;
        adjusted.extend(rows.into_iter().map(|(wallet_id, actor_user_id, at)| StoredAdjustment {
            wallet_id,
            actor_user_id,
            at,
        }));
    }
    Ok(adjusted)
}
