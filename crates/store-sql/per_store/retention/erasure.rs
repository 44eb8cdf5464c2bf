//! Erasure of a user: a short transaction for the user's own row, then every other identifying row in
//! batches.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Erased, PasswordHash, Unavailable};
use cuepoint_domain::privacy::erase as erase_person;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_store_sql::rows::{StoredTopup, StoredWallet, known};
use cuepoint_store_sql::schema::{challenges, topups, users, wallets};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::prelude::*;
use tokio::time::{Duration, Instant, timeout};

use super::batches::{Pace, is_whole};
use super::redaction::redact_person;
use super::statements::{FORGET, forget_some, lock_person};
use crate::SqlStore;
use crate::dialect::{Connection, RunQueryDsl, StoreFailure, locked, reading};
use crate::tables::challenges::restorable_until;
use crate::tables::sessions::end_all;
use crate::tables::users::write;

/// Time that the erasing request spends on the rows other than the user's own; the rest is left to the background
/// job.
const WITHIN_CALL: Duration = Duration::from_secs(1);
/// The maximum number of pending erasures per search.
const MAX_PENDING: u32 = 1_000;

/// The result of the work on a pending erasure.
enum Forgotten {
    /// The erasure is finished.
    Whole,
    /// All identifying data is removed, and a top-up is still pending.
    UnlessTopups,
}

impl SqlStore {
    /// Erases a user: see [`cuepoint_domain::ports::People::erase`].
    pub(crate) async fn erase_person(
        &self,
        id: UserId,
        confirmed: &PasswordHash,
        expected_since: Timestamp,
        now: Timestamp,
    ) -> Result<Erased, Unavailable> {
        let input = (id, confirmed.clone(), expected_since, now, self.currency.clone());
        let done =
            self.transact(input, async |connection, (id, confirmed, expected_since, now, currency)| {
                erase(connection, id, &confirmed, expected_since, now, &currency).await
            });
        let erased = done.await?;
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
        self.read_aside((after, limit), async |mut connection, (after, limit)| {
            let pending = users::table.filter(users::erasure_pending);
            let pending = pending.filter(users::id.gt(after.map_or(0, UserId::get)));
            let ids = pending.order(users::id).limit(i64::from(limit)).select(users::id);
            let ids: Vec<i64> = ids.load(&mut connection).await?;
            let ids = ids.into_iter().map(|id| known("users.id", UserId::new(id)));
            Ok(ids.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Removes all remaining identifying data of an erased user, and ends the erasure unless a top-up is pending.
    /// Each batch is a transaction of its own, so that this can be interrupted at any time and repeated.
    async fn forget(&self, user: UserId, pace: Pace) -> Result<Forgotten, Unavailable> {
        for rows in FORGET {
            loop {
                let began = Instant::now();
                let forgotten = self.write_repeatable((rows, user), async |connection, (rows, user)| {
                    forget_some(connection, rows, user).await
                });
                if !is_whole(forgotten.await?) {
                    break;
                }
                pace.rest(began).await;
            }
        }
        redact_person(self, user, pace).await?;
        Ok(if self.end_erasure(user).await? { Forgotten::Whole } else { Forgotten::UnlessTopups })
    }
}

/// Anonymizes a user; the row is locked before their wallet, as in the writer. The work under these locks is
/// small, whatever the user's history: it delays plans with this user, and with them all plans of their
/// group.
async fn erase(
    connection: &mut Connection,
    id: UserId,
    confirmed: &PasswordHash,
    expected_since: Timestamp,
    now: Timestamp,
    currency: &Currency,
) -> Result<Erased, StoreFailure> {
    let people = lock_person(connection, id, currency).await?;
    let Some(person) = people.get(&id).filter(|user| user.is_present()) else {
        return Ok(Erased::Nobody);
    };
    let stored = users::table.find(id.get()).select(users::password_hash);
    let stored = PasswordHash(stored.get_result(connection).await?);
    let wallet = wallets::table.find(id.get()).select(StoredWallet::as_select());
    let wallet: StoredWallet = locked!(for_no_key_update, wallet).get_result(connection).await?;
    // The newest top-up that may still be paid, by the index; it is settled under the lock of the wallet.
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
    let restorable = restorable_until(reading(connection), id, now).await?;
    let pending = (pending.as_ref(), expected_since);
    let decided =
        erase_person(person, (confirmed, &stored), &wallet, people.values(), pending, restorable, now);
    let erased = match decided {
        Ok(erased) => erased,
        Err(refusal) => return Ok(Erased::Refused(refusal)),
    };
    // The password first: the row of an erased user must have none.
    diesel::update(users::table.find(id.get()))
        .set((users::password_hash.eq(PasswordHash::none().0), users::erasure_pending.eq(true)))
        .execute(connection)
        .await?;
    write(connection, &erased, currency).await?;
    end_all(connection, id, None, now).await?;
    diesel::delete(challenges::table.filter(challenges::user_id.eq(id.get()))).execute(connection).await?;
    Ok(Erased::Done)
}
