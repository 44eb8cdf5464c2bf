//! Changes of e-mail addresses, and reserved previous ones. Every change locks the user first.

use cuepoint_domain::account::User;
use cuepoint_domain::account::challenge::{AnswerOutcome, Purpose};
use cuepoint_domain::account::email_change::{
    EmailChanged, EmailRestored, restorable_until as restorable, restoration,
};
use cuepoint_domain::account::session::TokenHash;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::feature_level::FeatureLevel;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::PasswordHash;
use cuepoint_domain::timestamp::Timestamp;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error as QueryError};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::connect::failure::DatabaseFailure;
use crate::rows::{ChallengeRow, column_time};
use crate::schema::challenges;
use crate::tables::challenges::{newest, set_password, store};
use crate::tables::users::{lock, write};

/// The constraint by which no two users have one address.
const ONE_OWNER: &str = "users_email_folded_key";

/// The user who can restore this folded address. To keep an address for its user, a transaction asks after it has
/// written the address to a row: until then the previous owner may commit a change that reserves it.
pub(super) async fn restorer(
    mut connection: &AsyncPgConnection,
    email: &str,
    now: Timestamp,
) -> Result<Option<i64>, DatabaseFailure> {
    let since = now.minus(Purpose::EmailRestore.valid_for());
    Ok(challenges::table
        .filter(challenges::target.eq(email))
        .filter(challenges::purpose.eq(Purpose::EmailRestore.name()))
        .filter(challenges::issued_at.gt(column_time(since)))
        .filter(challenges::ended_at.is_null())
        .select(challenges::user_id)
        .first(&mut connection)
        .await
        .optional()?)
}

/// The time until which a user can restore their previous address.
pub(super) async fn restorable_until(
    connection: &AsyncPgConnection,
    user: UserId,
    now: Timestamp,
) -> Result<Option<Timestamp>, DatabaseFailure> {
    let kept = newest(connection, user, Purpose::EmailRestore).await?;
    let kept = kept.map(ChallengeRow::challenge).transpose()?;
    Ok(restorable(&kept, now))
}

/// Changes the e-mail address of a user who answers the code.
pub(super) async fn change(
    connection: &mut AsyncPgConnection,
    user: UserId,
    presented: &[TokenHash],
    restore: TokenHash,
    now: Timestamp,
    currency: &Currency,
) -> Result<EmailChanged, DatabaseFailure> {
    let Some(before) = lock(connection, user, currency).await? else { return Ok(EmailChanged::Over) };
    let Some(row) = newest(connection, user, Purpose::EmailChange).await? else {
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
    if let Some(until) = restorable_until(connection, user, now).await? {
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
    connection: &mut AsyncPgConnection,
    presented: &TokenHash,
    password: &PasswordHash,
    now: Timestamp,
    level: FeatureLevel,
    currency: &Currency,
) -> Result<EmailRestored, DatabaseFailure> {
    let with_hash = || {
        challenges::table
            .filter(challenges::hash.eq(presented.0.to_vec()))
            .filter(challenges::purpose.eq(Purpose::EmailRestore.name()))
    };
    let owner: Option<i64> = with_hash().select(challenges::user_id).first(connection).await.optional()?;
    let Some(owner) = owner.and_then(UserId::new) else { return Ok(EmailRestored::Over) };
    let Some(before) = lock(connection, owner, currency).await? else { return Ok(EmailRestored::Over) };
    // Read under the lock, so that the token is used once.
    let row: Option<ChallengeRow> =
        with_hash().select(ChallengeRow::as_select()).first(connection).await.optional()?;
    let Some(row) = row else { return Ok(EmailRestored::Over) };
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
/// [`DatabaseFailure::EmailTaken`], or a violation of [`ONE_OWNER`], if another user can restore or has the address.
async fn moves(
    connection: &mut AsyncPgConnection,
    after: &User,
    now: Timestamp,
    currency: &Currency,
) -> Result<(), DatabaseFailure> {
    write(connection, after, currency).await?;
    let restorer = restorer(connection, &after.email.folded(), now).await?;
    if restorer.is_some_and(|restorer| restorer != after.id.get()) {
        return Err(DatabaseFailure::EmailTaken);
    }
    diesel::update(challenges::table)
        .filter(challenges::user_id.eq(after.id.get()))
        .filter(challenges::ended_at.is_null())
        .set(challenges::ended_at.eq(column_time(now)))
        .execute(connection)
        .await?;
    Ok(())
}

/// The outcome `taken` for a transaction that was rolled back because the address is another user's.
pub(super) fn unless_taken<T>(result: Result<T, DatabaseFailure>, taken: T) -> Result<T, DatabaseFailure> {
    match result {
        Err(DatabaseFailure::EmailTaken) => Ok(taken),
        Err(DatabaseFailure::Query(QueryError::DatabaseError(DatabaseErrorKind::UniqueViolation, info)))
            if info.constraint_name() == Some(ONE_OWNER) =>
        {
            Ok(taken)
        }
        result => result,
    }
}
