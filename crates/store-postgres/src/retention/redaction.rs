//! Redaction: in receipts of profile and account changes, the profile is replaced by the user's id. Each
//! batch is a transaction of its own, which locks only its receipts.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::Receipt;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::sql_types::{OperationUuid, UtcTime};
use diesel::deserialize::Queryable;
use diesel::pg::data_types::PgInterval;
use diesel::result::OptionalExtension;
use diesel::sql_types::{BigInt, Interval};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use tokio::time::Instant;
use uuid::Uuid;

use crate::connect::failure::DatabaseFailure;
use crate::connect::pool::Database;
use crate::retention::pace::{BATCH, Pace};
use crate::statement::interval;
use crate::statement::statement;

statement! {
    /// Redacts the next batch of the receipts past their retention.
    RedactDue("redact_due.sql") [
        after_at: UtcTime as Timestamp,
        after_id: OperationUuid as Uuid,
        now: UtcTime as Timestamp,
        kept_for: Interval as PgInterval,
        limit: BigInt as i64,
    ] -> (UtcTime, OperationUuid)
}

statement! {
    /// Redacts the next batch of the receipts that show a user, counting those that are redacted already.
    RedactPerson("redact_person.sql") [
        user: BigInt as i64,
        after_at: UtcTime as Timestamp,
        after_id: OperationUuid as Uuid,
        limit: BigInt as i64,
    ] -> (UtcTime, OperationUuid)
}

/// The last receipt of a batch: the next batch begins after it, so that none scans the rows of earlier ones.
#[derive(Clone, Copy, Queryable)]
struct Position {
    at: Timestamp,
    id: Uuid,
}

impl Position {
    const START: Self = Self { at: Timestamp::EPOCH, id: Uuid::nil() };
}

/// Redacts all receipts past [`Receipt::RETENTION`].
pub(crate) async fn redact_due(database: &Database, now: Timestamp) -> Result<(), DatabaseFailure> {
    let mut position = Some(Position::START);
    while let Some(after) = position {
        position = database.write(async |connection| next_due(connection, after, now).await).await?;
    }
    Ok(())
}

async fn next_due(
    connection: &mut AsyncPgConnection,
    after: Position,
    now: Timestamp,
) -> Result<Option<Position>, DatabaseFailure> {
    let batch = RedactDue {
        after_at: after.at,
        after_id: after.id,
        now,
        kept_for: interval(Receipt::RETENTION),
        limit: BATCH,
    };
    Ok(batch.get_result(connection).await.optional()?)
}

/// Redacts every receipt that shows this user, who is erased and changes no more.
pub(crate) async fn redact_person(
    database: &Database,
    user: UserId,
    pace: Pace,
) -> Result<(), DatabaseFailure> {
    let mut position = Position::START;
    loop {
        let began = Instant::now();
        let last: Option<Position> = database
            .write(async |connection| {
                let Position { at: after_at, id: after_id } = position;
                let batch = RedactPerson { user: user.get(), after_at, after_id, limit: BATCH };
                Ok(batch.get_result(connection).await.optional()?)
            })
            .await?;
        let Some(last) = last else { return Ok(()) };
        position = last;
        pace.rest(began).await;
    }
}
