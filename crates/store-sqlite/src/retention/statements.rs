//! The statements of batches, and of the end of an erasure.

use std::collections::BTreeMap;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_domain::user::{Role, User};
use cuepoint_store_sql::rows::{ACTING_OPERATOR, StoredUser};
use cuepoint_store_sql::schema::{operations, topups, users};
use cuepoint_store_sql::sql_types::{ColumnId, ColumnTime, Json, OperationUuid, UtcTime};
use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use time::Duration;

use super::batches::{LastReceipt, Pace, is_whole};
use crate::SqlStore;
use crate::dialect::{BATCH, Connection, RunQueryDsl, StoreFailure};
use crate::tables::operations::about;
use crate::tables::users::lock;

/// The pace of purges and redactions by age: it leaves half of the writer's time to others.
pub(super) const PURGE_PACE: Pace = Pace::Gentle;

/// The statement that deletes or anonymizes a batch of other rows of an erased user: `?1` is the user, `?2` the
/// maximum number of rows.
#[derive(Clone, Copy)]
pub(super) struct Forget(&'static str);

/// The statements of an erasure, in order.
pub(super) const FORGET: [Forget; 8] = [
    Forget(
        "UPDATE sessions SET address = NULL, agent = NULL WHERE id IN (SELECT id FROM sessions \
            WHERE user_id = ?1 AND (address IS NOT NULL OR agent IS NOT NULL) LIMIT ?2)",
    ),
    Forget(
        "DELETE FROM personal_tokens WHERE session_id IN (SELECT session_id FROM sessions \
            CROSS JOIN personal_tokens ON session_id = id WHERE user_id = ?1 LIMIT ?2)",
    ),
    Forget(
        "DELETE FROM login_networks WHERE id IN (SELECT id FROM login_networks WHERE user_id = ?1 LIMIT ?2)",
    ),
    Forget(
        "DELETE FROM blocks WHERE (dj_id, guest_id) IN (SELECT dj_id, guest_id FROM blocks \
            WHERE dj_id = ?1 OR guest_id = ?1 LIMIT ?2)",
    ),
    Forget(
        "DELETE FROM webhook_deliveries WHERE (endpoint_id, position) IN (SELECT endpoint_id, position \
            FROM webhook_endpoints CROSS JOIN webhook_deliveries ON endpoint_id = id WHERE owner_id = ?1 LIMIT ?2)",
    ),
    Forget(
        "DELETE FROM webhook_endpoints \
            WHERE id IN (SELECT id FROM webhook_endpoints WHERE owner_id = ?1 LIMIT ?2)",
    ),
    Forget(
        "DELETE FROM request_messages WHERE request_id IN (SELECT request_id FROM music_requests \
            CROSS JOIN request_messages ON request_id = id WHERE requester_id = ?1 LIMIT ?2)",
    ),
    Forget(
        "UPDATE gigs SET title = 'Erased', venue = NULL, city = NULL, latitude = NULL, longitude = NULL, \
            message = NULL WHERE id IN (SELECT id FROM gigs WHERE dj_id = ?1 AND (title <> 'Erased' \
            OR venue IS NOT NULL OR city IS NOT NULL OR latitude IS NOT NULL OR message IS NOT NULL) LIMIT ?2)",
    ),
];

/// Deletes or anonymizes a batch of other rows of an erased user, and returns their number.
pub(super) async fn forget_some(
    connection: &mut Connection,
    Forget(statement): Forget,
    user: UserId,
) -> Result<usize, StoreFailure> {
    let batch = diesel::sql_query(statement).bind::<BigInt, _>(user.get()).bind::<BigInt, _>(BATCH);
    Ok(batch.execute(connection).await?)
}

/// Rows of the purge: their table, its key, the expression of its index by age, and a further condition.
#[derive(Clone, Copy)]
pub(super) struct Expired(&'static str, &'static str, &'static str, &'static str);

pub(super) const IDEMPOTENCY_KEYS: Expired = Expired("idempotency_keys", "scope", "at", "true");
pub(super) const REFRESH_TOKENS: Expired = Expired("refresh_tokens", "hash", "expires_at", "true");
pub(super) const SESSIONS: Expired =
    Expired("sessions", "id", "min(coalesce(ended_at, expires_at), expires_at)", "true");
pub(super) const LOGIN_NETWORKS: Expired = Expired("login_networks", "id", "seen_at", "true");
pub(super) const CHALLENGES: Expired = Expired("challenges", "id", "issued_at", "purpose <> 'email_restore'");
pub(super) const RESTORATIONS: Expired =
    Expired("challenges", "id", "issued_at", "purpose = 'email_restore'");
pub(super) const PHONE_CODES: Expired = Expired("phone_codes", "id", "sent_at", "true");
pub(super) const SECURITY_EVENTS: Expired = Expired("security_events", "id", "at", "true");
pub(super) const DEDICATIONS: Expired = Expired("request_messages", "request_id", "created_at", "true");

/// The latest time of rows past their retention: `?` are now and the retention, in microseconds. The
/// machine's clock counts too, so that a server with a fast clock removes nothing too early: in whole
/// seconds, as in the trigger that protects young security events.
const PAST_RETENTION: &str = "min(?, unixepoch() * 1000000) - ?";

/// A retention in microseconds.
fn micros_of(kept_for: Duration) -> i64 {
    i64::try_from(kept_for.whole_microseconds()).unwrap_or(i64::MAX)
}

/// Deletes a batch of rows past their retention, and returns their number.
pub(super) async fn purge_some(
    connection: &mut Connection,
    Expired(table, key, since, condition): Expired,
    now: Timestamp,
    kept_for: Duration,
) -> Result<usize, StoreFailure> {
    let statement = format!(
        "DELETE FROM {table} WHERE {key} IN \
         (SELECT {key} FROM {table} WHERE {since} <= {PAST_RETENTION} AND {condition} LIMIT ?)"
    );
    let batch = diesel::sql_query(statement)
        .bind::<BigInt, _>(now.unix_micros())
        .bind::<BigInt, _>(micros_of(kept_for))
        .bind::<BigInt, _>(BATCH);
    Ok(batch.execute(connection).await?)
}

/// The condition of the index of receipts that show a profile, exactly as there.
const UNREDACTED: &str = "json_type(receipt, '$.profile.balance') IS NOT NULL";
/// A condition that implies the one of the index of operations about people.
const OF_PROFILE: &str = "json_type(receipt, '$.profile') IS NOT NULL";
/// A receipt without its profile.
const REDACTED: &str = "json_object('profile', json_object('user', \
    json_object('id', json_extract(receipt, '$.profile.user.id'))))";

/// Redacts a batch of the receipts past their retention, and returns a position if more may follow. A redacted one
/// leaves the index by which they are found, so that every batch begins at the first one.
pub(super) async fn redact_some_due(
    connection: &mut Connection,
    after: LastReceipt,
    now: Timestamp,
    kept_for: Duration,
) -> Result<Option<LastReceipt>, StoreFailure> {
    let statement = format!(
        "UPDATE operations SET receipt = {REDACTED} WHERE id IN \
         (SELECT id FROM operations WHERE {UNREDACTED} AND at <= {PAST_RETENTION} ORDER BY at, id LIMIT ?)"
    );
    let batch = diesel::sql_query(statement)
        .bind::<BigInt, _>(now.unix_micros())
        .bind::<BigInt, _>(micros_of(kept_for))
        .bind::<BigInt, _>(BATCH);
    Ok(is_whole(batch.execute(connection).await?).then_some(after))
}

/// Redacts the next batch of the receipts that show a user, counting those that are redacted already, and returns its
/// last one if more may follow.
pub(super) async fn redact_some_of(
    connection: &mut Connection,
    after: LastReceipt,
    user: UserId,
) -> Result<Option<LastReceipt>, StoreFailure> {
    let profiles = || sql::<Bool>(OF_PROFILE).and(about(user));
    let behind = || {
        sql::<Bool>("(at, id) > (")
            .bind::<UtcTime, _>(ColumnTime(after.at))
            .sql(", ")
            .bind::<OperationUuid, _>(ColumnId(after.id))
            .sql(")")
    };
    let batch: Vec<LastReceipt> = operations::table
        .filter(profiles())
        .filter(behind())
        .order((operations::at, operations::id))
        .limit(BATCH)
        .select((operations::at, operations::id))
        .load(connection)
        .await?;
    let Some(&last) = batch.last() else { return Ok(None) };
    let within = sql::<Bool>("(at, id) <= (")
        .bind::<UtcTime, _>(ColumnTime(last.at))
        .sql(", ")
        .bind::<OperationUuid, _>(ColumnId(last.id))
        .sql(")");
    let shown = operations::table.filter(profiles()).filter(behind()).filter(within);
    diesel::update(shown.filter(sql::<Bool>(UNREDACTED)))
        .set(operations::receipt.eq(sql::<Json>(REDACTED)))
        .execute(connection)
        .await?;
    Ok(is_whole(batch.len()).then_some(last))
}

/// Returns a user and, if they are an operator, all other unerased operators.
pub(super) async fn lock_person(
    connection: &mut Connection,
    id: UserId,
    currency: &Currency,
) -> Result<BTreeMap<UserId, User>, StoreFailure> {
    let person = lock(connection, id, currency).await?;
    let mut people: BTreeMap<UserId, User> = person.into_iter().map(|user| (user.id, user)).collect();
    if people.values().any(|user| user.role == Role::Operator) {
        let operators = users::table.filter(sql::<Bool>(ACTING_OPERATOR)).select(StoredUser::as_select());
        let operators: Vec<StoredUser> = operators.load(connection).await?;
        for row in operators {
            let operator = row.user(currency)?;
            people.insert(operator.id, operator);
        }
    }
    Ok(people)
}

impl SqlStore {
    /// Ends an erasure unless a top-up is pending, and returns whether it did.
    pub(super) async fn end_erasure(&self, user: UserId) -> Result<bool, Unavailable> {
        // No top-up of an erased user is opened. The search reads all of theirs, and occupies no writer.
        let waiting = self.read(user.get(), async |connection, user| {
            let theirs = topups::table.filter(topups::user_id.eq(user));
            let pending = theirs.filter(topups::status.eq(TopupStatus::Pending.name()));
            Ok(diesel::select(exists(pending)).get_result::<bool>(connection).await?)
        });
        if waiting.await? {
            return Ok(false);
        }
        let finished = self.write_repeatable(user.get(), async |connection, user| {
            let person = users::table.find(user);
            Ok(diesel::update(person).set(users::erasure_pending.eq(false)).execute(connection).await?)
        });
        finished.await?;
        Ok(true)
    }
}
