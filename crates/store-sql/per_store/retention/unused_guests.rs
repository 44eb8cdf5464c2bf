//! The deletion of guest accounts that were never used.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::{Unavailable, UnusedGuests};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{UNERASED_GUEST, known};
use cuepoint_store_sql::schema::{
    blocks, login_networks, operations, refresh_tokens, security_events, sessions, users, wallets,
};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{exists, not, select, sql};
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error as QueryError};
use diesel::sql_types::Bool;

use crate::SqlStore;
use crate::dialect::{Connection, Database, RunQueryDsl, StoreFailure, locked};

/// Those of these guest accounts that were created and last used before this time, and that neither an operation, a
/// block nor the security log names.
fn unused_of(ids: Vec<i64>, before: Timestamp) -> IntoBoxed<'static, users::table, Database> {
    let recent = sessions::table
        .filter(sessions::user_id.eq(users::id))
        .filter(sessions::used_at.ge(ColumnTime(before)));
    let operation = operations::table.filter(operations::owner_id.eq(users::id.nullable()));
    let block = blocks::table.filter(blocks::guest_id.eq(users::id));
    let event = security_events::table.filter(security_events::user_id.eq(users::id.nullable()));
    let act = security_events::table.filter(security_events::actor_id.eq(users::id.nullable()));
    users::table
        .filter(users::id.eq_any(ids))
        .filter(users::created_at.lt(ColumnTime(before)))
        .filter(not(exists(recent)))
        .filter(not(exists(operation)))
        .filter(not(exists(block)))
        .filter(not(exists(event)))
        .filter(not(exists(act)))
        .order(users::id)
        .into_boxed()
}

impl SqlStore {
    /// The next guest accounts, with those of them that may be unused: see
    /// [`cuepoint_domain::ports::People::unused_guests`].
    pub(crate) async fn guests_to_delete(
        &self,
        before: Timestamp,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<UnusedGuests, Unavailable> {
        self.read_aside((before, after, limit), async |mut connection, (before, after, limit)| {
            // The index alone bounds this statement, however many accounts are used.
            let ids: Vec<i64> = users::table
                .filter(sql::<Bool>(UNERASED_GUEST))
                .filter(users::id.gt(after.map_or(0, UserId::get)))
                .order(users::id)
                .limit(i64::from(limit))
                .select(users::id)
                .load(&mut connection)
                .await?;
            let last = ids.last().copied().map(|id| known("users.id", UserId::new(id))).transpose()?;
            let unused: Vec<i64> = unused_of(ids, before).select(users::id).load(&mut connection).await?;
            let unused = unused.into_iter().map(|id| known("users.id", UserId::new(id)));
            Ok(UnusedGuests { unused: unused.collect::<Result<_, _>>()?, last })
        })
        .await
    }

    /// Deletes an unused guest account: see [`cuepoint_domain::ports::People::delete_guest`].
    pub(crate) async fn delete_unused_guest(
        &self,
        id: UserId,
        before: Timestamp,
    ) -> Result<bool, Unavailable> {
        let done = self.transact((id, before), async |connection, (id, before)| {
            delete(connection, id.get(), before).await
        });
        match done.await {
            // Another row names the account.
            Err(StoreFailure::Query(QueryError::DatabaseError(
                DatabaseErrorKind::ForeignKeyViolation,
                _,
            ))) => Ok(false),
            done => Ok(done?),
        }
    }
}

/// Deletes a guest account under the lock of its user and its wallet, unless a plan uses the wallet or an operation
/// concerns the account. Afterwards, a plan finds no wallet.
async fn delete(connection: &mut Connection, id: i64, before: Timestamp) -> Result<bool, StoreFailure> {
    let guest = users::table.find(id).filter(sql::<Bool>(UNERASED_GUEST)).select(users::id);
    let guest: Option<i64> = locked!(for_update, guest).get_result(connection).await.optional()?;
    // A plan that has locked the wallet may wait for the user.
    let wallet = wallets::table.find(id).select(wallets::user_id);
    let wallet: Option<i64> = locked!(free wallet).get_result(connection).await.optional()?;
    let used = operations::table.filter(operations::owner_id.eq(id));
    if guest.is_none() || wallet.is_none() || select(exists(used)).get_result(connection).await? {
        return Ok(false);
    }
    let of_guest = sessions::table.filter(sessions::user_id.eq(id));
    let unused = of_guest.filter(sessions::used_at.lt(ColumnTime(before))).select(sessions::id);
    // An exchange of a refresh token that has locked the session may wait for the user.
    let unused: Vec<i64> = locked!(free unused).load(connection).await?;
    let all: i64 = of_guest.count().get_result(connection).await?;
    if i64::try_from(unused.len()) != Ok(all) {
        return Ok(false);
    }
    let tokens = refresh_tokens::table.filter(refresh_tokens::session_id.eq_any(&unused));
    diesel::delete(tokens).execute(connection).await?;
    diesel::delete(sessions::table.filter(sessions::id.eq_any(&unused))).execute(connection).await?;
    diesel::delete(login_networks::table.filter(login_networks::user_id.eq(id))).execute(connection).await?;
    diesel::delete(wallets::table.find(id)).execute(connection).await?;
    diesel::delete(users::table.find(id)).execute(connection).await?;
    Ok(true)
}
