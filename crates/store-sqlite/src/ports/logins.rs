//! Credentials and challenges.

use async_trait::async_trait;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Credentials, IssueOutcome, Logins, PasswordHash, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::challenge::{AnswerOutcome, Challenge, ISSUE_WINDOW, Purpose, may_issue};
use cuepoint_domain::user::code_quotas::{CountedCode, TooMany};
use cuepoint_domain::user::email_change::{EmailChanged, EmailRestored};
use cuepoint_domain::user::session::TokenHash;
use cuepoint_store_sql::rows::{is_present, known};
use cuepoint_store_sql::schema::{challenges, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::sql;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use diesel::sql_types::Bool;
use diesel::sqlite::Sqlite;

use super::email_changes;
use crate::SqliteStore;
use crate::connect::failure::SqliteFailure;
use crate::tables::challenges::{
    end_by_new_password, end_open, newest, restorable_until, set_password, store,
};
use crate::tables::phone_codes;
use crate::tables::sessions::end_all;
use crate::tables::users::{find, write};
use crate::writer::Repetition;

/// Users who are not erased.
fn present<'q>() -> IntoBoxed<'q, users::table, Sqlite> {
    users::table.filter(is_present()).into_boxed()
}

impl SqliteStore {
    /// The credentials of the single user selected by this query.
    fn credentials_in(
        &self,
        person: IntoBoxed<'_, users::table, Sqlite>,
    ) -> Result<Option<Credentials>, Unavailable> {
        self.readers.read(|connection| {
            let columns = (users::id, users::password_hash);
            let found: Option<(i64, String)> = person.select(columns).get_result(connection).optional()?;
            let Some((id, password)) = found else { return Ok(None) };
            let user = known("users.id", UserId::new(id))?;
            Ok(Some(Credentials { user, password: PasswordHash(password) }))
        })
    }
}

#[async_trait]
impl Logins for SqliteStore {
    async fn credentials(&self, email: &str) -> Result<Option<Credentials>, Unavailable> {
        self.credentials_in(present().filter(users::email_folded.eq(email)))
    }

    async fn credentials_of(&self, user: UserId) -> Result<Option<Credentials>, Unavailable> {
        self.credentials_in(present().filter(users::id.eq(user.get())))
    }

    async fn rehash(
        &self,
        user: UserId,
        before: &PasswordHash,
        after: &PasswordHash,
    ) -> Result<(), Unavailable> {
        let (before, after) = (before.clone(), after.clone());
        let rehash = move |connection: &mut SqliteConnection| replace(connection, user, &before, &after);
        self.writer.change(Repetition::Once, rehash).await?;
        Ok(())
    }

    async fn change_password(
        &self,
        user: UserId,
        before: &PasswordHash,
        after: &PasswordHash,
        keep: Option<SessionId>,
        now: Timestamp,
    ) -> Result<bool, Unavailable> {
        let (before, after) = (before.clone(), after.clone());
        let change = move |connection: &mut SqliteConnection| {
            let changed = replace(connection, user, &before, &after)?;
            if changed {
                end_by_new_password(connection, user, now)?;
                end_all(connection, user, keep, now)?;
            }
            Ok(changed)
        };
        Ok(self.writer.change(Repetition::Once, change).await?)
    }

    async fn issue<'a>(
        &self,
        challenge: &Challenge,
        counted: Option<&'a CountedCode>,
    ) -> Result<IssueOutcome, Unavailable> {
        let (challenge, counted, currency) = (challenge.clone(), counted.cloned(), self.currency.clone());
        let issue = move |connection: &mut SqliteConnection| {
            issue(connection, &challenge, counted.as_ref(), &currency)
        };
        Ok(self.writer.change(Repetition::Once, issue).await?)
    }

    async fn answer(
        &self,
        user: UserId,
        purpose: Purpose,
        presented: &[TokenHash],
        now: Timestamp,
    ) -> Result<AnswerOutcome, Unavailable> {
        let (presented, currency) = (presented.to_vec(), self.currency.clone());
        let answer = move |connection: &mut SqliteConnection| {
            answer(connection, user, purpose, &presented, now, &currency)
        };
        Ok(self.writer.change(Repetition::Once, answer).await?)
    }

    async fn reset_password(
        &self,
        presented: &TokenHash,
        after: &PasswordHash,
        now: Timestamp,
    ) -> Result<Option<UserId>, Unavailable> {
        let (presented, after, currency) = (*presented, after.clone(), self.currency.clone());
        let reset =
            move |connection: &mut SqliteConnection| reset(connection, &presented, &after, now, &currency);
        Ok(self.writer.change(Repetition::Once, reset).await?)
    }

    async fn restoration(&self, email: &str, now: Timestamp) -> Result<Option<Challenge>, Unavailable> {
        self.readers.read(|connection| email_changes::open_restoration(connection, email, now))
    }

    async fn restorable_until(&self, user: UserId, now: Timestamp) -> Result<Option<Timestamp>, Unavailable> {
        self.readers.read(|connection| restorable_until(connection, user, now))
    }

    async fn change_email(
        &self,
        user: UserId,
        session: SessionId,
        presented: &[TokenHash],
        restore: &TokenHash,
        now: Timestamp,
    ) -> Result<EmailChanged, Unavailable> {
        let (presented, restore, currency) = (presented.to_vec(), *restore, self.currency.clone());
        let change = move |connection: &mut SqliteConnection| {
            email_changes::change(connection, user, session, &presented, restore, now, &currency)
        };
        Ok(self.writer.change(Repetition::Once, change).await?)
    }

    async fn restore_email(
        &self,
        presented: &TokenHash,
        after: &PasswordHash,
        now: Timestamp,
    ) -> Result<EmailRestored, Unavailable> {
        let (presented, after, currency) = (*presented, after.clone(), self.currency.clone());
        let restore = move |connection: &mut SqliteConnection| {
            email_changes::restore(connection, &presented, &after, now, &currency)
        };
        Ok(self.writer.change(Repetition::Once, restore).await?)
    }
}

/// Replaces a password hash, and returns whether the expected one was present.
fn replace(
    connection: &mut SqliteConnection,
    user: UserId,
    before: &PasswordHash,
    after: &PasswordHash,
) -> Result<bool, SqliteFailure> {
    let replaced = diesel::update(users::table.find(user.get()))
        .filter(users::password_hash.eq(&before.0))
        .filter(is_present())
        .set(users::password_hash.eq(&after.0))
        .execute(connection)?;
    Ok(replaced > 0)
}

fn issue(
    connection: &mut SqliteConnection,
    challenge: &Challenge,
    counted: Option<&CountedCode>,
    currency: &Currency,
) -> Result<IssueOutcome, SqliteFailure> {
    let person = find(connection, challenge.user, currency)?;
    // An erased user must not get a challenge, since it would store their address.
    person.filter(|user| user.is_present()).ok_or(QueryError::NotFound)?;
    let since = challenge.issued_at.minus(ISSUE_WINDOW);
    let earlier: Vec<Timestamp> = challenges::table
        .filter(challenges::user_id.eq(challenge.user.get()).or(challenges::target.eq(&challenge.target)))
        .filter(challenges::purpose.eq(challenge.purpose.name()))
        .filter(challenges::issued_at.ge(ColumnTime(since)))
        .select(challenges::issued_at)
        .load(connection)?;
    let hour = may_issue(&earlier, challenge.issued_at).err();
    let used_up = match counted {
        Some(code) => phone_codes::used_up(connection, code)?,
        None => Vec::new(),
    };
    if let Some(too_many) = TooMany::longest(hour.into_iter().chain(used_up)) {
        return Ok(IssueOutcome::TooMany(too_many));
    }
    if let Some(code) = counted {
        phone_codes::count(connection, code)?;
    }
    end_open(connection, challenge.user, challenge.purpose, challenge.issued_at)?;
    store(connection, challenge)?;
    Ok(IssueOutcome::Done)
}

/// Judges an answer to the newest challenge of a purpose.
fn answer(
    connection: &mut SqliteConnection,
    user: UserId,
    purpose: Purpose,
    presented: &[TokenHash],
    now: Timestamp,
    currency: &Currency,
) -> Result<AnswerOutcome, SqliteFailure> {
    let Some(person) = find(connection, user, currency)? else { return Ok(AnswerOutcome::Over) };
    let Some(newest) = newest(connection, user, purpose)? else { return Ok(AnswerOutcome::Over) };
    let row = challenges::table.find(newest.id);
    let challenge = newest.challenge()?;
    let judged = challenge.judge(&person, presented, now);
    match judged {
        AnswerOutcome::Right => {
            diesel::update(row).set(challenges::ended_at.eq(ColumnTime(now))).execute(connection)?;
            let proven: User = challenge.proven(&person, now);
            write(connection, &proven, currency)?;
        }
        AnswerOutcome::Wrong => {
            let attempts = challenge.attempts.saturating_add(1);
            diesel::update(row).set(challenges::attempts.eq(attempts)).execute(connection)?;
        }
        AnswerOutcome::Over => {}
    }
    Ok(judged)
}

fn reset(
    connection: &mut SqliteConnection,
    presented: &TokenHash,
    after: &PasswordHash,
    now: Timestamp,
    currency: &Currency,
) -> Result<Option<UserId>, SqliteFailure> {
    // A literal, since the partial index is used only if the statement contains its condition.
    let for_passwords = format!("challenges.purpose = '{}'", Purpose::Password.name());
    let owner: Option<i64> = challenges::table
        .filter(challenges::hash.eq(presented.0.to_vec()))
        .filter(sql::<Bool>(&for_passwords))
        .order(challenges::id.desc())
        .select(challenges::user_id)
        .first(connection)
        .optional()?;
    let Some(owner) = owner else { return Ok(None) };
    let user = known("challenges.user_id", UserId::new(owner))?;
    if answer(connection, user, Purpose::Password, &[*presented], now, currency)? != AnswerOutcome::Right {
        return Ok(None);
    }
    set_password(connection, user, after, now)?;
    Ok(Some(user))
}
