//! Guest accounts: their creation without a login, and the claim that makes them members.

use thiserror::Error;

use crate::application::error::{CommandError, Failure};
use crate::application::executor::{ClientContext, Context, Effects};
use crate::application::users::{SessionForm, SignIns, StartedSession};
use crate::authorization::Principal;
use crate::authorization::permission::ClaimAccount;
use crate::ledger::Balance;
use crate::ports::{Credentials, GuestClaim, PasswordCheck, PasswordHash, Profile, Registered, Token};
use crate::security_log::SecurityEventKind;
use crate::text::{Line, Password};
use crate::user::guest_account::{ClaimDetails, Claimed, GuestKey};
#[cfg(doc)]
use crate::user::session::REPEATABLE_FOR;
use crate::user::session::{Candidates, ClientInfo, SecretKind, Session};
use crate::user::{Role, User};

/// Why no guest account is created.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum CreateGuestRefusal {
    /// The key created an account before, and its session cannot be returned again.
    #[error("the key created an account before")]
    KeyUsed,
    /// The upgrade of the service is not complete.
    #[error("the upgrade of the service is not complete")]
    NotYet,
}

/// A claim of the principal's account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccountClaim {
    /// The address, name and phone number.
    pub details: ClaimDetails,
    /// The chosen password.
    pub password: Password,
}

/// Why a claim is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ClaimRefusal {
    /// Another user has this e-mail address, regardless of letter case.
    #[error("the e-mail address is taken")]
    EmailTaken,
    /// The password is known from breaches.
    #[error("the password is known from breaches")]
    BreachedPassword,
    /// The account is no guest account.
    #[error("the account is no guest account")]
    NotAGuest,
}

impl SignIns {
    /// Creates a guest account with its session. Repeating the call with its key within [`REPEATABLE_FOR`], while the
    /// refresh token is unused, returns the same session, because the first answer may have been lost.
    ///
    /// # Errors
    /// [`CreateGuestRefusal`].
    pub async fn create_guest<S: SessionForm>(
        &self,
        context: &ClientContext,
        name: Option<Line>,
        key: Option<GuestKey>,
    ) -> Result<S, CommandError<CreateGuestRefusal>> {
        let create = async |_: &mut Effects| {
            let started = match key {
                Some(key) => self.guest_of_key(S::KIND, name, &key, &context.client).await?,
                None => {
                    let secret = self.env.ports.secrets.token();
                    self.add_guest(S::KIND, name, secret, &context.client).await?
                }
            };
            self.formed(started)
        };
        self.executor.perform_open(context.deadline, create).await
    }

    /// The session of the guest account that [`Self::create_guest`] created with this key, if a repetition returns it.
    ///
    /// # Errors
    /// As [`Self::create_guest`].
    pub async fn guest_created<S: SessionForm>(
        &self,
        key: &GuestKey,
    ) -> Result<Option<S>, CommandError<CreateGuestRefusal>> {
        let secrets = self.env.ports.secrets.guest_secrets(S::KIND, key, self.env.now())?;
        let started = self.created_guest(S::KIND, &secrets).await?;
        started.map(|started| self.formed(started)).transpose()
    }

    /// The session of the account that this key creates or has created.
    async fn guest_of_key(
        &self,
        kind: SecretKind,
        name: Option<Line>,
        key: &GuestKey,
        client: &ClientInfo,
    ) -> Result<StartedSession, CommandError<CreateGuestRefusal>> {
        let secrets = self.env.ports.secrets.guest_secrets(kind, key, self.env.now())?;
        if let Some(started) = self.created_guest(kind, &secrets).await? {
            return Ok(started);
        }
        match self.add_guest(kind, name, secrets.current.clone(), client).await {
            // A concurrent call with this key may have stored the secret.
            Err(CommandError::Failed(Failure::Unavailable(cause))) => {
                self.created_guest(kind, &secrets).await?.ok_or_else(|| Failure::Unavailable(cause).into())
            }
            added => added,
        }
    }

    /// The session that began with one of these secrets, if there is one.
    ///
    /// # Errors
    /// [`CreateGuestRefusal::KeyUsed`] if it cannot be returned again.
    async fn created_guest(
        &self,
        kind: SecretKind,
        secrets: &Candidates<Token>,
    ) -> Result<Option<StartedSession>, CommandError<CreateGuestRefusal>> {
        let Some((user, session, secret)) = self.found(kind, secrets).await? else { return Ok(None) };
        let used = CommandError::Refused(CreateGuestRefusal::KeyUsed);
        let Some(profile) = self.env.people.profile(user).await? else { return Err(used) };
        let (created_at, now) = (profile.user.created_at, self.env.now());
        let answers = |alive: &Session| alive.id == session && alive.answers_registration(created_at, now);
        let is_unused = self.live_session(user, answers).await?.is_some();
        if !is_unused || !profile.user.is_guest_account() || profile.user.suspended_at.is_some() {
            return Err(used);
        }
        Ok(Some(StartedSession { profile, session, secret }))
    }

    /// Adds a guest account whose session begins with this secret.
    async fn add_guest(
        &self,
        kind: SecretKind,
        name: Option<Line>,
        secret: Token,
        client: &ClientInfo,
    ) -> Result<StartedSession, CommandError<CreateGuestRefusal>> {
        let (id, session, now) =
            (self.env.ids.next_user().await?, self.env.ids.next_session().await?, self.env.now());
        let user = User::guest(id, name, now);
        let lifetime = self.env.terms.session_lifetime(kind, user.role);
        let begun = Session::begin(session, id, client.clone(), now, lifetime);
        let first = (&begun, self.stored(kind, &secret));
        match self.env.people.register(&user, &PasswordHash::none(), Some(first)).await? {
            Registered::Done => {}
            Registered::NotYet => return Err(CommandError::Refused(CreateGuestRefusal::NotYet)),
            Registered::EmailTaken => {
                return Err(Failure::Broken("the address of a new guest account is taken").into());
            }
        }
        let profile = Profile { user, balance: Balance::default() };
        Ok(StartedSession { profile, session, secret })
    }

    /// Makes the principal's guest account a member with an e-mail address and a password. Its session gets a new
    /// refresh token or cookie, and its other sessions end. Repeating the claim within [`REPEATABLE_FOR`], while that
    /// token is unused, returns it again. The cookie before the claim is no longer known, so that its thief has nothing of
    /// the member's; whoever loses the new one logs in.
    ///
    /// # Errors
    /// [`ClaimRefusal`].
    pub async fn claim<S: SessionForm>(
        &self,
        context: &Context,
        claim: AccountClaim,
    ) -> Result<S, CommandError<ClaimRefusal>> {
        self.executor
            .perform::<ClaimAccount, _, _>(context, async |_, principal, effects| {
                if self.env.ports.passwords.is_breached(&claim.password) {
                    return Err(CommandError::Refused(ClaimRefusal::BreachedPassword));
                }
                let profile =
                    self.env.people.profile(principal.user).await?.ok_or(Failure::UnknownPrincipal)?;
                if !profile.user.is_guest_account() {
                    let started =
                        self.claimed_before(S::KIND, principal, profile, &claim, &context.client).await?;
                    return self.formed(started);
                }
                let claimed =
                    self.claim_guest(S::KIND, principal, profile.balance, &claim, &context.client).await;
                let started = match claimed {
                    Err(CommandError::Refused(ClaimRefusal::NotAGuest)) => {
                        // A concurrent claim came first.
                        let profile = self.env.people.profile(principal.user).await?;
                        let profile = profile.ok_or(Failure::UnknownPrincipal)?;
                        let started =
                            self.claimed_before(S::KIND, principal, profile, &claim, &context.client).await?;
                        return self.formed(started);
                    }
                    claimed => claimed?,
                };
                effects.revocations_changed();
                let client = context.client.clone();
                let (user, kind) = (Some(principal.user), SecurityEventKind::Registered);
                self.env.security_audit.about(kind, user, Some(principal.session), client).await;
                self.formed(started)
            })
            .await
    }

    async fn claim_guest(
        &self,
        kind: SecretKind,
        principal: &Principal,
        balance: Balance,
        claim: &AccountClaim,
        client: &ClientInfo,
    ) -> Result<StartedSession, CommandError<ClaimRefusal>> {
        let password = self.env.ports.passwords.hash(&claim.password, client.network()).await?;
        let (session, now) = (principal.session, self.env.now());
        let secret = self.env.ports.secrets.first_secrets(kind, session, &password, now)?.current;
        let lifetime = self.env.terms.session_lifetime(kind, Role::Member);
        let claim = GuestClaim {
            user: principal.user,
            session,
            details: claim.details.clone(),
            password,
            secret: self.stored(kind, &secret),
            expires_at: now.plus(lifetime),
            at: now,
        };
        match self.env.logins.claim(&claim).await? {
            Claimed::Done(user) => {
                let profile = Profile { user: *user, balance };
                Ok(StartedSession { profile, session, secret })
            }
            Claimed::EmailTaken => Err(CommandError::Refused(ClaimRefusal::EmailTaken)),
            Claimed::NotAGuest => Err(CommandError::Refused(ClaimRefusal::NotAGuest)),
        }
    }

    /// The session of a member who claimed the account.
    ///
    /// # Errors
    /// [`ClaimRefusal::NotAGuest`] unless this claim repeats theirs.
    async fn claimed_before(
        &self,
        kind: SecretKind,
        principal: &Principal,
        profile: Profile,
        claim: &AccountClaim,
        client: &ClientInfo,
    ) -> Result<StartedSession, CommandError<ClaimRefusal>> {
        let other = || CommandError::Refused(ClaimRefusal::NotAGuest);
        let (user, session, now) = (&profile.user, principal.session, self.env.now());
        let claimed_at =
            user.status_changed_at.filter(|_| user.email.folded() == claim.details.email.folded());
        let claimed_at = claimed_at.ok_or_else(other)?;
        let answers = |alive: &Session| alive.id == session && alive.answers_claim(claimed_at, now);
        if self.live_session(user.id, answers).await?.is_none() {
            return Err(other());
        }
        let credentials = self.env.logins.credentials_of(user.id).await?;
        let Credentials { password, .. } = credentials.ok_or_else(other)?;
        let passwords = &self.env.ports.passwords;
        let checked = passwords.verify(&claim.password, Some(password.clone()), client.network()).await?;
        if checked == PasswordCheck::Wrong {
            let kind = SecurityEventKind::LoginFailed;
            self.env.security_audit.about(kind, Some(user.id), Some(session), client.clone()).await;
            return Err(other());
        }
        let secrets = self.env.ports.secrets.first_secrets(kind, session, &password, now)?;
        let found = self.found(kind, &secrets).await?.filter(|(_, of, _)| *of == session);
        let (.., secret) = found.ok_or_else(other)?;
        Ok(StartedSession { profile, session, secret })
    }
}
