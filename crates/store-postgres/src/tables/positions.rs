//! The positions of operations, and their lock.

use cuepoint_domain::event::Audience;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::operation::{Position, PositionGap};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{StoredOperation, StoredPositionGap, known, position_gap};
use cuepoint_store_sql::schema::{operations, position_gaps};
use cuepoint_store_sql::sql_types::OperationUuid;
use diesel::dsl::{exists, max, sql};
use diesel::expression::SqlLiteral;
use diesel::pg::data_types::PgInterval;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Interval, Nullable};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use uuid::Uuid;

use crate::connect::connection::POSITIONS_LOCK_LIMIT;
use crate::connect::failure::DatabaseFailure;
use crate::connect::node::Node;
use crate::schema::deployment;
use crate::statement::interval;
use crate::statement::statement;
use crate::tables::advisory_locks::{self, pg_advisory_xact_lock};

statement! {
    /// Assigns the next positions to operations.
    AssignPositions("assign_positions.sql") [
        operations: Array<OperationUuid> as Vec<Uuid>,
        owners: Array<Nullable<BigInt>> as Vec<Option<i64>>,
        djs: Array<Nullable<BigInt>> as Vec<Option<i64>>,
    ]
}

statement! {
    /// The operation that has waited longest for its position, if it has waited too long.
    OverduePosition("overdue_position.sql") [within: Interval as PgInterval] -> OperationUuid
}

/// The condition of an operation with a position, exactly as in its index.
pub(crate) fn is_assigned() -> SqlLiteral<Bool> {
    sql("operations.position > 0")
}

/// The operations that wait for their position, exactly as in their index.
fn waiting() -> SqlLiteral<Bool> {
    sql("operations.position = 0")
}

/// The newest position; 0 if there is none.
pub(crate) async fn newest_position(mut connection: &AsyncPgConnection) -> QueryResult<i64> {
    let newest = operations::table.filter(is_assigned()).select(max(operations::position));
    Ok(newest.get_result::<Option<i64>>(&mut connection).await?.unwrap_or_default())
}

/// Waits for the lock of positions, and holds it until the transaction ends.
pub(crate) async fn lock(mut connection: &AsyncPgConnection) -> QueryResult<()> {
    let locked = diesel::select(pg_advisory_xact_lock(advisory_locks::POSITIONS, 0));
    locked.execute(&mut connection).await?;
    Ok(())
}

/// The last gap between positions that begins before a position.
pub(crate) async fn gap_before(
    mut connection: &AsyncPgConnection,
    position: i64,
) -> QueryResult<Option<StoredPositionGap>> {
    position_gaps::table
        .filter(position_gaps::last.lt(position))
        .order(position_gaps::last.desc())
        .select((position_gaps::last, position_gaps::next))
        .first(&mut connection)
        .await
        .optional()
}

/// Leaves a gap after the newest position. No group adds operations meanwhile.
pub(crate) async fn leave_gap(mut connection: &AsyncPgConnection) -> Result<(), DatabaseFailure> {
    let newest = known("operations.position", Position::new(newest_position(connection).await?))?;
    let gap = gap_before(connection, i64::MAX).await?.map(position_gap).transpose()?;
    let now = Timestamp::from_unix_micros(Node::describe(connection).await?.clock_micros);
    let PositionGap { last, next } = known("operations.position", PositionGap::after(newest, gap, now))?;
    diesel::insert_into(position_gaps::table)
        .values((position_gaps::last.eq(last.get()), position_gaps::next.eq(next.get())))
        .on_conflict(position_gaps::last)
        .do_update()
        .set(position_gaps::next.eq(next.get()))
        .execute(&mut connection)
        .await?;
    Ok(())
}

/// The timeline of a server of PostgreSQL that was never promoted.
const FIRST_TIMELINE: i64 = 1;

/// Notes the timeline of the connection's node under the lock of positions. If another one was noted, a gap comes
/// first: the failover between them may have lost operations that clients have seen. If none was noted, the gap is
/// left out on the first timeline alone, because a failover can also lose the commit that noted one.
pub(crate) async fn note_timeline(
    mut connection: &AsyncPgConnection,
    timeline: u32,
) -> Result<(), DatabaseFailure> {
    let timeline = i64::from(timeline);
    let noted = deployment::table.select(deployment::timeline);
    let noted: Option<Option<i64>> = noted.get_result(&mut connection).await.optional()?;
    let noted = noted.flatten();
    if noted == Some(timeline) {
        return Ok(());
    }
    if noted.unwrap_or(FIRST_TIMELINE) != timeline {
        tracing::warn!(timeline, noted, "positions continue after a gap, because of a failover");
        leave_gap(connection).await?;
    }
    diesel::update(deployment::table).set(deployment::timeline.eq(timeline)).execute(&mut connection).await?;
    Ok(())
}

/// Whether an operation waits for its position.
pub(crate) async fn is_one_waiting(connection: &mut AsyncPgConnection) -> Result<bool, DatabaseFailure> {
    let one = exists(operations::table.filter(waiting()).select(operations::id));
    Ok(diesel::select(one).get_result(connection).await?)
}

/// Assigns positions to at most this many operations that servers of an earlier version committed, the oldest
/// first, and returns their number.
pub(crate) async fn assign_waiting(
    connection: &mut AsyncPgConnection,
    limit: i64,
    (currency, level): (&Currency, FeatureLevel),
) -> Result<usize, DatabaseFailure> {
    if !is_one_waiting(connection).await? {
        return Ok(0);
    }
    connection
        .transaction(async |connection| {
            connection.batch_execute(&format!("SET LOCAL {POSITIONS_LOCK_LIMIT}")).await?;
            lock(connection).await?;
            let timeline = Node::describe(connection).await?.timeline();
            if let Some(timeline) = timeline.filter(|_| level.leaves_position_gaps()) {
                note_timeline(connection, timeline).await?;
            }
            // After the lock, so that it does not contain what its last holder assigned.
            let batch: Vec<StoredOperation> = operations::table
                .filter(waiting())
                .order((operations::at, operations::id))
                .limit(limit)
                .select(StoredOperation::as_select())
                .load(connection)
                .await?;
            let mut assigned =
                AssignPositions { operations: Vec::new(), owners: Vec::new(), djs: Vec::new() };
            for operation in batch {
                let Audience { owner, dj } = operation.audience(currency)?;
                assigned.operations.push(operation.id);
                assigned.owners.push(owner.map(UserId::get));
                assigned.djs.push(dj.map(UserId::get));
            }
            Ok(assigned.execute(connection).await?)
        })
        .await
}

/// An operation that has waited for its position for more than [`Position::ASSIGNED_WITHIN`].
pub(crate) async fn overdue(connection: &mut AsyncPgConnection) -> Result<Option<Uuid>, DatabaseFailure> {
    let within = interval(Position::ASSIGNED_WITHIN);
    Ok(OverduePosition { within }.get_result(connection).await.optional()?)
}
