//! Erasure of a user: one change for the user's own row, then every other identifying row in batches.

use std::collections::BTreeMap;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Erased, Unavailable};
use cuepoint_domain::privacy::erase as erase_person;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_domain::user::{Role, User};
use cuepoint_store_sql::rows::{StoredTopup, StoredUser, StoredWallet, user_id};
use cuepoint_store_sql::schema::{challenges, topups, users, wallets};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use tokio::time::{Duration, Instant, timeout};

use super::pace::{BATCH, Pace, in_batches, is_whole};
use super::redaction::redact_person;
use crate::SqliteStore;
use crate::connect::failure::SqliteFailure;
use crate::dialect::at_once;
use crate::tables::challenges::restorable_until;
use crate::tables::sessions::end_all;
use crate::tables::users::{ACTING_OPERATOR, lock, write};
use crate::writer::Repetition;

/// A hash that verifies no password.
const NO_PASSWORD: &str = "!";
/// Time that the erasing request spends on the rows other than the user's own; the rest is left to the
/// background job.
const WITHIN_CALL: Duration = Duration::from_secs(1);
/// The maximum number of pending erasures per search.
const MAX_PENDING: u32 = 1_000;

/// The statements that delete or anonymize a batch of other rows of a user: `?1` is the user, `?2` the
/// maximum number of rows.
const FORGET: [&str; 5] = [
    "UPDATE sessions SET address = NULL, agent = NULL WHERE id IN (SELECT id FROM sessions \
        WHERE user_id = ?1 AND (address IS NOT NULL OR agent IS NOT NULL) LIMIT ?2)",
    "DELETE FROM login_networks WHERE id IN (SELECT id FROM login_networks WHERE user_id = ?1 LIMIT ?2)",
    "DELETE FROM blocks WHERE (dj_id, guest_id) IN (SELECT dj_id, guest_id FROM blocks \
        WHERE dj_id = ?1 OR guest_id = ?1 LIMIT ?2)",
    "DELETE FROM webhook_deliveries WHERE (endpoint_id, position) IN (SELECT endpoint_id, position \
        FROM webhook_endpoints CROSS JOIN webhook_deliveries ON endpoint_id = id WHERE owner_id = ?1 LIMIT ?2)",
    "DELETE FROM webhook_endpoints WHERE id IN (SELECT id FROM webhook_endpoints WHERE owner_id = ?1 LIMIT ?2)",
];

/// What the work on a pending erasure came to.
enum Forgotten {
    /// The erasure is finished.
    Whole,
    /// All identifying data is removed, and a top-up is still pending.
    UnlessTopups,
}

impl SqliteStore {
    /// Erases a user: see [`cuepoint_domain::ports::People::erase`].
    pub(crate) async fn erase_person(
        &self,
        id: UserId,
        expected_since: Timestamp,
        now: Timestamp,
    ) -> Result<Erased, Unavailable> {
        let currency = self.currency.clone();
        let erase =
            move |connection: &mut SqliteConnection| erase(connection, id, expected_since, now, &currency);
        let erased = self.writer.change(Repetition::Once, erase).await?;
        if erased == Erased::Done {
            // The user is erased even if this fails.
            match timeout(WITHIN_CALL, self.forget(id, Pace::Brisk)).await {
                Ok(Ok(Forgotten::Whole | Forgotten::UnlessTopups)) => {}
                Ok(Err(error)) => {
                    tracing::warn!(user = %id, %error, "an erasure continues in the background")
                }
                Err(_) => tracing::info!(user = %id, "an erasure continues in the background"),
            }
        }
        Ok(erased)
    }

    /// Continues every pending erasure, one after the other.
    pub(crate) async fn finish_pending_erasures(&self) -> Result<(), Unavailable> {
        let mut failed = None;
        for id in self.erasures_after(None, MAX_PENDING).await? {
            let began = Instant::now();
            match self.forget(id, Pace::Gentle).await {
                Ok(Forgotten::Whole) => {
                    let seconds = began.elapsed().as_secs_f64();
                    tracing::info!(user = %id, seconds, "an erasure was finished");
                }
                Ok(Forgotten::UnlessTopups) => {
                    tracing::info!(user = %id, "an erasure waits for the failure of top-ups")
                }
                // A failed erasure does not delay the others.
                Err(failure) => failed = Some(failure),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// The users above this one whose erasure is pending: see
    /// [`cuepoint_domain::ports::People::pending_erasures`].
    pub(crate) async fn erasures_after(
        &self,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<UserId>, Unavailable> {
        self.readers.read(|connection| {
            let pending = users::table.filter(users::erasure_pending);
            let pending = pending.filter(users::id.gt(after.map_or(0, UserId::get)));
            let ids = pending.order(users::id).limit(i64::from(limit)).select(users::id);
            Ok(ids.load(connection)?.into_iter().map(user_id).collect::<Result<_, _>>()?)
        })
    }

    /// Removes all remaining identifying data of an erased user, and ends the erasure unless a top-up is pending.
    /// It can be interrupted at any time and repeated.
    async fn forget(&self, user: UserId, pace: Pace) -> Result<Forgotten, Unavailable> {
        let writer = &self.writer;
        for statement in FORGET {
            let forget = move |connection: &mut SqliteConnection, (): &()| {
                let batch =
                    diesel::sql_query(statement).bind::<BigInt, _>(user.get()).bind::<BigInt, _>(BATCH);
                Ok(is_whole(batch.execute(connection)?).then_some(()))
            };
            in_batches(writer, pace, (), forget).await?;
        }
        redact_person(writer, user, pace).await?;
        // No top-up of an erased user is opened. The search reads all of theirs, and occupies no writer.
        if self.has_pending_topup(user)? {
            return Ok(Forgotten::UnlessTopups);
        }
        let finish = move |connection: &mut SqliteConnection| {
            let person = users::table.find(user.get());
            Ok(diesel::update(person).set(users::erasure_pending.eq(false)).execute(connection)?)
        };
        writer.change(Repetition::Repeatable, finish).await?;
        Ok(Forgotten::Whole)
    }

    fn has_pending_topup(&self, user: UserId) -> Result<bool, Unavailable> {
        self.readers.read(|connection| {
            let theirs = topups::table.filter(topups::user_id.eq(user.get()));
            let pending = theirs.filter(topups::status.eq(TopupStatus::Pending.name()));
            Ok(diesel::select(exists(pending)).get_result(connection)?)
        })
    }
}

/// Returns a user and, if they are an operator, all other unerased operators.
fn person_and_operators(
    connection: &mut SqliteConnection,
    id: UserId,
    currency: &Currency,
) -> Result<BTreeMap<UserId, User>, SqliteFailure> {
    let person = at_once(lock(connection, id, currency))?;
    let mut people: BTreeMap<UserId, User> = person.into_iter().map(|user| (user.id, user)).collect();
    if people.values().any(|user| user.role == Role::Operator) {
        let operators = users::table.filter(sql::<Bool>(ACTING_OPERATOR)).select(StoredUser::as_select());
        for row in operators.load::<StoredUser>(connection)? {
            let operator = row.user(currency)?;
            people.insert(operator.id, operator);
        }
    }
    Ok(people)
}

/// Anonymizes a user. The work is small, whatever the user's history.
fn erase(
    connection: &mut SqliteConnection,
    id: UserId,
    expected_since: Timestamp,
    now: Timestamp,
    currency: &Currency,
) -> Result<Erased, SqliteFailure> {
    let people = person_and_operators(connection, id, currency)?;
    let Some(person) = people.get(&id).filter(|user| user.is_present()) else {
        return Ok(Erased::Nobody);
    };
    let wallet: StoredWallet =
        wallets::table.find(id.get()).select(StoredWallet::as_select()).get_result(connection)?;
    // The newest of those that may still be paid, by their index.
    let pending: Option<StoredTopup> = topups::table
        .filter(topups::user_id.eq(id.get()).and(topups::created_at.gt(ColumnTime(expected_since))))
        .filter(topups::status.eq(TopupStatus::Pending.name()))
        .order((topups::created_at.desc(), topups::id.desc()))
        .select(StoredTopup::as_select())
        .first(connection)
        .optional()?;
    let pending = pending.map(|row| row.topup(currency)).transpose()?;
    let wallet = wallet.wallet(currency)?;
    let restorable = at_once(restorable_until(connection, id, now))?;
    let pending = (pending.as_ref(), expected_since);
    let decided = erase_person(person, &wallet, people.values(), pending, restorable, now);
    let erased = match decided {
        Ok(erased) => erased,
        Err(refusal) => return Ok(Erased::Refused(refusal)),
    };
    // The password first: the row of an erased user must have none.
    diesel::update(users::table.find(id.get()))
        .set((users::password_hash.eq(NO_PASSWORD), users::erasure_pending.eq(true)))
        .execute(connection)?;
    at_once(write(connection, &erased, currency))?;
    at_once(end_all(connection, id, None, now))?;
    diesel::delete(challenges::table.filter(challenges::user_id.eq(id.get()))).execute(connection)?;
    Ok(Erased::Done)
}
