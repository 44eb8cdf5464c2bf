//! Changes of the e-mail address: a code proves the new one, and a token sent to the previous one restores that.

use std::sync::Arc;

use thiserror::Error;
use time::Duration;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Authorized, ClientContext, Context, Executor};
use crate::application::users::verifications::between;
use crate::application::users::{Confirmation, is_confirmed};
use crate::authorization::Principal;
use crate::authorization::permission::UseCredentials;
use crate::ports::{
    EmailNews, IssueOutcome, Job, LowEntropyValue, Notice, Profile, Recipient, SecurityCause, Token,
    Unavailable,
};
use crate::security_log::SecurityEventKind;
use crate::text::{Email, Password};
use crate::timestamp::Timestamp;
use crate::user::challenge::{Challenge, Purpose};
use crate::user::code_quotas::{CodeQuota, TooMany};
use crate::user::email_change::{EmailChanged, EmailRestored};
use crate::user::session::{Candidates, ClientInfo, TokenHash};

/// The attempts of the background job to notify a previous address: without the token its user could not act.
const SENDING_ATTEMPTS: u32 = 3;

/// Why no code is sent to a new address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum RequestEmailRefusal {
    /// The password is wrong, or was repeated too long ago.
    #[error("the password is wrong")]
    WrongPassword,
    /// The user has this address, in some letter case.
    #[error("the address is the present one")]
    SameAddress,
    /// The previous address can be restored until this time, and there is no second change before.
    #[error("the previous address can be restored until {0:?}")]
    Restorable(Timestamp),
    /// This deployment sends no e-mail.
    #[error("e-mail is not offered")]
    NotOffered,
    /// Servers of an earlier version may be running.
    #[error("the upgrade of the deployment is not finalized")]
    NotYet,
    /// This many codes were sent within an hour, and one more is allowed after this time.
    #[error("{most} codes were sent already")]
    TooMany {
        quota: CodeQuota,
        /// The maximum number of codes.
        most: u32,
        /// The time to wait.
        wait: Duration,
    },
}

/// Why an address is not changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ConfirmEmailRefusal {
    /// It is not the newest code, was used, has expired, or too many attempts were made.
    #[error("the code is invalid or has expired")]
    InvalidCode,
    /// Another user took the address after the code was sent.
    #[error("the address is taken")]
    EmailTaken,
    /// The previous address can be restored until this time, and there is no second change before.
    #[error("the previous address can be restored until {0:?}")]
    Restorable(Timestamp),
}

/// Why the previous address is not restored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum RestoreEmailRefusal {
    /// The password is known from breaches.
    #[error("the password is known from breaches")]
    BreachedPassword,
    /// The token is unknown, used or expired.
    #[error("the token is invalid or has expired")]
    InvalidToken,
    /// Another user has the address, which only a server of an earlier version can have given to them.
    #[error("the address is taken")]
    EmailTaken,
}

/// Changes and restores e-mail addresses.
#[derive(Clone)]
pub struct EmailChanges {
    pub(in crate::application) env: Arc<Environment>,
    pub(in crate::application) executor: Executor,
}

impl EmailChanges {
    /// The time until which the principal can restore their previous address; another change has to wait for it.
    pub async fn restorable_until(&self, principal: &Principal) -> Result<Option<Timestamp>, Failure> {
        let own = Authorized::<_, UseCredentials>::own(principal)?;
        Ok(self.env.logins.restorable_until(*own, self.env.now()).await?)
    }

    /// Sends a code to a new address of the principal, who confirms it by their password, and invalidates the previous code.
    /// The answer and the work are the same for an address of another user; that address gets a notice instead of the
    /// code.
    ///
    /// # Errors
    /// [`RequestEmailRefusal`]; a code that could not be sent counts as well.
    pub async fn request(
        &self,
        context: &Context,
        email: Email,
        confirmation: Confirmation<'_>,
    ) -> Result<(), CommandError<RequestEmailRefusal>> {
        let env = &self.env;
        self.executor
            .perform::<UseCredentials, _, _>(context, async |_, principal, _| {
                let to = Recipient::Email(email.clone());
                if !env.ports.notifier.can_reach(&to) {
                    return Err(CommandError::Refused(RequestEmailRefusal::NotOffered));
                }
                let act = "change of the e-mail address";
                if !is_confirmed(env, context, principal, confirmation, act).await? {
                    return Err(CommandError::Refused(RequestEmailRefusal::WrongPassword));
                }
                let (Profile { user, .. }, now) = (self.profile(principal).await?, env.now());
                if email.folded() == user.email.folded() {
                    return Err(CommandError::Refused(RequestEmailRefusal::SameAddress));
                }
                if let Some(until) = env.logins.restorable_until(user.id, now).await? {
                    return Err(CommandError::Refused(RequestEmailRefusal::Restorable(until)));
                }
                let code = env.ports.secrets.code();
                let owner = env.logins.credentials(&email.folded()).await?;
                let reserved = env.logins.restoration(&email.folded(), now).await?;
                let (hash, notice) = if owner.is_some() || reserved.is_some() {
                    // No guess of six digits finds out that the address is taken.
                    (env.ports.secrets.fingerprint(&env.ports.secrets.token()), Notice::EmailClaimed(now))
                } else {
                    (self.hashes(principal, &code, now)?.current, Notice::EmailChangeCode(code))
                };
                let challenge = Challenge::moving(user.id, Purpose::EmailChange, email, hash, now);
                match env.logins.issue(&challenge, None).await? {
                    IssueOutcome::Done => {}
                    IssueOutcome::NotYet => return Err(CommandError::Refused(RequestEmailRefusal::NotYet)),
                    IssueOutcome::TooMany(TooMany { quota, most, until }) => {
                        let wait = between(now, until);
                        return Err(CommandError::Refused(RequestEmailRefusal::TooMany {
                            quota,
                            most,
                            wait,
                        }));
                    }
                }
                let client = context.client.clone();
                env.security_audit.by(principal, SecurityEventKind::EmailChangeRequested, client).await;
                Ok(env.ports.notifier.send(&to, &notice).await?)
            })
            .await
    }

    /// Gives the principal the address to which the code was sent, verified; their other open codes and tokens end.
    /// Both addresses are notified, and a verified previous one gets the token that restores it.
    ///
    /// # Errors
    /// [`ConfirmEmailRefusal`].
    pub async fn confirm(
        &self,
        context: &Context,
        code: &Token,
    ) -> Result<Profile, CommandError<ConfirmEmailRefusal>> {
        let env = &self.env;
        self.executor
            .perform::<UseCredentials, _, _>(context, async |own, principal, effects| {
                // Read first: an outage must not use the code up.
                let (mut profile, now) = (self.profile(principal).await?, env.now());
                let hashes: Vec<TokenHash> = self.hashes(principal, code, now)?.iter().copied().collect();
                let client = context.client.clone();
                let restore = env.ports.secrets.restore_tokens(*own, now, now)?.current;
                let restore = env.ports.secrets.fingerprint(&restore);
                let before = profile.user.email.clone();
                let session = principal.session;
                let changed = env.logins.change_email(*own, session, &hashes, &restore, now).await;
                let news = EmailNews {
                    user: *own,
                    before,
                    client: client.address,
                    at: now,
                    previous_is_told: false,
                    is_restoration: false,
                };
                let (kind, outcome) = match changed {
                    Ok(EmailChanged::Done(user)) => {
                        // At once, so that no full queue keeps the token from its address.
                        let previous_is_told = self.tell_previous(&news).await.is_ok();
                        effects.enqueue(Job::NotifyEmailChanged(EmailNews { previous_is_told, ..news }));
                        profile.user = *user;
                        (SecurityEventKind::EmailChanged, Ok(profile))
                    }
                    Ok(EmailChanged::Wrong | EmailChanged::Over) => (
                        SecurityEventKind::CodeRefused,
                        Err(CommandError::Refused(ConfirmEmailRefusal::InvalidCode)),
                    ),
                    Ok(EmailChanged::Restorable(until)) => {
                        return Err(CommandError::Refused(ConfirmEmailRefusal::Restorable(until)));
                    }
                    Ok(EmailChanged::Taken) => {
                        return Err(CommandError::Refused(ConfirmEmailRefusal::EmailTaken));
                    }
                    Err(unavailable) => {
                        // The change may be committed, and the token must reach its address then.
                        effects.enqueue(Job::NotifyEmailChanged(news));
                        return Err(unavailable.into());
                    }
                };
                env.security_audit.by(principal, kind, client).await;
                outcome
            })
            .await
    }

    /// Restores the previous address with its token, and sets a new password: all sessions end, with the effects of a
    /// password reset. A rejected password does not use up the token.
    ///
    /// # Errors
    /// [`RestoreEmailRefusal`].
    pub async fn restore(
        &self,
        context: &ClientContext,
        token: &Token,
        new: &Password,
    ) -> Result<(), CommandError<RestoreEmailRefusal>> {
        let env = &self.env;
        self.executor
            .perform_open(context.deadline, async |effects| {
                if env.ports.passwords.is_breached(new) {
                    return Err(CommandError::Refused(RestoreEmailRefusal::BreachedPassword));
                }
                let presented = env.ports.secrets.fingerprint(token);
                if !env.has_open_challenge(Purpose::EmailRestore, &presented).await? {
                    return Err(CommandError::Refused(RestoreEmailRefusal::InvalidToken));
                }
                let after = env.ports.passwords.hash(new, context.client.network()).await?;
                let now = env.now();
                let (before, user) = match env.logins.restore_email(&presented, &after, now).await? {
                    EmailRestored::Done { before, after } => (before.email, after.id),
                    EmailRestored::Over => {
                        return Err(CommandError::Refused(RestoreEmailRefusal::InvalidToken));
                    }
                    EmailRestored::Taken => {
                        return Err(CommandError::Refused(RestoreEmailRefusal::EmailTaken));
                    }
                };
                effects.revocations_changed();
                let client = context.client.clone();
                effects.enqueue(env.secured(user, SecurityCause::EmailRestored, &client));
                let news = EmailNews {
                    user,
                    before,
                    client: client.address,
                    at: now,
                    previous_is_told: false,
                    is_restoration: true,
                };
                effects.enqueue(Job::NotifyEmailChanged(news));
                env.security_audit.about(SecurityEventKind::EmailRestored, Some(user), None, client).await;
                Ok(())
            })
            .await
    }

    /// Notifies the addresses of a change that were not told yet, unless it did not happen or was undone.
    pub(in crate::application) async fn notify(&self, news: EmailNews) -> Result<(), Unavailable> {
        let profile = self.env.people.profile(news.user).await?;
        let Some(Profile { user, .. }) = profile.filter(|profile| profile.user.is_present()) else {
            return Ok(());
        };
        if user.email.folded() == news.before.folded() {
            return Ok(());
        }
        let mut told = Ok(());
        if !news.previous_is_told {
            told = self.tell_previous(&news).await;
            for _ in 1..SENDING_ATTEMPTS {
                if told.is_ok() {
                    break;
                }
                told = self.tell_previous(&news).await;
            }
        }
        // After a restoration, the notice of the new password tells the user.
        let EmailNews { is_restoration, client, at, .. } = news;
        if is_restoration {
            return told;
        }
        told.and(self.tell(&user.email, &Notice::EmailAdopted { client, at }).await)
    }

    /// Notifies the address before a change, with the token that restores it, while there is one.
    async fn tell_previous(&self, news: &EmailNews) -> Result<(), Unavailable> {
        let EmailNews { before, client, at, .. } = news;
        let restore = self.restoration(before).await?.map(|(open, token)| (token, open.expires_at()));
        // An address that restores nothing may be a stranger's or the thief's.
        let client = client.filter(|_| restore.is_some());
        self.tell(before, &Notice::EmailReplaced { restore, client, at: *at }).await
    }

    /// Sends the token that restores this previous address to the address again, if there is one. Repetitions have
    /// a quota of their own, which resets for the present address do not use up.
    pub(in crate::application) async fn send_again(
        &self,
        address: &Email,
        client: ClientInfo,
    ) -> Result<(), Unavailable> {
        let Some((open, token)) = self.restoration(address).await? else { return Ok(()) };
        let Some(to) = &open.address else { return Ok(()) };
        let counted = Challenge {
            purpose: Purpose::EmailRestoreRepeat,
            address: None,
            hash: self.env.ports.secrets.fingerprint(&self.env.ports.secrets.token()),
            issued_at: self.env.now(),
            ..open.clone()
        };
        if self.env.logins.issue(&counted, None).await? != IssueOutcome::Done {
            return Ok(());
        }
        let (restore, at) = (Some((token, open.expires_at())), open.issued_at);
        // Another spelling of the address may be another mailbox.
        self.tell(to, &Notice::EmailReplaced { restore, client: None, at }).await?;
        let kind = SecurityEventKind::PasswordResetRequested;
        self.env.security_audit.about(kind, Some(open.user), None, client).await;
        Ok(())
    }

    /// The challenge that restores this previous address, and its token; `None` as well if the key that the token was
    /// derived with has left the file.
    async fn restoration(&self, address: &Email) -> Result<Option<(Challenge, Token)>, Unavailable> {
        let (secrets, now) = (&self.env.ports.secrets, self.env.now());
        let Some(open) = self.env.logins.restoration(&address.folded(), now).await? else { return Ok(None) };
        let tokens = secrets.restore_tokens(open.user, open.issued_at, now)?;
        let token = tokens.iter().find(|token| secrets.fingerprint(token) == open.hash).cloned();
        Ok(token.map(|token| (open, token)))
    }

    async fn tell(&self, address: &Email, notice: &Notice) -> Result<(), Unavailable> {
        let to = Recipient::Email(address.clone());
        if self.env.ports.notifier.can_reach(&to) {
            self.env.ports.notifier.send(&to, notice).await
        } else {
            Ok(())
        }
    }

    async fn profile(&self, principal: &Principal) -> Result<Profile, Failure> {
        self.env.people.profile(principal.user).await?.ok_or(Failure::UnknownPrincipal)
    }

    /// The hashes under which a code is stored, bound to its user and purpose.
    fn hashes(
        &self,
        principal: &Principal,
        code: &Token,
        now: Timestamp,
    ) -> Result<Candidates<TokenHash>, Unavailable> {
        let bound = format!("{}:{}:{}", Purpose::EmailChange.name(), principal.user, code.0);
        self.env.ports.secrets.keyed_hashes(LowEntropyValue::Code, &bound, now)
    }
}
