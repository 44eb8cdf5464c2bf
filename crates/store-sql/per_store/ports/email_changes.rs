//! Changes of e-mail addresses, and reserved previous ones. Every change locks the user first.

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::PasswordHash;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::challenge::{AnswerOutcome, Challenge, Purpose};
use cuepoint_domain::user::email_change::{EmailChanged, EmailRestored, restoration};
use cuepoint_domain::user::session::TokenHash;
use cuepoint_store_sql::rows::StoredChallenge;
use cuepoint_store_sql::schema::challenges;
use cuepoint_store_sql::sql_types::ColumnTime;
use cuepoint_store_sql::table::Numbered;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error as QueryError};

use crate::dialect::{Connection, Database, Reading, RunQueryDsl, StoreFailure, is_of_one_owner, reading};
use crate::tables::challenges::{newest, restorable_until, set_password, store, with_hash};
use crate::tables::sessions::is_alive;
use crate::tables::users::{lock, write};

/// The open challenges that restore this folded address.
fn restorations(email: &str, now: Timestamp) -> IntoBoxed<'_, challenges::table, Database> {
    let since = now.minus(Purpose::EmailRestore.valid_for());
    challenges::table
        .filter(challenges::target.eq(email))
        .filter(challenges::purpose.eq(Purpose::EmailRestore.name()))
        .filter(challenges::issued_at.gt(ColumnTime(since)))
        .filter(challenges::ended_at.is_null())
        .into_boxed()
}

/// The open challenge that restores this folded address.
pub(super) async fn open_restoration(
    mut connection: Reading<'_>,
    email: &str,
    now: Timestamp,
) -> Result<Option<Challenge>, StoreFailure> {
    let row: Option<Numbered<StoredChallenge>> = restorations(email, now)
        .order(challenges::issued_at.desc())
        .select(Numbered::<StoredChallenge>::as_select())
        .first(&mut connection)
        .await
        .optional()?;
    Ok(row.map(Numbered::<StoredChallenge>::challenge).transpose()?)
}

/// Whether this user may have this folded address, because no other user can restore it. A transaction asks after it
/// has written the address to a row: until then the previous owner may commit a change that reserves it.
///
/// # Errors
/// [`StoreFailure::EmailTaken`] if another user can restore it.
pub(super) async fn ensure_unreserved(
    connection: &mut Connection,
    email: &str,
    user: i64,
    now: Timestamp,
) -> Result<(), StoreFailure> {
    let others = restorations(email, now).filter(challenges::user_id.ne(user));
    let others: i64 = others.count().get_result(connection).await?;
    if others > 0 { Err(StoreFailure::EmailTaken) } else { Ok(()) }
}

/// Changes the e-mail address of a user who answers the code.
pub(super) async fn change(
    connection: &mut Connection,
    user: UserId,
    session: SessionId,
    presented: &[TokenHash],
    restore: TokenHash,
    now: Timestamp,
    currency: &Currency,
) -> Result<EmailChanged, StoreFailure> {
    let Some(before) = lock(connection, user, currency).await? else { return Ok(EmailChanged::Over) };
    if !is_alive(connection, session, now).await? {
        return Ok(EmailChanged::Over);
    }
    let Some(row) = newest(reading(connection), user, Purpose::EmailChange).await? else {
        return Ok(EmailChanged::Over);
    };
    let kept = challenges::table.find(row.id);
    let code = row.challenge()?;
    match code.judge(&before, presented, now) {
        AnswerOutcome::Over => return Ok(EmailChanged::Over),
        AnswerOutcome::Wrong => {
            let attempts = code.attempts.saturating_add(1);
            diesel::update(kept).set(challenges::attempts.eq(attempts)).execute(connection).await?;
            return Ok(EmailChanged::Wrong);
        }
        AnswerOutcome::Right => {}
    }
    if let Some(until) = restorable_until(reading(connection), user, now).await? {
        return Ok(EmailChanged::Restorable(until));
    }
    let after = code.proven(&before, now);
    moves(connection, &after, now, currency).await?;
    if let Some(restoration) = restoration(&before, restore, now) {
        store(connection, &restoration).await?;
    }
    Ok(EmailChanged::Done(Box::new(after)))
}

/// Restores the previous address of the user with this token, and sets their password.
pub(super) async fn restore(
    connection: &mut Connection,
    presented: &TokenHash,
    password: &PasswordHash,
    now: Timestamp,
    level: FeatureLevel,
    currency: &Currency,
) -> Result<EmailRestored, StoreFailure> {
    let purpose = Purpose::EmailRestore;
    let Some(row) = with_hash(reading(connection), purpose, presented).await? else {
        return Ok(EmailRestored::Over);
    };
    let owner = row.challenge()?.user;
    let Some(before) = lock(connection, owner, currency).await? else { return Ok(EmailRestored::Over) };
    // Read again under the lock, so that the token is used once.
    let Some(row) = with_hash(reading(connection), purpose, presented).await? else {
        return Ok(EmailRestored::Over);
    };
    let token = row.challenge()?;
    if token.judge(&before, &[*presented], now) != AnswerOutcome::Right {
        return Ok(EmailRestored::Over);
    }
    let after = token.proven(&before, now);
    moves(connection, &after, now, currency).await?;
    set_password(connection, after.id, password, now, level).await?;
    Ok(EmailRestored::Done { before: Box::new(before), after: Box::new(after) })
}

/// Gives a locked user their new address and ends their open challenges.
///
/// # Errors
/// [`StoreFailure::EmailTaken`], or a unique violation, if another user can restore or has the address.
pub(super) async fn moves(
    connection: &mut Connection,
    after: &User,
    now: Timestamp,
    currency: &Currency,
) -> Result<(), StoreFailure> {
    write(connection, after, currency).await?;
    ensure_unreserved(connection, &after.email.folded(), after.id.get(), now).await?;
    diesel::update(challenges::table)
        .filter(challenges::user_id.eq(after.id.get()))
        .filter(challenges::ended_at.is_null())
        .set(challenges::ended_at.eq(ColumnTime(now)))
        .execute(connection)
        .await?;
    Ok(())
}

/// The outcome `taken` for a transaction that was rolled back because another user has or can restore the e-mail
/// address.
pub(super) fn unless_taken<T>(result: Result<T, StoreFailure>, taken: T) -> Result<T, StoreFailure> {
    match result {
        Err(StoreFailure::EmailTaken) => Ok(taken),
        Err(StoreFailure::Query(QueryError::DatabaseError(DatabaseErrorKind::UniqueViolation, info)))
            if is_of_one_owner(&*info) =>
        {
            Ok(taken)
        }
        result => result,
    }
}
