//! Credentials, and the challenges that verify addresses.

use async_trait::async_trait;

use crate::ids::{SessionId, UserId};
use crate::ports::{PasswordHash, Unavailable};
use crate::timestamp::Timestamp;
use crate::user::challenge::{AnswerOutcome, Challenge, Purpose};
use crate::user::code_quotas::{CountedCode, TooMany};
use crate::user::email_change::{EmailChanged, EmailRestored};
use crate::user::guest_account::{ClaimDetails, Claimed};
use crate::user::session::{Session, SessionSecret, TokenHash};
use crate::user::wallet_link::LinkEnd;
use crate::user::{Role, User};

/// The credentials for a login.
#[derive(Clone, PartialEq, Debug)]
pub struct Credentials {
    pub user: UserId,
    /// The role of the user, read together with the hash, so that reports about failed logins take no time of their own.
    pub role: Role,
    pub password: PasswordHash,
}

/// The outcome of issuing a challenge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IssueOutcome {
    /// It was stored, and ended the previous one.
    Done,
    /// The quota is used up.
    TooMany(TooMany),
    /// The purpose requires a higher feature level.
    NotYet,
}

/// A guest account that its guest claims.
#[derive(Clone, PartialEq, Debug)]
pub struct GuestClaim {
    /// The guest account.
    pub user: UserId,
    /// The session of the guest.
    pub session: SessionId,
    /// What the guest adds.
    pub details: ClaimDetails,
    pub password: PasswordHash,
    /// The next refresh token of the session, or its new cookie.
    pub secret: SessionSecret,
    /// The time from which the secret is refused.
    pub expires_at: Timestamp,
    /// The time of the claim.
    pub at: Timestamp,
}

/// Stores passwords and challenges.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Logins: Send + Sync {
    /// The credentials for this address; `email` is folded by [`crate::text::Email::folded`]. Erased users
    /// have none.
    async fn credentials(&self, email: &str) -> Result<Option<Credentials>, Unavailable>;

    /// The credentials of this user.
    async fn credentials_of(&self, user: UserId) -> Result<Option<Credentials>, Unavailable>;

    /// Replaces the hash that the same password was just verified against; does nothing if the stored hash
    /// has changed.
    async fn rehash(
        &self,
        user: UserId,
        before: &PasswordHash,
        after: &PasswordHash,
    ) -> Result<(), Unavailable>;

    /// Replaces the verified password with a new one, and ends all other sessions of this user and every open
    /// challenge for [`Purpose::ENDED_BY_NEW_PASSWORD`], atomically; returns whether the old password was still stored.
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

    /// Stores a challenge unless [`Purpose::feature_level`] or [`crate::user::challenge::may_issue`] refuses it, and ends the user's
    /// open one of the same purpose, in one atomic step. The quota counts challenges of the same purpose with
    /// the same user or the same target, so that users with one address share its quota.
    ///
    /// Codes to phones also count against each of [`CountedCode::quotas`], across all users and servers and
    /// even after an erasure. If several quotas refuse the code, the result is [`TooMany::longest`].
    ///
    /// # Errors
    /// [`Unavailable`], also when the user does not exist or was erased; nothing changed then.
    async fn issue<'a>(
        &self,
        challenge: &Challenge,
        counted: Option<&'a CountedCode>,
    ) -> Result<IssueOutcome, Unavailable>;

    /// Judges an answer to the user's newest challenge of this purpose, in one atomic step:
    /// [`Challenge::judge`] compares it with every hash under which the challenge may be stored. A right
    /// answer ends the challenge and changes the user as specified by [`Challenge::proven`]; a wrong one is
    /// counted. Without a challenge the result is [`AnswerOutcome::Over`].
    ///
    /// # Errors
    /// [`Unavailable`]; nothing changed then.
    async fn answer(
        &self,
        user: UserId,
        purpose: Purpose,
        presented: &[TokenHash],
        now: Timestamp,
    ) -> Result<AnswerOutcome, Unavailable>;

    /// Answers the challenge for [`Purpose::Password`] with this hash and sets the new password, atomically:
    /// the challenge and all sessions of its user end, with the effect of
    /// [`Sessions::end_sessions`](super::Sessions::end_sessions) on endpoints, and the user changes as specified by
    /// [`Challenge::proven`]. Open challenges for [`Purpose::ENDED_BY_NEW_PASSWORD`] end as well. Returns the user;
    /// `None` unless there is such a challenge and [`Challenge::judge`] accepts the answer.
    ///
    /// # Errors
    /// [`Unavailable`]; nothing changed then.
    async fn reset_password(
        &self,
        presented: &TokenHash,
        after: &PasswordHash,
        now: Timestamp,
    ) -> Result<Option<UserId>, Unavailable>;

    /// Makes a guest account a member, as [`User::claimed`](crate::user::User::claimed) decides, in one atomic step: it
    /// gets the address and the password, its other sessions end, and `secret` replaces the refresh tokens or the
    /// cookie of the session that claims it, which then lives until `expires_at`.
    ///
    /// # Errors
    /// [`Unavailable`]; nothing changed then.
    async fn claim(&self, claim: &GuestClaim) -> Result<Claimed, Unavailable>;

    /// The open challenge that restores this previous address, folded by [`crate::text::Email::folded`], to its user.
    /// Nobody else can register or adopt the address meanwhile.
    async fn restoration(&self, email: &str, now: Timestamp) -> Result<Option<Challenge>, Unavailable>;

    /// The time until which this user can restore their previous address, as specified by
    /// [`crate::user::email_change::restorable_until`].
    async fn restorable_until(&self, user: UserId, now: Timestamp) -> Result<Option<Timestamp>, Unavailable>;

    /// Answers the user's newest challenge for [`Purpose::EmailChange`], in one atomic step. A right answer changes
    /// the user as specified by [`Challenge::proven`], ends all their open challenges, and stores the challenge of
    /// [`crate::user::email_change::restoration`] with the hash `restore`. A wrong one is counted. Any other outcome
    /// leaves everything as it was; a session that ended or expired gives [`EmailChanged::Over`].
    ///
    /// # Errors
    /// [`Unavailable`]; it may have been done then.
    async fn change_email(
        &self,
        user: UserId,
        session: SessionId,
        presented: &[TokenHash],
        restore: &TokenHash,
        now: Timestamp,
    ) -> Result<EmailChanged, Unavailable>;

    /// Answers the challenge for [`Purpose::EmailRestore`] with this hash and sets the new password, with the effects of
    /// [`Logins::reset_password`]; all open challenges of the user end.
    ///
    /// # Errors
    /// [`Unavailable`]; nothing changed then.
    async fn restore_email(
        &self,
        presented: &TokenHash,
        after: &PasswordHash,
        now: Timestamp,
    ) -> Result<EmailRestored, Unavailable>;

    /// The newest challenge of a purpose with this hash, ended or not.
    async fn challenge(
        &self,
        purpose: Purpose,
        presented: &TokenHash,
    ) -> Result<Option<Challenge>, Unavailable>;

    /// Uses the wallet link with this hash when `session` begins, if [`Challenge::opens_wallet`] allows it. The step is
    /// atomic: of any number of concurrent calls, one succeeds. The link and all sessions of the guest account end, and
    /// the session begins with its cookie. Returns the user.
    ///
    /// # Errors
    /// [`Unavailable`], also when the id or the cookie of the session is taken. In all other cases, the link may have been
    /// used.
    async fn use_wallet_link(
        &self,
        presented: &TokenHash,
        session: &Session,
        cookie: TokenHash,
    ) -> Result<Result<User, LinkEnd>, Unavailable>;

    /// Whether the use of a wallet link ended this session. It is known as long as both are kept.
    async fn ended_by_wallet_link(&self, session: SessionId) -> Result<bool, Unavailable>;
}
