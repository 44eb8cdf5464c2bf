//! Rows of `users`, as transactions lock and write them.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::user::User;
use cuepoint_store_sql::rows::StoredUser;
use cuepoint_store_sql::schema::users;
use diesel::prelude::*;

use crate::dialect::{Connection, RunQueryDsl, StoreFailure, locked};

/// Returns a user, locked against concurrent changes.
pub(crate) async fn lock(
    connection: &mut Connection,
    id: UserId,
    currency: &Currency,
) -> Result<Option<User>, StoreFailure> {
    let row = locked!(for_no_key_update, users::table.find(id.get()).select(StoredUser::as_select()));
    let row: Option<StoredUser> = row.get_result(connection).await.optional()?;
    Ok(row.map(|row| row.user(currency)).transpose()?)
}

/// Writes the current state of a locked user.
pub(crate) async fn write(
    connection: &mut Connection,
    user: &User,
    currency: &Currency,
) -> Result<(), StoreFailure> {
    let changed = (StoredUser::of(user, currency), users::email_folded.eq(user.email.folded()));
    diesel::update(users::table.find(user.id.get())).set(changed).execute(connection).await?;
    Ok(())
}
