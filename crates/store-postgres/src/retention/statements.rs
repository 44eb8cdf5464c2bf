//! The statements of batches, and of the end of an erasure. No batch locks rows that other transactions need, however
//! many there are.

use std::collections::BTreeMap;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_domain::user::User;
use cuepoint_store_sql::rows::{ACTING_OPERATOR, Corrupt, StoredUser};
use cuepoint_store_sql::schema::{topups, users};
use cuepoint_store_sql::sql_types::{ColumnTime, OperationUuid, UtcTime};
use diesel::data_types::PgInterval;
use diesel::dsl::{exists, not, sql};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Interval};
use time::Duration;
use uuid::Uuid;

use super::batches::{LastReceipt, Pace};
use crate::SqlStore;
use crate::dialect::{BATCH, Connection, RunQueryDsl, StoreFailure};
use crate::statement::{interval, query, statement};

/// The pace of purges and redactions by age.
pub(super) const PURGE_PACE: Pace = Pace::Brisk;

/// The statement that deletes or anonymizes a batch of other rows of an erased user.
#[derive(Clone, Copy)]
pub(super) struct Forget(&'static str);

/// The statements of an erasure, in order.
pub(super) const FORGET: [Forget; 8] = [
    Forget(include_str!("forget_origins.sql")),
    Forget(include_str!("forget_personal_tokens.sql")),
    Forget(include_str!("forget_networks.sql")),
    Forget(include_str!("forget_blocks.sql")),
    Forget(include_str!("forget_webhook_deliveries.sql")),
    Forget(include_str!("forget_webhook_endpoints.sql")),
    Forget(include_str!("forget_dedications.sql")),
    Forget(include_str!("forget_gigs.sql")),
];

/// Deletes or anonymizes a batch of other rows of an erased user, and returns their number.
pub(super) async fn forget_some(
    connection: &mut Connection,
    Forget(file): Forget,
    user: UserId,
) -> Result<usize, StoreFailure> {
    let batch = query(file).bind::<BigInt, _>(user.get()).bind::<BigInt, _>(BATCH);
    Ok(batch.execute(connection).await?)
}

/// The statement that deletes a batch of rows past their retention. The database's clock counts too, so that a
/// server with a fast clock deletes nothing too early.
#[derive(Clone, Copy)]
pub(super) struct Expired(&'static str);

pub(super) const IDEMPOTENCY_KEYS: Expired = Expired(include_str!("purge/idempotency_keys.sql"));
pub(super) const REFRESH_TOKENS: Expired = Expired(include_str!("purge/refresh_tokens.sql"));
pub(super) const SESSIONS: Expired = Expired(include_str!("purge/sessions.sql"));
pub(super) const LOGIN_NETWORKS: Expired = Expired(include_str!("purge/login_networks.sql"));
pub(super) const CHALLENGES: Expired = Expired(include_str!("purge/challenges.sql"));
pub(super) const RESTORATIONS: Expired = Expired(include_str!("purge/restorations.sql"));
pub(super) const PHONE_CODES: Expired = Expired(include_str!("purge/phone_codes.sql"));
pub(super) const SECURITY_EVENTS: Expired = Expired(include_str!("purge/security_events.sql"));
pub(super) const DEDICATIONS: Expired = Expired(include_str!("purge/request_messages.sql"));

/// Deletes a batch of rows past their retention, and returns their number.
pub(super) async fn purge_some(
    connection: &mut Connection,
    Expired(file): Expired,
    now: Timestamp,
    kept_for: Duration,
) -> Result<usize, StoreFailure> {
    let batch = query(file)
        .bind::<UtcTime, _>(ColumnTime(now))
        .bind::<Interval, _>(interval(kept_for))
        .bind::<BigInt, _>(BATCH);
    Ok(batch.execute(connection).await?)
}

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

/// Redacts the next batch of the receipts past their retention, and returns its last one unless it was empty.
pub(super) async fn redact_some_due(
    connection: &mut Connection,
    after: LastReceipt,
    now: Timestamp,
    kept_for: Duration,
) -> Result<Option<LastReceipt>, StoreFailure> {
    let LastReceipt { at: after_at, id: after_id } = after;
    let batch = RedactDue { after_at, after_id, now, kept_for: interval(kept_for), limit: BATCH };
    Ok(batch.get_result(connection).await.optional()?)
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

/// Redacts the next batch of the receipts that show a user, and returns its last one unless it was empty.
pub(super) async fn redact_some_of(
    connection: &mut Connection,
    after: LastReceipt,
    user: UserId,
) -> Result<Option<LastReceipt>, StoreFailure> {
    let LastReceipt { at: after_at, id: after_id } = after;
    let batch = RedactPerson { user: user.get(), after_at, after_id, limit: BATCH };
    Ok(batch.get_result(connection).await.optional()?)
}

/// Locks a user and, if they are an operator, all other unerased operators, by id, as the writer does.
///
/// A user who becomes an operator while this waits is locked alone. Then no other operator is found, and the
/// erasure is refused rather than wrongly done.
pub(super) async fn lock_person(
    connection: &mut Connection,
    id: UserId,
    currency: &Currency,
) -> Result<BTreeMap<UserId, User>, StoreFailure> {
    let is_operator = sql::<Bool>(ACTING_OPERATOR)
        .sql(" AND EXISTS (SELECT FROM users AS erased WHERE erased.role = 'operator' AND erased.id = ")
        .bind::<BigInt, _>(id.get())
        .sql(")");
    let rows: Vec<StoredUser> = users::table
        .filter(users::id.eq(id.get()).or(is_operator))
        .order(users::id)
        .for_no_key_update()
        .select(StoredUser::as_select())
        .load(connection)
        .await?;
    let people = rows.into_iter().map(|row| row.user(currency).map(|user| (user.id, user)));
    Ok(people.collect::<Result<_, Corrupt>>()?)
}

impl SqlStore {
    /// Ends an erasure unless a top-up is pending, and returns whether it did.
    pub(super) async fn end_erasure(&self, user: UserId) -> Result<bool, Unavailable> {
        let finished = self.write_repeatable(user.get(), async |connection, user| {
            // No top-up of an erased user is opened.
            let theirs = topups::table.filter(topups::user_id.eq(user));
            let waiting = theirs.filter(topups::status.eq(TopupStatus::Pending.name()));
            let person = users::table.find(user).filter(not(exists(waiting)));
            Ok(diesel::update(person).set(users::erasure_pending.eq(false)).execute(connection).await?)
        });
        Ok(finished.await? > 0)
    }
}
