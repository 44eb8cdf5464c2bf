//! Erasure of a user: a short transaction for the user's own row, then every other identifying row in
//! batches. However many there are, no batch locks a row that others need.

use std::collections::BTreeMap;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Erased, Unavailable};
use cuepoint_domain::privacy::erase as erase_person;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_domain::user::User;
use cuepoint_store_sql::rows::{Corrupt, StoredTopup, StoredUser, StoredWallet, known};
use cuepoint_store_sql::schema::{challenges, topups, users, wallets};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{exists, not, sql};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use tokio::time::{Duration, Instant, timeout};

use super::pace::{BATCH, Pace};
use super::redaction::redact_person;
use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::statement::query;
use crate::tables::challenges::restorable_until;
use crate::tables::sessions::end_all;
use crate::tables::users::{ACTING_OPERATOR, write};

/// A hash that verifies no password.
const NO_PASSWORD: &str = "!";
/// Time that the erasing request spends on the rows other than the user's own; the rest is left to the background
/// job.
const WITHIN_CALL: Duration = Duration::from_secs(1);
/// The maximum number of pending erasures per search.
const MAX_PENDING: u32 = 1_000;

/// The statements that delete or anonymize a batch of other rows of the user.
const FORGET: [&str; 5] = [
    include_str!("forget_origins.sql"),
    include_str!("forget_networks.sql"),
    include_str!("forget_blocks.sql"),
    include_str!("forget_webhook_deliveries.sql"),
    include_str!("forget_webhook_endpoints.sql"),
];

/// What the work on a pending erasure came to.
enum Forgotten {
    /// The erasure is finished.
    Whole,
    /// All identifying data is removed, and a top-up is still pending.
    UnlessTopups,
}

impl PostgresStore {
    /// Erases a user: see [`cuepoint_domain::ports::People::erase`].
    pub(crate) async fn erase_person(
        &self,
        id: UserId,
        expected_since: Timestamp,
        now: Timestamp,
    ) -> Result<Erased, Unavailable> {
        let erased = self
            .database
            .write(async |connection| {
                connection
                    .transaction(async |connection| {
                        erase(connection, id, expected_since, now, &self.currency).await
                    })
                    .await
            })
            .await?;
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
        failed.map_or(Ok(()), |failure| Err(failure.into()))
    }

    /// The users above this one whose erasure is pending: see
    /// [`cuepoint_domain::ports::People::pending_erasures`].
    pub(crate) async fn erasures_after(
        &self,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<UserId>, Unavailable> {
        let ids: Vec<i64> = self
            .database
            .read_by_pool(async |mut connection| {
                let pending = users::table.filter(users::erasure_pending);
                let pending = pending.filter(users::id.gt(after.map_or(0, UserId::get)));
                let ids = pending.order(users::id).limit(i64::from(limit)).select(users::id);
                Ok(ids.load(&mut connection).await?)
            })
            .await?;
        let ids = ids.into_iter().map(|id| known("users.id", UserId::new(id)));
        ids.collect::<Result<_, Corrupt>>().map_err(Unavailable::new)
    }

    /// Removes all remaining identifying data of an erased user, and ends the erasure unless a top-up is pending.
    /// Each batch is a transaction of its own, so that this can be interrupted at any time and repeated.
    async fn forget(&self, user: UserId, pace: Pace) -> Result<Forgotten, DatabaseFailure> {
        let database = &self.database;
        for file in FORGET {
            loop {
                let began = Instant::now();
                let forgotten = database
                    .write(async |connection| {
                        let batch = query(file);
                        let batch = batch.bind::<BigInt, _>(user.get()).bind::<BigInt, _>(BATCH);
                        Ok(batch.execute(connection).await?)
                    })
                    .await?;
                if i64::try_from(forgotten).is_ok_and(|forgotten| forgotten < BATCH) {
                    break;
                }
                pace.rest(began).await;
            }
        }
        redact_person(database, user, pace).await?;
        let finished = database
            .write(async |connection| {
                // No top-up of an erased user is opened.
                let theirs = topups::table.filter(topups::user_id.eq(user.get()));
                let waiting = theirs.filter(topups::status.eq(TopupStatus::Pending.name()));
                let person = users::table.find(user.get()).filter(not(exists(waiting)));
                Ok(diesel::update(person).set(users::erasure_pending.eq(false)).execute(connection).await?)
            })
            .await?;
        Ok(if finished > 0 { Forgotten::Whole } else { Forgotten::UnlessTopups })
    }
}

/// Locks a user and, if they are an operator, all other unerased operators, by id, as the writer does.
///
/// A user who becomes an operator while this waits is locked alone. Then no other operator is found, and the
/// erasure is refused rather than wrongly done.
async fn lock_person(
    connection: &mut AsyncPgConnection,
    id: UserId,
    currency: &Currency,
) -> Result<BTreeMap<UserId, User>, DatabaseFailure> {
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

/// Anonymizes a user; the row is locked before their wallet, as in the writer. The work under these locks is
/// small, whatever the user's history: it delays plans with this user, and with them all plans of their
/// group.
async fn erase(
    connection: &mut AsyncPgConnection,
    id: UserId,
    expected_since: Timestamp,
    now: Timestamp,
    currency: &Currency,
) -> Result<Erased, DatabaseFailure> {
    let people = lock_person(connection, id, currency).await?;
    let Some(person) = people.get(&id).filter(|user| user.is_present()) else {
        return Ok(Erased::Nobody);
    };
    let wallet: StoredWallet = wallets::table
        .find(id.get())
        .for_no_key_update()
        .select(StoredWallet::as_select())
        .get_result(connection)
        .await?;
    // The newest of those that may still be paid, by their index; it is settled under the lock of the wallet.
    let pending: Option<StoredTopup> = topups::table
        .filter(topups::user_id.eq(id.get()).and(topups::created_at.gt(ColumnTime(expected_since))))
        .filter(topups::status.eq(TopupStatus::Pending.name()))
        .order((topups::created_at.desc(), topups::id.desc()))
        .select(StoredTopup::as_select())
        .first(connection)
        .await
        .optional()?;
    let pending = pending.map(|row| row.topup(currency)).transpose()?;
    let wallet = wallet.wallet(currency)?;
    let restorable = restorable_until(connection, id, now).await?;
    let pending = (pending.as_ref(), expected_since);
    let decided = erase_person(person, &wallet, people.values(), pending, restorable, now);
    let erased = match decided {
        Ok(erased) => erased,
        Err(refusal) => return Ok(Erased::Refused(refusal)),
    };
    // The password first: the row of an erased user must have none.
    diesel::update(users::table.find(id.get()))
        .set((users::password_hash.eq(NO_PASSWORD), users::erasure_pending.eq(true)))
        .execute(connection)
        .await?;
    write(connection, &erased, currency).await?;
    end_all(connection, id, None, now).await?;
    diesel::delete(challenges::table.filter(challenges::user_id.eq(id.get()))).execute(connection).await?;
    Ok(Erased::Done)
}
