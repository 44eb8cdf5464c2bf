//! Rows of `challenges`, as transactions store and end them.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::PasswordHash;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::{Challenge, Purpose};
use cuepoint_domain::user::email_change::restorable_until as restorable;
use cuepoint_domain::user::session::TokenHash;
use cuepoint_store_sql::rows::StoredChallenge;
use cuepoint_store_sql::schema::{challenges, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use cuepoint_store_sql::table::Numbered;
use diesel::prelude::*;

use super::sessions::end_all;
use super::webhooks::disable_own;
use crate::dialect::{Connection, Reading, RunQueryDsl, StoreFailure, is_for};

/// Ends the open challenge of a purpose.
pub(crate) async fn end_open(
    connection: &mut Connection,
    user: UserId,
    purpose: Purpose,
    now: Timestamp,
) -> Result<(), StoreFailure> {
    diesel::update(challenges::table)
        .filter(challenges::user_id.eq(user.get()))
        .filter(challenges::purpose.eq(purpose.name()))
        .filter(challenges::ended_at.is_null())
        .set(challenges::ended_at.eq(ColumnTime(now)))
        .execute(connection)
        .await?;
    Ok(())
}

/// Ends the open challenges that a new password ends.
pub(crate) async fn end_by_new_password(
    connection: &mut Connection,
    user: UserId,
    now: Timestamp,
) -> Result<(), StoreFailure> {
    for purpose in Purpose::ENDED_BY_NEW_PASSWORD {
        end_open(connection, user, purpose, now).await?;
    }
    Ok(())
}

/// Stores a challenge.
pub(crate) async fn store(connection: &mut Connection, challenge: &Challenge) -> Result<(), StoreFailure> {
    let challenge = StoredChallenge::of(challenge);
    diesel::insert_into(challenges::table).values(&challenge).execute(connection).await?;
    Ok(())
}

/// The time until which a user can restore their previous address.
pub(crate) async fn restorable_until(
    connection: Reading<'_>,
    user: UserId,
    now: Timestamp,
) -> Result<Option<Timestamp>, StoreFailure> {
    let kept = newest(connection, user, Purpose::EmailRestore).await?;
    let kept = kept.map(Numbered::<StoredChallenge>::challenge).transpose()?;
    Ok(restorable(&kept, now))
}

/// The newest challenge of a purpose with this hash, ended or not.
pub(crate) async fn with_hash(
    mut connection: Reading<'_>,
    purpose: Purpose,
    presented: &TokenHash,
) -> Result<Option<Numbered<StoredChallenge>>, StoreFailure> {
    Ok(challenges::table
        .filter(challenges::hash.eq(presented.0.to_vec()))
        .filter(is_for(purpose))
        .order(challenges::id.desc())
        .select(Numbered::<StoredChallenge>::as_select())
        .first(&mut connection)
        .await
        .optional()?)
}

/// The newest challenge of a purpose.
pub(crate) async fn newest(
    mut connection: Reading<'_>,
    user: UserId,
    purpose: Purpose,
) -> Result<Option<Numbered<StoredChallenge>>, StoreFailure> {
    Ok(challenges::table
        .filter(challenges::user_id.eq(user.get()))
        .filter(challenges::purpose.eq(purpose.name()))
        .order(challenges::id.desc())
        .select(Numbered::<StoredChallenge>::as_select())
        .first(&mut connection)
        .await
        .optional()?)
}

/// Sets the password of a locked user who proved their address: it ends all sessions, and disables the endpoints for
/// their own events.
pub(crate) async fn set_password(
    connection: &mut Connection,
    user: UserId,
    password: &PasswordHash,
    now: Timestamp,
    level: FeatureLevel,
) -> Result<(), StoreFailure> {
    diesel::update(users::table.find(user.get()))
        .set(users::password_hash.eq(&password.0))
        .execute(connection)
        .await?;
    end_by_new_password(connection, user, now).await?;
    end_all(connection, user, None, now).await?;
    disable_own(connection, user, None, now, level).await
}
