//! Loads the rows of a lock set: first the named ones are locked, then the rest is read.

use cuepoint_domain::entities;
use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::ids::GigId;
use cuepoint_domain::music_request::{RequestStatus, Voice};
use cuepoint_domain::operation::LockedRows;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_store_sql::rows::{
    ACTING_OPERATOR, IncomeRow, StoredGig, StoredKey, StoredOperation, StoredRating, StoredRequest,
    StoredTopup, StoredUser, StoredWallet, StoredWithdrawal,
};
use cuepoint_store_sql::schema::{
    self, gigs, idempotency_keys, music_requests, operations, ratings, topups, users, withdrawals,
};
use cuepoint_store_sql::sql_types::{ColumnId, ColumnTime};
use cuepoint_store_sql::{
    CountedRequests, EntityRows, GroupLockSet, LoadedRows, LockedTable, RowOf, StoredAdjustment,
};
use diesel::dsl::{count, sql};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::FutureExt;
use futures_util::future::{try_join, try_join_all, try_join5};
use uuid::Uuid;

use super::conditions::{Condition, NamedOrLastGig, OfGuestAndDj};
use crate::connect::failure::DatabaseFailure;
use crate::tables::adjustments::{AdjustedRow, adjustments};
use crate::tables::income::income_of;

/// Locks the rows of a table with these primary keys, or under this condition, by primary key.
macro_rules! lock_rows {
    ($table:ident: $Row:ty, $ids:expr, $connection:expr) => {{
        let ids = $ids;
        if ids.is_empty() {
            Vec::new()
        } else {
            let is_named = schema::$table::table.primary_key().eq_any(ids);
            lock_rows!($table: $Row, where is_named, $connection)
        }
    }};
    ($table:ident: $Row:ty, where $condition:expr, $connection:expr) => {{
        let table = schema::$table::table;
        table
            .filter($condition)
            .order(table.primary_key())
            .for_no_key_update()
            .select(<$Row>::as_select())
            .load::<$Row>(&mut &*$connection)
            .await?
    }};
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
    let mut locked = LoadedRows::default();
    match table.kind {
        EntityKind::User if rows.operators => {
            locked.entities.users = lock_operators(rows, connection).await?
        }
        EntityKind::Wallet => {
            let owners: Vec<i64> = rows.wallets.iter().map(|owner| owner.get()).collect();
            locked.wallets = lock_rows!(wallets: StoredWallet, owners, connection);
        }
        EntityKind::Gig if !rows.last_gigs_of.is_empty() => {
            locked.entities.gigs = lock_last_gigs(rows, connection).await?;
        }
        kind => locked.entities = lock_entities(kind, rows, connection).await?,
    }
    Ok(locked)
}

/// Declares how the rows of each kind of entity are locked.
macro_rules! locked_entities {
    (
        stored { $($Kind:ident($Type:ty, $Id:ident) in $table:ident { $($facts:tt)+ })+ }
        recorded { $($Recorded:ident($RecordedType:ty, $RecordedId:ident) { $($recorded_facts:tt)+ })+ }
    ) => {
        /// Locks the rows of one kind of entity by id.
        async fn lock_entities(
            kind: EntityKind,
            rows: &LockedRows,
            connection: &AsyncPgConnection,
        ) -> QueryResult<EntityRows> {
            let mut locked = EntityRows::default();
            let ids: Vec<i64> = rows.ids(kind).collect();
            match kind {
                $(EntityKind::$Kind => locked.$table = lock_rows!($table: RowOf<$Type>, ids, connection),)+
                EntityKind::Wallet $(| EntityKind::$Recorded)+ => {}
            }
            Ok(locked)
        }
    };
}

entities!(locked_entities);

/// Locks the named users and every operator, by id in one statement, in the same order as the users of other
/// groups.
async fn lock_operators(rows: &LockedRows, connection: &AsyncPgConnection) -> QueryResult<Vec<StoredUser>> {
    let ids: Vec<i64> = rows.ids(EntityKind::User).collect();
    let is_needed = users::id.eq_any(ids).or(sql::<Bool>(ACTING_OPERATOR));
    Ok(lock_rows!(users: StoredUser, where is_needed, connection))
}

/// Locks the named gigs and the last two of each of these DJs, by id in one statement. A gig that is opened and ended
/// between this statement and the commit is not among them: its end comes after the plans.
async fn lock_last_gigs(rows: &LockedRows, connection: &AsyncPgConnection) -> QueryResult<Vec<StoredGig>> {
    let djs = rows.last_gigs_of.iter().map(|dj| dj.get()).collect();
    let is_needed = Condition::<NamedOrLastGig>::of([rows.ids(EntityKind::Gig).collect(), djs]);
    Ok(lock_rows!(gigs: StoredGig, where is_needed, connection))
}

/// Reads the other rows of the set after the locks: these statements see what the last holder of the locks
/// committed.
pub(super) async fn read(
    set: &GroupLockSet,
    connection: &AsyncPgConnection,
) -> Result<LoadedRows, DatabaseFailure> {
    let rows = try_join5(
        recent_withdrawals(set, connection),
        open_requests(set, connection),
        recent_adjustments(set, connection),
        earlier_operations(set, connection),
        used_keys(set, connection),
    );
    let counts = try_join(queues(set, connection), newest_ratings(set, connection));
    let ((withdrawals, requests, adjusted, operations, keys), gigs, income, topups, (queues, newest_ratings)) =
        try_join5(
            rows,
            open_gigs(set, connection),
            recent_income(set, connection),
            recent_topups(set, connection),
            counts,
        )
        .await?;
    Ok(LoadedRows {
        entities: EntityRows { withdrawals, music_requests: requests, gigs, topups, ..EntityRows::default() },
        adjusted: adjusted
            .into_iter()
            .map(|(wallet_id, actor_user_id, at)| StoredAdjustment { wallet_id, actor_user_id, at })
            .collect(),
        income,
        newest_ratings,
        queues,
        operations,
        keys,
        ..LoadedRows::default()
    })
}

async fn recent_withdrawals(
    set: &GroupLockSet,
    mut connection: &AsyncPgConnection,
) -> QueryResult<Vec<StoredWithdrawal>> {
    let Some(since) = set.withdrawn_since else { return Ok(Vec::new()) };
    let of: Vec<i64> = set.withdrawn_by.iter().map(|user| user.get()).collect();
    withdrawals::table
        .filter(withdrawals::user_id.eq_any(of))
        .filter(withdrawals::created_at.ge(ColumnTime(since)))
        .select(StoredWithdrawal::as_select())
        .load(&mut connection)
        .await
}

async fn recent_topups(
    set: &GroupLockSet,
    mut connection: &AsyncPgConnection,
) -> QueryResult<Vec<StoredTopup>> {
    let Some(since) = set.topups_since else { return Ok(Vec::new()) };
    let of: Vec<i64> = set.topped_up_by.iter().map(|user| user.get()).collect();
    topups::table
        .filter(topups::user_id.eq_any(of))
        .filter(topups::updated_at.ge(ColumnTime(since)).or(topups::status.eq(TopupStatus::Pending.name())))
        .select(StoredTopup::as_select())
        .load(&mut connection)
        .await
}

async fn open_requests(
    set: &GroupLockSet,
    mut connection: &AsyncPgConnection,
) -> QueryResult<Vec<StoredRequest>> {
    if set.open_requests.is_empty() {
        return Ok(Vec::new());
    }
    let (guests, djs) = set.open_requests.iter().map(|(guest, dj)| (guest.get(), dj.get())).unzip();
    music_requests::table
        .filter(Condition::<OfGuestAndDj>::of([guests, djs]))
        .filter(music_requests::expires_at.is_not_null())
        .select(StoredRequest::as_select())
        .load(&mut connection)
        .await
}

/// Counts the requests of each queue, from the index of the requests of a gig. Only open requests have a deadline.
async fn queues(set: &GroupLockSet, mut connection: &AsyncPgConnection) -> QueryResult<Vec<CountedRequests>> {
    let Some(at) = set.queues_at else { return Ok(Vec::new()) };
    let gigs: Vec<i64> = set.queues.iter().map(|gig| gig.get()).collect();
    let is_open = || music_requests::expires_at.gt(ColumnTime(at)).assume_not_null();
    let counts = music_requests::table
        .filter(music_requests::gig_id.eq_any(gigs))
        .group_by(music_requests::gig_id)
        .select((
            music_requests::gig_id.assume_not_null(),
            count(music_requests::gig_id).aggregate_filter(is_open()),
            count(music_requests::gig_id).aggregate_filter(is_open().and(music_requests::counts_as_guest)),
            count(music_requests::gig_id)
                .aggregate_filter(music_requests::status.ne(RequestStatus::Cancelled.name())),
        ));
    counts.load(&mut connection).await
}

/// Reads the newest rating of each voice.
async fn newest_ratings(
    set: &GroupLockSet,
    connection: &AsyncPgConnection,
) -> QueryResult<Vec<(Voice, StoredRating)>> {
    let newest = set.newest_ratings_of.iter().map(|of| async move {
        let row = ratings::table
            .inner_join(music_requests::table)
            .filter(music_requests::requester_id.eq(of.guest.get()))
            .filter(music_requests::dj_id.eq(of.dj.get()))
            .filter(music_requests::gig_id.is_not_distinct_from(of.gig.map(GigId::get)))
            .order((ratings::rated_at.desc(), ratings::request_id.desc()))
            .select(StoredRating::as_select())
            .first(&mut &*connection)
            .await
            .optional()?;
        Ok::<_, diesel::result::Error>(row.map(|row| (*of, row)))
    });
    Ok(try_join_all(newest).await?.into_iter().flatten().collect())
}

async fn open_gigs(set: &GroupLockSet, mut connection: &AsyncPgConnection) -> QueryResult<Vec<StoredGig>> {
    if set.gigs_of.is_empty() {
        return Ok(Vec::new());
    }
    let djs: Vec<i64> = set.gigs_of.iter().map(|user| user.get()).collect();
    gigs::table
        .filter(gigs::dj_id.eq_any(djs))
        .filter(gigs::ended_at.is_null())
        .select(StoredGig::as_select())
        .load(&mut connection)
        .await
}

async fn recent_adjustments(
    set: &GroupLockSet,
    connection: &AsyncPgConnection,
) -> QueryResult<Vec<AdjustedRow>> {
    let Some(since) = set.adjusted_since else { return Ok(Vec::new()) };
    let of = set.adjusted.iter().map(|wallet| wallet.get()).collect();
    adjustments(connection, of, since).await
}

async fn recent_income(set: &GroupLockSet, connection: &AsyncPgConnection) -> QueryResult<Vec<IncomeRow>> {
    let Some(since) = set.income_since else { return Ok(Vec::new()) };
    let of = set.income_of.iter().map(|owner| owner.get()).collect();
    income_of(connection, of, since, None).await
}

async fn earlier_operations(
    set: &GroupLockSet,
    mut connection: &AsyncPgConnection,
) -> QueryResult<Vec<StoredOperation>> {
    let ids = set.operations.iter().map(|id| ColumnId(Uuid::from_u128(id.0)));
    operations::table
        .filter(operations::id.eq_any(ids))
        .select(StoredOperation::as_select())
        .load(&mut connection)
        .await
}

async fn used_keys(
    set: &GroupLockSet,
    mut connection: &AsyncPgConnection,
) -> QueryResult<Vec<(StoredKey, StoredOperation)>> {
    let scopes: Vec<Vec<u8>> = set.keys.iter().map(|scope| scope.0.to_vec()).collect();
    if scopes.is_empty() {
        return Ok(Vec::new());
    }
    idempotency_keys::table
        .inner_join(operations::table)
        .filter(idempotency_keys::scope.eq_any(scopes))
        .select((StoredKey::as_select(), StoredOperation::as_select()))
        .load(&mut connection)
        .await
}
