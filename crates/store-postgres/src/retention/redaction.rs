//! Redaction: in receipts of changes of profiles and accounts, the profile is replaced by the person's id.
//! Each batch is a transaction of its own, which locks nothing but its receipts.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::Receipt;
use cuepoint_domain::timestamp::Timestamp;
use diesel::deserialize::QueryableByName;
use diesel::pg::data_types::PgInterval;
use diesel::result::OptionalExtension;
use diesel::sql_types::{BigInt, Interval, Timestamptz, Uuid as SqlUuid};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use time::OffsetDateTime;
use tokio::time::Instant;
use uuid::Uuid;

use crate::connect::failure::Failure;
use crate::connect::pool::Database;
use crate::retention::pace::{BATCH, Pace};
use crate::rows::{column_time, micros_of};

/// Whom an operation is about, in the words of the index `operations_about_people`.
macro_rules! about {
    () => {
        "coalesce(receipt #>> '{profile,user,id}', receipt #>> '{withdrawal,withdrawal,user_id}', \
            receipt #>> '{request,requester_id}', receipt #>> '{topup,user_id}', \
            receipt #>> '{adjustment,adjustment,user_id}')::bigint"
    };
}

pub(crate) use about;

/// A receipt without its profile, from the one of the row.
macro_rules! redacted {
    () => {
        "jsonb_build_object('profile', jsonb_build_object('user', \
            jsonb_build_object('id', operations.receipt #> '{profile,user,id}')))"
    };
}

/// Redacts the next batch of the receipts that are older than an interval by the server's clock and by the
/// database's. The condition is that of the index `operations_whole_profiles`. Another server's batch is left
/// to it.
const REDACT_DUE: &str = concat!(
    "WITH batch AS ( \
        SELECT id, at FROM operations \
        WHERE (receipt -> 'profile') ? 'balance' AND (at, id) > ($1, $2) AND at <= least($3, now()) - $4 \
        ORDER BY at, id LIMIT $5 FOR NO KEY UPDATE SKIP LOCKED \
    ), redacted AS (UPDATE operations SET receipt = ",
    redacted!(),
    " FROM batch WHERE operations.id = batch.id) SELECT at, id FROM batch ORDER BY at DESC, id DESC LIMIT 1"
);

/// Redacts the next batch of the receipts that show a person. It passes over the same number of redacted ones
/// at most, and locks those alone that it redacts, in one order.
const REDACT_PERSON: &str = concat!(
    "WITH batch AS ( \
        SELECT id, at, (receipt -> 'profile') ? 'balance' AS whole FROM operations \
        WHERE receipt ? 'profile' AND ",
    about!(),
    " = $1 AND (at, id) > ($2, $3) ORDER BY at, id LIMIT $4 \
    ), locked AS ( \
        SELECT operations.id FROM operations JOIN batch ON operations.id = batch.id \
        WHERE batch.whole ORDER BY batch.at, batch.id FOR NO KEY UPDATE OF operations \
    ), redacted AS (UPDATE operations SET receipt = ",
    redacted!(),
    " FROM locked WHERE operations.id = locked.id) SELECT at, id FROM batch ORDER BY at DESC, id DESC LIMIT 1"
);

/// The last receipt of a batch: the next one begins after it, so that no batch passes over the rows of those
/// before.
#[derive(Clone, Copy, QueryableByName)]
struct Position {
    #[diesel(sql_type = Timestamptz)]
    at: OffsetDateTime,
    #[diesel(sql_type = SqlUuid)]
    id: Uuid,
}

impl Position {
    const START: Self = Self { at: OffsetDateTime::UNIX_EPOCH, id: Uuid::nil() };
}

/// Redacts all receipts past [`Receipt::KEPT`].
pub(crate) async fn redact_due(database: &Database, now: Timestamp) -> Result<(), Failure> {
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
) -> Result<Option<Position>, Failure> {
    let batch = diesel::sql_query(REDACT_DUE)
        .bind::<Timestamptz, _>(after.at)
        .bind::<SqlUuid, _>(after.id)
        .bind::<Timestamptz, _>(column_time(now))
        .bind::<Interval, _>(PgInterval::from_microseconds(micros_of(Receipt::KEPT)))
        .bind::<BigInt, _>(BATCH);
    Ok(batch.get_result(connection).await.optional()?)
}

/// Redacts every receipt that shows this person, who is erased and changes no more.
pub(crate) async fn redact_person(database: &Database, user: UserId, pace: Pace) -> Result<(), Failure> {
    let mut position = Position::START;
    loop {
        let began = Instant::now();
        let last: Option<Position> = database
            .write(async |connection| {
                let batch = diesel::sql_query(REDACT_PERSON)
                    .bind::<BigInt, _>(user.get())
                    .bind::<Timestamptz, _>(position.at)
                    .bind::<SqlUuid, _>(position.id)
                    .bind::<BigInt, _>(BATCH);
                Ok(batch.get_result(connection).await.optional()?)
            })
            .await?;
        let Some(last) = last else { return Ok(()) };
        position = last;
        pace.rest(began).await;
    }
}
