//! Loads the rows of a lock set. Nothing is locked, because there is one writer. Rows are read one by one,
//! each by a statement that is prepared once: a list of ids would make its text depend on their number.

use std::collections::BTreeSet;

use cuepoint_domain::entities;
use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::ids::{GigId, UserId};
use cuepoint_domain::music_request::{RequestStatus, Voice};
use cuepoint_domain::operation::LockedRows;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_store_sql::rows::{
    ACTING_OPERATOR, StoredGig, StoredKey, StoredOperation, StoredRating, StoredRequest, StoredTopup,
    StoredUser, StoredWallet, StoredWithdrawal,
};
use cuepoint_store_sql::schema::{
    self, gigs, idempotency_keys, ledger_entries, music_requests, operations, ratings, topups, users,
    withdrawals,
};
use cuepoint_store_sql::sql_types::{ColumnId, ColumnTime};
use cuepoint_store_sql::{CountedRequests, EntityRows, GroupLockSet, LoadedRows, RowOf, StoredAdjustment};
use diesel::dsl::{count, sql};
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
    for dj in &set.rows.last_gigs_of {
        loaded.entities.gigs.extend(last_ended_gig(connection, *dj)?);
    }
    if let Some(at) = set.queues_at {
        for gig in &set.queues {
            loaded.queues.push(queue(connection, gig.get(), at)?);
        }
    }
    for voice in &set.newest_ratings_of {
        let newest = newest_rating(connection, *voice)?;
        loaded.newest_ratings.extend(newest.map(|row| (*voice, row)));
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

/// Counts the requests of a queue, by the index of requests by gig. Only open requests have a deadline.
fn queue(connection: &mut SqliteConnection, gig: i64, at: Timestamp) -> QueryResult<CountedRequests> {
    let is_open = || music_requests::expires_at.gt(ColumnTime(at)).assume_not_null();
    let of_gig = music_requests::table.filter(music_requests::gig_id.eq(gig));
    let counts = of_gig.select((
        count(music_requests::gig_id).aggregate_filter(is_open()),
        count(music_requests::gig_id).aggregate_filter(is_open().and(music_requests::counts_as_guest)),
        count(music_requests::gig_id)
            .aggregate_filter(music_requests::status.ne(RequestStatus::Cancelled.name())),
    ));
    let (open, open_of_guests, made) = counts.get_result(connection)?;
    Ok((gig, open, open_of_guests, made))
}

/// Loads the newest rating of a voice.
fn newest_rating(connection: &mut SqliteConnection, of: Voice) -> QueryResult<Option<StoredRating>> {
    ratings::table
        .inner_join(music_requests::table)
        .filter(music_requests::requester_id.eq(of.guest.get()))
        .filter(music_requests::dj_id.eq(of.dj.get()))
        .filter(music_requests::gig_id.is(of.gig.map(GigId::get)))
        .order((ratings::rated_at.desc(), ratings::request_id.desc()))
        .select(StoredRating::as_select())
        .first(connection)
        .optional()
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

/// Loads the gig of a DJ that was opened last among those that have ended.
fn last_ended_gig(connection: &mut SqliteConnection, dj: UserId) -> QueryResult<Option<StoredGig>> {
    gigs::table
        .filter(gigs::dj_id.eq(dj.get()))
        .filter(gigs::ended_at.is_not_null())
        .order((gigs::opened_at.desc(), gigs::id.desc()))
        .select(StoredGig::as_select())
        .first(connection)
        .optional()
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
