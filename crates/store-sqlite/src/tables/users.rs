//! Rows of `users`, as changes read and write them.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::user::User;
use cuepoint_store_sql::rows::StoredUser;
use cuepoint_store_sql::schema::users;
use diesel::prelude::*;

use crate::connect::failure::SqliteFailure;

/// The condition for an operator who is not erased, exactly as in its partial index.
pub(crate) const ACTING_OPERATOR: &str = "role = 'operator' AND erased_at IS NULL";

/// Returns a user.
pub(crate) fn find(
    connection: &mut SqliteConnection,
    id: UserId,
    currency: &Currency,
) -> Result<Option<User>, SqliteFailure> {
    let row: Option<StoredUser> =
        users::table.find(id.get()).select(StoredUser::as_select()).get_result(connection).optional()?;
    Ok(row.map(|row| row.user(currency)).transpose()?)
}

/// Writes the current state of a user.
pub(crate) fn write(
    connection: &mut SqliteConnection,
    user: &User,
    currency: &Currency,
) -> Result<(), SqliteFailure> {
    let changed = (StoredUser::of(user, currency), users::email_folded.eq(user.email.folded()));
    diesel::update(users::table.find(user.id.get())).set(changed).execute(connection)?;
    Ok(())
}
