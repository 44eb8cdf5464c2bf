//! Redaction: in receipts of profile and account changes, the profile is replaced by the user's id.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::Receipt;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::schema::operations;
use cuepoint_store_sql::sql_types::{ColumnId, ColumnTime, Json, OperationUuid, UtcTime};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use uuid::Uuid;

use super::age::{PAST_RETENTION, micros_of};
use super::pace::{BATCH, Pace, in_batches, is_whole};
use crate::connect::failure::SqliteFailure;
use crate::tables::operations::about;
use crate::writer::Writer;

/// The condition of the index of receipts that show a profile, exactly as there.
const UNREDACTED: &str = "json_type(receipt, '$.profile.balance') IS NOT NULL";
/// A condition that implies the one of the index of operations about people.
const OF_PROFILE: &str = "json_type(receipt, '$.profile') IS NOT NULL";
/// A receipt without its profile.
const REDACTED: &str = "json_object('profile', json_object('user', \
    json_object('id', json_extract(receipt, '$.profile.user.id'))))";

/// The time and id of the last receipt of a batch: the next batch begins after it, so that none reads those
/// that are redacted already.
#[derive(Clone, Debug)]
struct Position {
    at: ColumnTime,
    id: ColumnId,
}

/// Redacts all receipts past [`Receipt::RETENTION`]. A redacted one leaves the index by which they are found.
pub(super) async fn redact_due(writer: &Writer, now: i64) -> Result<(), SqliteFailure> {
    let statement = format!(
        "UPDATE operations SET receipt = {REDACTED} WHERE id IN \
         (SELECT id FROM operations WHERE {UNREDACTED} AND at <= {PAST_RETENTION} ORDER BY at, id LIMIT ?)"
    );
    let kept_for = micros_of(Receipt::RETENTION);
    let redact = move |connection: &mut SqliteConnection, (): &()| {
        let batch = diesel::sql_query(&statement).bind::<BigInt, _>(now).bind::<BigInt, _>(kept_for);
        let redacted = batch.bind::<BigInt, _>(BATCH).execute(connection)?;
        Ok(is_whole(redacted).then_some(()))
    };
    in_batches(writer, Pace::Gentle, (), redact).await
}

/// Redacts every receipt that shows this user, who is erased and changes no more.
pub(super) async fn redact_person(writer: &Writer, user: UserId, pace: Pace) -> Result<(), SqliteFailure> {
    let start = Position { at: ColumnTime(Timestamp::EPOCH), id: ColumnId(Uuid::nil()) };
    let redact =
        move |connection: &mut SqliteConnection, after: &Position| redact_some(connection, user, after);
    in_batches(writer, pace, start, redact).await
}

/// Redacts the next batch of the receipts that show a user, counting those that are redacted already.
fn redact_some(
    connection: &mut SqliteConnection,
    user: UserId,
    after: &Position,
) -> Result<Option<Position>, SqliteFailure> {
    let profiles = || sql::<Bool>(OF_PROFILE).and(about(user));
    let behind = || {
        sql::<Bool>("(at, id) > (")
            .bind::<UtcTime, _>(after.at)
            .sql(", ")
            .bind::<OperationUuid, _>(after.id)
            .sql(")")
    };
    let batch: Vec<(Timestamp, Uuid)> = operations::table
        .filter(profiles())
        .filter(behind())
        .order((operations::at, operations::id))
        .limit(BATCH)
        .select((operations::at, operations::id))
        .load(connection)?;
    let whole = is_whole(batch.len());
    let Some(&(at, id)) = batch.last() else { return Ok(None) };
    let (at, id) = (ColumnTime(at), ColumnId(id));
    let within =
        sql::<Bool>("(at, id) <= (").bind::<UtcTime, _>(at).sql(", ").bind::<OperationUuid, _>(id).sql(")");
    let shown = operations::table.filter(profiles()).filter(behind()).filter(within);
    diesel::update(shown.filter(sql::<Bool>(UNREDACTED)))
        .set(operations::receipt.eq(sql::<Json>(REDACTED)))
        .execute(connection)?;
    Ok(whole.then_some(Position { at, id }))
}
