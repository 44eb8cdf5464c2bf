//! The positions of operations, and their lock.

use cuepoint_domain::event::Audience;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::Position;
use cuepoint_domain::money::Currency;
use cuepoint_store_sql::rows::StoredOperation;
use diesel::dsl::{exists, max, sql};
use diesel::expression::SqlLiteral;
use diesel::pg::data_types::PgInterval;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Interval, Nullable, Uuid as SqlUuid};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use uuid::Uuid;

use crate::connect::connection::POSITIONS_LOCK_LIMIT;
use crate::connect::failure::DatabaseFailure;
use crate::rows::{OperationRow, micros_of};
use crate::schema::operations;
use crate::statement::statement;
use crate::tables::advisory_locks::{self, pg_advisory_xact_lock};

statement! {
    /// Assigns the next positions to operations.
    AssignPositions("assign_positions.sql") [
        operations: Array<SqlUuid> as Vec<Uuid>,
        owners: Array<Nullable<BigInt>> as Vec<Option<i64>>,
        djs: Array<Nullable<BigInt>> as Vec<Option<i64>>,
    ]
}

statement! {
    /// The operation that has waited longest for its position, if it has waited too long.
    OverduePosition("overdue_position.sql") [within: Interval as PgInterval] -> SqlUuid
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
    currency: &Currency,
) -> Result<usize, DatabaseFailure> {
    if !is_one_waiting(connection).await? {
        return Ok(0);
    }
    connection
        .transaction(async |connection| {
            connection.batch_execute(&format!("SET LOCAL {POSITIONS_LOCK_LIMIT}")).await?;
            lock(connection).await?;
            // After the lock, so that it does not contain what its last holder assigned.
            let batch: Vec<OperationRow> = operations::table
                .filter(waiting())
                .order((operations::at, operations::id))
                .limit(limit)
                .select(OperationRow::as_select())
                .load(connection)
                .await?;
            let mut assigned =
                AssignPositions { operations: Vec::new(), owners: Vec::new(), djs: Vec::new() };
            for operation in batch.into_iter().map(StoredOperation::from) {
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
    let within = PgInterval::from_microseconds(micros_of(Position::ASSIGNED_WITHIN));
    Ok(OverduePosition { within }.get_result(connection).await.optional()?)
}
