//! Credentials and challenges: every change locks the user first, so that concurrent answers are judged and
//! counted one by one.

use async_trait::async_trait;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::{Credentials, GuestClaim, IssueOutcome, Logins, PasswordHash, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::{AnswerOutcome, Challenge, ISSUE_WINDOW, Purpose, may_issue};
use cuepoint_domain::user::code_quotas::{CountedCode, TooMany};
use cuepoint_domain::user::email_change::{EmailChanged, EmailRestored};
use cuepoint_domain::user::guest_account::Claimed;
use cuepoint_domain::user::session::{Session, TokenHash};
use cuepoint_domain::user::wallet_link::LinkEnd;
use cuepoint_domain::user::{Role, User};
use cuepoint_store_sql::Lock;
use cuepoint_store_sql::rows::{StoredChallenge, is_present, known};
use cuepoint_store_sql::schema::{challenges, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use cuepoint_store_sql::table::Numbered;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::result::Error as QueryError;

use super::{email_changes, guest_accounts, wallet_links};
use crate::SqlStore;
use crate::dialect::{Connection, Database, RunQueryDsl, StoreFailure, lock_beside, reading};
use crate::tables::challenges::{
    end_by_new_password, end_open, newest, restorable_until, set_password, store, with_hash,
};
use crate::tables::phone_codes;
use crate::tables::sessions::end_all;
use crate::tables::users::{lock, write};

/// Users who are not erased.
fn present<'q>() -> IntoBoxed<'q, users::table, Database> {
    users::table.filter(is_present()).into_boxed()
}

impl SqlStore {
    /// The credentials of the single user selected by this query.
    async fn credentials_in<'q>(
        &self,
        person: impl Fn() -> IntoBoxed<'q, users::table, Database> + Send + Sync,
    ) -> Result<Option<Credentials>, Unavailable> {
        self.read((), async |mut connection, ()| {
            let columns = (users::id, users::role, users::password_hash);
            let found: Option<(i64, String, String)> =
                person().select(columns).get_result(&mut connection).await.optional()?;
            let Some((id, role, password)) = found else { return Ok(None) };
            let user = known("users.id", UserId::new(id))?;
            let role = known("users.role", Role::stored(&role))?;
            Ok(Some(Credentials { user, role, password: PasswordHash(password) }))
        })
        .await
    }
}

#[async_trait]
impl Logins for SqlStore {
    async fn credentials(&self, email: &str) -> Result<Option<Credentials>, Unavailable> {
        self.credentials_in(|| present().filter(users::email_folded.eq(email))).await
    }

    async fn credentials_of(&self, user: UserId) -> Result<Option<Credentials>, Unavailable> {
        self.credentials_in(|| present().filter(users::id.eq(user.get()))).await
    }

    async fn rehash(
        &self,
        user: UserId,
        before: &PasswordHash,
        after: &PasswordHash,
    ) -> Result<(), Unavailable> {
        let input = (user, before.clone(), after.clone());
        self.write(input, async |connection, (user, before, after)| {
            replace(connection, user, &before, &after).await.map(drop)
        })
        .await
    }

    async fn change_password(
        &self,
        user: UserId,
        before: &PasswordHash,
        after: &PasswordHash,
        keep: Option<SessionId>,
        now: Timestamp,
    ) -> Result<bool, Unavailable> {
        let input = (user, before.clone(), after.clone(), keep, now);
        let done = self.transact(input, async |connection, (user, before, after, keep, now)| {
            let changed = replace(connection, user, &before, &after).await?;
            if changed {
                end_by_new_password(connection, user, now).await?;
                end_all(connection, user, keep, now).await?;
            }
            Ok(changed)
        });
        Ok(done.await?)
    }

    async fn issue<'a>(
        &self,
        challenge: &Challenge,
        counted: Option<&'a CountedCode>,
    ) -> Result<IssueOutcome, Unavailable> {
        if challenge.purpose.feature_level() > self.feature_level() {
            return Ok(IssueOutcome::NotYet);
        }
        let input = (challenge.clone(), counted.cloned(), self.currency.clone());
        let done = self.transact(input, async |connection, (challenge, counted, currency)| {
            issue(connection, &challenge, counted.as_ref(), &currency).await
        });
        Ok(done.await?)
    }

    async fn answer(
        &self,
        user: UserId,
        purpose: Purpose,
        presented: &[TokenHash],
        now: Timestamp,
    ) -> Result<AnswerOutcome, Unavailable> {
        let input = (user, purpose, presented.to_vec(), now, self.currency.clone());
        let done = self.transact(input, async |connection, (user, purpose, presented, now, currency)| {
            answer(connection, user, purpose, &presented, now, &currency).await
        });
        Ok(done.await?)
    }

    async fn reset_password(
        &self,
        presented: &TokenHash,
        after: &PasswordHash,
        now: Timestamp,
    ) -> Result<Option<UserId>, Unavailable> {
        let input = (*presented, after.clone(), now, self.feature_level(), self.currency.clone());
        let done = self.transact(input, async |connection, (presented, after, now, level, currency)| {
            reset(connection, &presented, &after, now, level, &currency).await
        });
        Ok(done.await?)
    }

    async fn claim(&self, claim: &GuestClaim) -> Result<Claimed, Unavailable> {
        let input = (claim.clone(), self.currency.clone());
        let done = self.transact(input, async |connection, (claim, currency)| {
            guest_accounts::claim(connection, &claim, &currency).await
        });
        Ok(email_changes::unless_taken(done.await, Claimed::EmailTaken)?)
    }

    async fn restoration(&self, email: &str, now: Timestamp) -> Result<Option<Challenge>, Unavailable> {
        self.read((email.to_owned(), now), async |connection, (email, now)| {
            email_changes::open_restoration(connection, &email, now).await
        })
        .await
    }

    async fn restorable_until(&self, user: UserId, now: Timestamp) -> Result<Option<Timestamp>, Unavailable> {
        self.read((user, now), async |connection, (user, now)| restorable_until(connection, user, now).await)
            .await
    }

    async fn change_email(
        &self,
        user: UserId,
        session: SessionId,
        presented: &[TokenHash],
        restore: &TokenHash,
        now: Timestamp,
    ) -> Result<EmailChanged, Unavailable> {
        let input = (user, session, presented.to_vec(), *restore, now, self.currency.clone());
        let taken = EmailChanged::Taken;
        let done =
            self.transact(input, async |connection, (user, session, presented, restore, now, currency)| {
                email_changes::change(connection, user, session, &presented, restore, now, &currency).await
            });
        Ok(email_changes::unless_taken(done.await, taken)?)
    }

    async fn restore_email(
        &self,
        presented: &TokenHash,
        after: &PasswordHash,
        now: Timestamp,
    ) -> Result<EmailRestored, Unavailable> {
        let input = (*presented, after.clone(), now, self.feature_level(), self.currency.clone());
        let taken = EmailRestored::Taken;
        let done = self.transact(input, async |connection, (presented, after, now, level, currency)| {
            email_changes::restore(connection, &presented, &after, now, level, &currency).await
        });
        Ok(email_changes::unless_taken(done.await, taken)?)
    }

    async fn challenge(
        &self,
        purpose: Purpose,
        presented: &TokenHash,
    ) -> Result<Option<Challenge>, Unavailable> {
        self.read((purpose, *presented), async |connection, (purpose, presented)| {
            let row = with_hash(connection, purpose, &presented).await?;
            Ok(row.map(Numbered::<StoredChallenge>::challenge).transpose()?)
        })
        .await
    }

    async fn use_wallet_link(
        &self,
        presented: &TokenHash,
        session: &Session,
        cookie: TokenHash,
    ) -> Result<Result<User, LinkEnd>, Unavailable> {
        let input = (*presented, session.clone(), cookie, self.currency.clone());
        let done = self.transact(input, async |connection, (presented, session, cookie, currency)| {
            wallet_links::open(connection, &presented, &session, cookie, &currency).await
        });
        Ok(done.await?)
    }

    async fn ended_by_wallet_link(&self, session: SessionId) -> Result<bool, Unavailable> {
        self.read(session, async |connection, session| wallet_links::ended(connection, session).await).await
    }
}

/// Replaces a password hash, and returns whether the expected one was present.
async fn replace(
    connection: &mut Connection,
    user: UserId,
    before: &PasswordHash,
    after: &PasswordHash,
) -> Result<bool, StoreFailure> {
    let replaced = diesel::update(users::table.find(user.get()))
        .filter(users::password_hash.eq(&before.0))
        .filter(is_present())
        .set(users::password_hash.eq(&after.0))
        .execute(connection)
        .await?;
    Ok(replaced > 0)
}

async fn issue(
    connection: &mut Connection,
    challenge: &Challenge,
    counted: Option<&CountedCode>,
    currency: &Currency,
) -> Result<IssueOutcome, StoreFailure> {
    let person = lock(connection, challenge.user, currency).await?;
    // An erased user must not get a challenge, since it would store their address.
    person.filter(|user| user.is_present()).ok_or(QueryError::NotFound)?;
    // Without this lock, concurrent challenges for one address would not count each other.
    lock_beside(connection, Lock::Target(&challenge.target)).await?;
    let since = challenge.issued_at.minus(ISSUE_WINDOW);
    let earlier: Vec<Timestamp> = challenges::table
        .filter(challenges::user_id.eq(challenge.user.get()).or(challenges::target.eq(&challenge.target)))
        .filter(challenges::purpose.eq(challenge.purpose.name()))
        .filter(challenges::issued_at.ge(ColumnTime(since)))
        .select(challenges::issued_at)
        .load(connection)
        .await?;
    let hour = may_issue(&earlier, challenge.issued_at).err();
    let used_up = match counted {
        Some(code) => {
            lock_beside(connection, Lock::PhoneCodes).await?;
            phone_codes::used_up(connection, code).await?
        }
        None => Vec::new(),
    };
    if let Some(too_many) = TooMany::longest(hour.into_iter().chain(used_up)) {
        return Ok(IssueOutcome::TooMany(too_many));
    }
    if let Some(code) = counted {
        phone_codes::count(connection, code).await?;
    }
    end_open(connection, challenge.user, challenge.purpose, challenge.issued_at).await?;
    store(connection, challenge).await?;
    Ok(IssueOutcome::Done)
}

/// Judges an answer to the newest challenge of a purpose, under the lock of its user.
async fn answer(
    connection: &mut Connection,
    user: UserId,
    purpose: Purpose,
    presented: &[TokenHash],
    now: Timestamp,
    currency: &Currency,
) -> Result<AnswerOutcome, StoreFailure> {
    let Some(person) = lock(connection, user, currency).await? else { return Ok(AnswerOutcome::Over) };
    let Some(newest) = newest(reading(connection), user, purpose).await? else {
        return Ok(AnswerOutcome::Over);
    };
    let kept = challenges::table.find(newest.id);
    let challenge = newest.challenge()?;
    let judged = challenge.judge(&person, presented, now);
    match judged {
        AnswerOutcome::Right => {
            diesel::update(kept).set(challenges::ended_at.eq(ColumnTime(now))).execute(connection).await?;
            let proven: User = challenge.proven(&person, now);
            write(connection, &proven, currency).await?;
        }
        AnswerOutcome::Wrong => {
            let attempts = challenge.attempts.saturating_add(1);
            diesel::update(kept).set(challenges::attempts.eq(attempts)).execute(connection).await?;
        }
        AnswerOutcome::Over => {}
    }
    Ok(judged)
}

async fn reset(
    connection: &mut Connection,
    presented: &TokenHash,
    after: &PasswordHash,
    now: Timestamp,
    level: FeatureLevel,
    currency: &Currency,
) -> Result<Option<UserId>, StoreFailure> {
    let Some(row) = with_hash(reading(connection), Purpose::Password, presented).await? else {
        return Ok(None);
    };
    let user = row.challenge()?.user;
    let answered = answer(connection, user, Purpose::Password, &[*presented], now, currency).await?;
    if answered != AnswerOutcome::Right {
        return Ok(None);
    }
    set_password(connection, user, after, now, level).await?;
    Ok(Some(user))
}
