//! What people log in with, and the challenges by which they prove an address.

use async_trait::async_trait;

use crate::account::challenge::{Challenge, Judged, Purpose};
use crate::account::code_quotas::{CountedCode, TooMany};
use crate::account::session::TokenHash;
use crate::ids::{SessionId, UserId};
use crate::ports::{PasswordHash, Unavailable};
use crate::timestamp::Timestamp;

/// What a login is checked against.
#[derive(Clone, PartialEq, Debug)]
pub struct Credentials {
    /// Ownership.
    pub user: UserId,
    /// Their password's hash.
    pub password: PasswordHash,
}

/// What sending a challenge came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Issued {
    /// It is kept, and ended the one before it.
    Done,
    /// Too many were sent.
    TooMany(TooMany),
}

/// Keeps passwords and challenges.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Logins: Send + Sync {
    /// What a login with this address is checked against; `email` is folded by [`crate::text::Email::folded`]. Nobody who
    /// was erased has any.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn credentials(&self, email: &str) -> Result<Option<Credentials>, Unavailable>;

    /// What a password of this person is checked against.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn credentials_of(&self, user: UserId) -> Result<Option<Credentials>, Unavailable>;

    /// Puts a hash in place of the one that the same password was just checked against; nothing happens if that one is
    /// no longer there.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn rehash(
        &self,
        user: UserId,
        before: &PasswordHash,
        after: &PasswordHash,
    ) -> Result<(), Unavailable>;

    /// Puts a new password in place of the one that was just checked, ends all other sessions of this person and every
    /// open challenge for [`Purpose::Password`], all or nothing; says whether the old one was still there.
    ///
    /// # Errors
    /// [`Unavailable`]; nothing changed then.
    async fn change_password(
        &self,
        user: UserId,
        before: &PasswordHash,
        after: &PasswordHash,
        keep: Option<SessionId>,
        now: Timestamp,
    ) -> Result<bool, Unavailable>;

    /// Keeps a challenge unless [`crate::account::challenge::may_issue`] refuses it, and ends the person's open one of the same
    /// purpose, in one atomic step. Counted are those of the same purpose whose person or whose target is the same: who
    /// shares an address shares what may be sent to it.
    ///
    /// What is sent to a phone is counted as well: against each of [`CountedCode::quotas`], whoever sent the earlier ones at
    /// whichever server, and whether or not they are still there. Of several quotas that refuse it, [`TooMany::longest`] is
    /// answered.
    ///
    /// # Errors
    /// [`Unavailable`], also when its person is nobody or was erased; nothing changed then.
    async fn issue<'a>(
        &self,
        challenge: &Challenge,
        counted: Option<&'a CountedCode>,
    ) -> Result<Issued, Unavailable>;

    /// Judges an answer to the person's newest challenge of this purpose, by all that it may be kept as, as
    /// [`Challenge::judge`] does, in one atomic
    /// step: a right one ends the challenge and changes the person as [`Challenge::proven`] says; a wrong one counts.
    /// Without a challenge the answer is [`Judged::Over`].
    ///
    /// # Errors
    /// [`Unavailable`]; nothing changed then.
    async fn answer(
        &self,
        user: UserId,
        purpose: Purpose,
        presented: &[TokenHash],
        now: Timestamp,
    ) -> Result<Judged, Unavailable>;

    /// Answers the challenge for [`Purpose::Password`] that has this hash, and sets the new password: the challenge and
    /// all sessions of its person end, and they are changed as [`Challenge::proven`] says, all or nothing. Says whose it
    /// was; `None` unless there is such a challenge and [`Challenge::judge`] finds the answer right.
    ///
    /// # Errors
    /// [`Unavailable`]; nothing changed then.
    async fn reset_password(
        &self,
        presented: &TokenHash,
        after: &PasswordHash,
        now: Timestamp,
    ) -> Result<Option<UserId>, Unavailable>;
}
