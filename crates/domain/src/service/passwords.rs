//! Another password: by who knows the present one, and by who can read the mail of the account.

use std::sync::Arc;

use crate::access::{Action, Caller, Whose};
use crate::challenge::{Challenge, Purpose};
use crate::ids::UserId;
use crate::ports::{
    Clock, Credentials, Issued, Logins, Notice, Notifier, Passwords, People, Recipient, Secrets, Token,
    Unavailable, Verified,
};
use crate::security_log::EventKind;
use crate::service::desk::Obstacle;
use crate::service::journal::Journal;
use crate::session::Visitor;
use crate::text::{Email, Password};

/// Why a password is not changed.
#[derive(Debug)]
pub enum ChangePasswordError {
    /// The present password is another one.
    WrongPassword,
    /// The new password is known from breaches.
    BreachedPassword,
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

/// Why a password is not set.
#[derive(Debug)]
pub enum ResetPasswordError {
    /// The password is known from breaches.
    BreachedPassword,
    /// The token is unknown, used, replaced by a newer one, or too old.
    Refused,
    /// Something outside cannot be reached.
    Unavailable(Unavailable),
}

impl From<Obstacle> for ChangePasswordError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<Unavailable> for ChangePasswordError {
    fn from(unavailable: Unavailable) -> Self {
        Self::Obstacle(unavailable.into())
    }
}

impl From<Unavailable> for ResetPasswordError {
    fn from(unavailable: Unavailable) -> Self {
        Self::Unavailable(unavailable)
    }
}

/// The use cases of passwords.
#[derive(Clone)]
pub struct PasswordDesk {
    pub(super) people: Arc<dyn People>,
    pub(super) logins: Arc<dyn Logins>,
    pub(super) journal: Journal,
    pub(super) passwords: Arc<dyn Passwords>,
    pub(super) secrets: Arc<dyn Secrets>,
    pub(super) notifier: Arc<dyn Notifier>,
    pub(super) clock: Arc<dyn Clock>,
}

impl PasswordDesk {
    /// Puts a new password in place of the present one, which the caller has to know; all their other sessions end.
    /// [`PasswordDesk::tell`] is to be called after it.
    ///
    /// # Errors
    /// [`ChangePasswordError`]; nothing changed then, unless it is [`Unavailable`].
    pub async fn change(
        &self,
        caller: &Caller,
        present: &Password,
        new: &Password,
        visitor: Visitor,
    ) -> Result<(), ChangePasswordError> {
        caller.may(Action::UseAccount, Whose::Own).map_err(Obstacle::from)?;
        if self.passwords.is_breached(new) {
            return Err(ChangePasswordError::BreachedPassword);
        }
        let known = self.logins.credentials_of(caller.user).await?;
        let Credentials { user, password: before } = known.ok_or(Obstacle::UnknownCaller)?;
        if self.passwords.verify(present, Some(before.clone())).await? == Verified::Wrong {
            self.journal.by(caller, EventKind::PasswordChangeFailed, visitor).await;
            return Err(ChangePasswordError::WrongPassword);
        }
        let (after, now) = (self.passwords.hash(new).await?, self.clock.now());
        if !self.logins.change_password(user, &before, &after, Some(caller.session), now).await? {
            return Err(Obstacle::Conflict.into());
        }
        self.journal.by(caller, EventKind::PasswordChanged, visitor).await;
        Ok(())
    }

    /// Sends a token with which to set a new password to whose address this is, if it is anybody's who is let in, and
    /// who was not sent too many already. What became of it must not be told to who asked.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn forgot(&self, email: &Email, visitor: Visitor) -> Result<(), Unavailable> {
        let Some(Credentials { user, .. }) = self.logins.credentials(&email.folded()).await? else {
            return Ok(());
        };
        let profile = self.people.profile(user).await?;
        let Some(user) = profile.map(|profile| profile.user).filter(|user| user.suspended_at.is_none())
        else {
            return Ok(());
        };
        let token = self.secrets.token();
        let hash = self.secrets.fingerprint(&token);
        let challenge = Challenge::issue(&user, Purpose::Password, hash, self.clock.now());
        let Some(challenge) = challenge else { return Ok(()) };
        if self.logins.issue(&challenge, None).await? != Issued::Done {
            return Ok(());
        }
        self.notifier.send(&Recipient::Email(user.email), &Notice::PasswordReset(token)).await?;
        self.journal.note(EventKind::PasswordResetRequested, Some(user.id), None, visitor).await;
        Ok(())
    }

    /// Sets a new password with a token that was sent; all sessions of its owner end. Says whose it was, for
    /// [`PasswordDesk::tell`]. A password that cannot be chosen uses nothing up.
    ///
    /// # Errors
    /// [`ResetPasswordError`].
    pub async fn reset(
        &self,
        token: &Token,
        new: &Password,
        visitor: Visitor,
    ) -> Result<UserId, ResetPasswordError> {
        if self.passwords.is_breached(new) {
            return Err(ResetPasswordError::BreachedPassword);
        }
        let after = self.passwords.hash(new).await?;
        let presented = self.secrets.fingerprint(token);
        let owner = self.logins.reset_password(&presented, &after, self.clock.now()).await?;
        let owner = owner.ok_or(ResetPasswordError::Refused)?;
        self.journal.note(EventKind::PasswordReset, Some(owner), None, visitor).await;
        Ok(owner)
    }

    /// Whether this deployment sends messages to mail addresses such as this one, whosever it is.
    #[must_use]
    pub fn can_tell(&self, email: &Email) -> bool {
        self.notifier.can_reach(&Recipient::Email(email.clone()))
    }

    /// Tells somebody that their password was changed, so that who did not do it can act.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn tell(&self, user: UserId) -> Result<(), Unavailable> {
        let Some(profile) = self.people.profile(user).await? else { return Ok(()) };
        let to = Recipient::Email(profile.user.email);
        if profile.user.erased_at.is_some() || !self.notifier.can_reach(&to) {
            return Ok(());
        }
        self.notifier.send(&to, &Notice::PasswordChanged).await
    }
}
