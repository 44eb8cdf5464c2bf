//! Changes of passwords, by users who know the current one, and resets by e-mail.

use std::sync::Arc;

use thiserror::Error;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{ClientContext, Context, Executor};
use crate::application::users::is_own_password;
use crate::authorization::permission::UseCredentials;
use crate::ports::{
    Credentials, IssueOutcome, Job, Notice, PasswordCheck, Recipient, SecurityCause, Token, Unavailable,
};
use crate::security_log::SecurityEventKind;
use crate::text::{Email, Password};
use crate::user::RecentPassword;
use crate::user::challenge::{Challenge, Purpose};
use crate::user::session::ClientInfo;

/// Why a change of a password is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ChangePasswordRefusal {
    /// The current password is wrong.
    #[error("the present password is wrong")]
    WrongPassword,
    /// The new password is known from breaches.
    #[error("the password is known from breaches")]
    BreachedPassword,
}

/// Why a password reset token is not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum RequestResetRefusal {
    /// This deployment sends no e-mail.
    #[error("e-mail is not offered")]
    NotOffered,
}

/// Why a password reset is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ResetPasswordRefusal {
    /// The password is known from breaches.
    #[error("the password is known from breaches")]
    BreachedPassword,
    /// The token is unknown, used, replaced by a newer one, or expired.
    #[error("the token is invalid or has expired")]
    InvalidToken,
}

/// The password that a principal repeats is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the password is wrong")]
pub struct WrongPassword;

/// Changes and resets passwords.
#[derive(Clone)]
pub struct PasswordChanges {
    pub(in crate::application) env: Arc<Environment>,
    pub(in crate::application) executor: Executor,
}

impl PasswordChanges {
    /// Checks the password that the principal repeats, so that the next steps of the session need no other one.
    ///
    /// # Errors
    /// [`WrongPassword`], which is recorded.
    pub async fn check(
        &self,
        context: &Context,
        password: &Password,
    ) -> Result<RecentPassword, CommandError<WrongPassword>> {
        let env = &self.env;
        self.executor
            .perform::<UseCredentials, _, _>(context, async |_, principal, _| {
                if is_own_password(env, context, principal, password, "repeated password").await? {
                    Ok(RecentPassword { session: principal.session, checked_at: env.now() })
                } else {
                    Err(CommandError::Refused(WrongPassword))
                }
            })
            .await
    }

    /// Replaces the current password, which the principal has to know; all their other sessions end, and they
    /// are notified.
    ///
    /// # Errors
    /// [`ChangePasswordRefusal`]; nothing changed then, except for [`Failure::Unavailable`].
    pub async fn change(
        &self,
        context: &Context,
        present: &Password,
        new: &Password,
    ) -> Result<(), CommandError<ChangePasswordRefusal>> {
        let env = &self.env;
        self.executor
            .perform::<UseCredentials, _, _>(context, async |own, principal, effects| {
                if env.ports.passwords.is_breached(new) {
                    return Err(CommandError::Refused(ChangePasswordRefusal::BreachedPassword));
                }
                let known = env.logins.credentials_of(*own).await?;
                let Credentials { user, password: before, .. } = known.ok_or(Failure::UnknownPrincipal)?;
                let client = context.client.clone();
                if env.ports.passwords.verify(present, Some(before.clone()), client.network()).await?
                    == PasswordCheck::Wrong
                {
                    env.security_audit.by(principal, SecurityEventKind::PasswordChangeFailed, client).await;
                    return Err(CommandError::Refused(ChangePasswordRefusal::WrongPassword));
                }
                let (after, keep) =
                    (env.ports.passwords.hash(new, client.network()).await?, Some(principal.session));
                if !env.logins.change_password(user, &before, &after, keep, env.now()).await? {
                    return Err(Failure::Conflict.into());
                }
                effects.revocations_changed();
                effects.enqueue(env.secured(user, SecurityCause::PasswordChanged, &client));
                env.security_audit.by(principal, SecurityEventKind::PasswordChanged, client).await;
                Ok(())
            })
            .await
    }

    /// Enqueues a background job that sends a password reset token to this address. The answer is the same
    /// for every address, and precedes every look-up.
    ///
    /// # Errors
    /// [`RequestResetRefusal`], and [`Failure::Unavailable`] when the job queue is full.
    pub fn request_reset(
        &self,
        context: &ClientContext,
        email: Email,
    ) -> Result<(), CommandError<RequestResetRefusal>> {
        if !self.env.ports.notifier.can_reach(&Recipient::Email(email.clone())) {
            return Err(CommandError::Refused(RequestResetRefusal::NotOffered));
        }
        let client = context.client.clone();
        Ok(self.env.ports.jobs.enqueue(Job::SendPasswordReset { email, client })?)
    }

    /// Sets a new password with a reset token; all sessions of its user end, their own webhook endpoints are
    /// disabled, and they are notified. A rejected password does not use up the token.
    ///
    /// # Errors
    /// [`ResetPasswordRefusal`].
    pub async fn reset(
        &self,
        context: &ClientContext,
        token: &Token,
        new: &Password,
    ) -> Result<(), CommandError<ResetPasswordRefusal>> {
        let env = &self.env;
        self.executor
            .perform_open(context.deadline, async |effects| {
                if env.ports.passwords.is_breached(new) {
                    return Err(CommandError::Refused(ResetPasswordRefusal::BreachedPassword));
                }
                let presented = env.ports.secrets.fingerprint(token);
                if !env.has_open_challenge(Purpose::Password, &presented).await? {
                    return Err(CommandError::Refused(ResetPasswordRefusal::InvalidToken));
                }
                let after = env.ports.passwords.hash(new, context.client.network()).await?;
                let owner = env.logins.reset_password(&presented, &after, env.now()).await?;
                let owner = owner.ok_or(CommandError::Refused(ResetPasswordRefusal::InvalidToken))?;
                effects.revocations_changed();
                let client = context.client.clone();
                effects.enqueue(env.secured(owner, SecurityCause::PasswordReset, &client));
                env.security_audit.about(SecurityEventKind::PasswordReset, Some(owner), None, client).await;
                Ok(())
            })
            .await
    }

    /// Sends a password reset token if the address belongs to an active user within their quota.
    pub(in crate::application) async fn send_reset(
        &self,
        email: &Email,
        client: ClientInfo,
    ) -> Result<(), Unavailable> {
        let env = &self.env;
        let Some(Credentials { user, .. }) = env.logins.credentials(&email.folded()).await? else {
            return Ok(());
        };
        let profile = env.people.profile(user).await?;
        let Some(user) = profile.map(|profile| profile.user).filter(|user| user.suspended_at.is_none())
        else {
            return Ok(());
        };
        let token = env.ports.secrets.token();
        let hash = env.ports.secrets.fingerprint(&token);
        let challenge = Challenge::issue(&user, Purpose::Password, hash, env.now());
        let Some(challenge) = challenge else { return Ok(()) };
        if env.logins.issue(&challenge, None).await? != IssueOutcome::Done {
            return Ok(());
        }
        env.ports.notifier.send(&Recipient::Email(user.email), &Notice::PasswordReset(token)).await?;
        env.security_audit
            .about(SecurityEventKind::PasswordResetRequested, Some(user.id), None, client)
            .await;
        Ok(())
    }
}
