//! Rows of `challenges`, as transactions store and end them.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::PasswordHash;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::{Challenge, Purpose};
use cuepoint_domain::user::email_change::restorable_until as restorable;
use cuepoint_store_sql::rows::StoredChallenge;
use cuepoint_store_sql::schema::{challenges, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use cuepoint_store_sql::table::Numbered;
use diesel::prelude::*;

use super::sessions::end_all;
use super::webhooks::disable_own;
use crate::connect::failure::SqliteFailure;

/// Ends the open challenge of a purpose.
pub(crate) fn end_open(
    connection: &mut SqliteConnection,
    user: UserId,
    purpose: Purpose,
    now: Timestamp,
) -> Result<(), SqliteFailure> {
    diesel::update(challenges::table)
        .filter(challenges::user_id.eq(user.get()))
        .filter(challenges::purpose.eq(purpose.name()))
        .filter(challenges::ended_at.is_null())
        .set(challenges::ended_at.eq(ColumnTime(now)))
        .execute(connection)?;
    Ok(())
}

/// Ends the open challenges that a new password ends.
pub(crate) fn end_by_new_password(
    connection: &mut SqliteConnection,
    user: UserId,
    now: Timestamp,
) -> Result<(), SqliteFailure> {
    Purpose::ENDED_BY_NEW_PASSWORD
        .into_iter()
        .try_for_each(|purpose| end_open(connection, user, purpose, now))
}

/// Stores a challenge.
pub(crate) fn store(connection: &mut SqliteConnection, challenge: &Challenge) -> Result<(), SqliteFailure> {
    let challenge = StoredChallenge::of(challenge);
    diesel::insert_into(challenges::table).values(&challenge).execute(connection)?;
    Ok(())
}

/// The time until which a user can restore their previous address.
pub(crate) fn restorable_until(
    connection: &mut SqliteConnection,
    user: UserId,
    now: Timestamp,
) -> Result<Option<Timestamp>, SqliteFailure> {
    let kept = newest(connection, user, Purpose::EmailRestore)?;
    let kept = kept.map(|row| row.challenge()).transpose()?;
    Ok(restorable(&kept, now))
}

/// The newest challenge of a purpose.
pub(crate) fn newest(
    connection: &mut SqliteConnection,
    user: UserId,
    purpose: Purpose,
) -> Result<Option<Numbered<StoredChallenge>>, SqliteFailure> {
    Ok(challenges::table
        .filter(challenges::user_id.eq(user.get()))
        .filter(challenges::purpose.eq(purpose.name()))
        .order(challenges::id.desc())
        .select(Numbered::<StoredChallenge>::as_select())
        .first(connection)
        .optional()?)
}

/// Sets the password of a user who proved their address: it ends all sessions, and disables the endpoints for their
/// own events.
pub(crate) fn set_password(
    connection: &mut SqliteConnection,
    user: UserId,
    password: &PasswordHash,
    now: Timestamp,
) -> Result<(), SqliteFailure> {
    diesel::update(users::table.find(user.get()))
        .set(users::password_hash.eq(&password.0))
        .execute(connection)?;
    end_by_new_password(connection, user, now)?;
    end_all(connection, user, None, now)?;
    disable_own(connection, user, None, now)
}
