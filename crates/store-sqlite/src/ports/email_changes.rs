//! Changes of e-mail addresses, and reserved previous ones.

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::PasswordHash;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::challenge::{AnswerOutcome, Challenge, Purpose};
use cuepoint_domain::user::email_change::{EmailChanged, EmailRestored, restoration};
use cuepoint_domain::user::session::TokenHash;
use cuepoint_store_sql::rows::StoredChallenge;
use cuepoint_store_sql::schema::{challenges, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use cuepoint_store_sql::table::Numbered;
use diesel::dsl::sql;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel::sqlite::Sqlite;

use crate::connect::failure::SqliteFailure;
use crate::tables::challenges::{newest, restorable_until, set_password, store};
use crate::tables::sessions::is_live;
use crate::tables::users::{find, write};

/// The open challenges that restore this folded address.
fn restorations(email: &str, now: Timestamp) -> IntoBoxed<'_, challenges::table, Sqlite> {
    let since = now.minus(Purpose::EmailRestore.valid_for());
    challenges::table
        .filter(challenges::target.eq(email))
        .filter(challenges::purpose.eq(Purpose::EmailRestore.name()))
        .filter(challenges::issued_at.gt(ColumnTime(since)))
        .filter(challenges::ended_at.is_null())
        .into_boxed()
}

/// The open challenge that restores this folded address.
pub(super) fn open_restoration(
    connection: &mut SqliteConnection,
    email: &str,
    now: Timestamp,
) -> Result<Option<Challenge>, SqliteFailure> {
    let row: Option<Numbered<StoredChallenge>> = restorations(email, now)
        .order(challenges::issued_at.desc())
        .select(Numbered::<StoredChallenge>::as_select())
        .first(connection)
        .optional()?;
    Ok(row.map(|row| row.challenge()).transpose()?)
}

/// Whether a user other than this one can restore this folded address.
pub(super) fn is_reserved(
    connection: &mut SqliteConnection,
    email: &str,
    user: i64,
    now: Timestamp,
) -> Result<bool, SqliteFailure> {
    let others = restorations(email, now).filter(challenges::user_id.ne(user));
    Ok(others.count().get_result::<i64>(connection)? > 0)
}

/// Changes the e-mail address of a user who answers the code.
pub(super) fn change(
    connection: &mut SqliteConnection,
    user: UserId,
    session: SessionId,
    presented: &[TokenHash],
    restore: TokenHash,
    now: Timestamp,
    currency: &Currency,
) -> Result<EmailChanged, SqliteFailure> {
    let Some(before) = find(connection, user, currency)? else { return Ok(EmailChanged::Over) };
    if !is_live(connection, Some(session))? {
        return Ok(EmailChanged::Over);
    }
    let Some(row) = newest(connection, user, Purpose::EmailChange)? else { return Ok(EmailChanged::Over) };
    let kept = challenges::table.find(row.id);
    let code = row.challenge()?;
    match code.judge(&before, presented, now) {
        AnswerOutcome::Over => return Ok(EmailChanged::Over),
        AnswerOutcome::Wrong => {
            let attempts = code.attempts.saturating_add(1);
            diesel::update(kept).set(challenges::attempts.eq(attempts)).execute(connection)?;
            return Ok(EmailChanged::Wrong);
        }
        AnswerOutcome::Right => {}
    }
    if let Some(until) = restorable_until(connection, user, now)? {
        return Ok(EmailChanged::Restorable(until));
    }
    let after = code.proven(&before, now);
    if !moves(connection, &after, now, currency)? {
        return Ok(EmailChanged::Taken);
    }
    if let Some(restoration) = restoration(&before, restore, now) {
        store(connection, &restoration)?;
    }
    Ok(EmailChanged::Done(Box::new(after)))
}

/// Restores the previous address of the user with this token, and sets their password.
pub(super) fn restore(
    connection: &mut SqliteConnection,
    presented: &TokenHash,
    password: &PasswordHash,
    now: Timestamp,
    currency: &Currency,
) -> Result<EmailRestored, SqliteFailure> {
    // A literal, since the partial index is used only if the statement contains its condition.
    let restorations = format!("challenges.purpose = '{}'", Purpose::EmailRestore.name());
    let row: Option<Numbered<StoredChallenge>> = challenges::table
        .filter(challenges::hash.eq(presented.0.to_vec()))
        .filter(sql::<Bool>(&restorations))
        .select(Numbered::<StoredChallenge>::as_select())
        .first(connection)
        .optional()?;
    let Some(row) = row else { return Ok(EmailRestored::Over) };
    let token: Challenge = row.challenge()?;
    let Some(before) = find(connection, token.user, currency)? else { return Ok(EmailRestored::Over) };
    if token.judge(&before, &[*presented], now) != AnswerOutcome::Right {
        return Ok(EmailRestored::Over);
    }
    let after = token.proven(&before, now);
    if !moves(connection, &after, now, currency)? {
        return Ok(EmailRestored::Taken);
    }
    set_password(connection, after.id, password, now)?;
    Ok(EmailRestored::Done { before: Box::new(before), after: Box::new(after) })
}

/// Gives a user their new address and ends their open challenges, unless another user has or can restore the address.
fn moves(
    connection: &mut SqliteConnection,
    after: &User,
    now: Timestamp,
    currency: &Currency,
) -> Result<bool, SqliteFailure> {
    let email = after.email.folded();
    let owner: Option<i64> =
        users::table.filter(users::email_folded.eq(&email)).select(users::id).first(connection).optional()?;
    let user = after.id.get();
    if owner.is_some_and(|owner| owner != user) || is_reserved(connection, &email, user, now)? {
        return Ok(false);
    }
    write(connection, after, currency)?;
    diesel::update(challenges::table)
        .filter(challenges::user_id.eq(after.id.get()))
        .filter(challenges::ended_at.is_null())
        .set(challenges::ended_at.eq(ColumnTime(now)))
        .execute(connection)?;
    Ok(true)
}
