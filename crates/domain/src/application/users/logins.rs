//! Logins, refresh tokens and logouts with them; registrations are in `registration`.

use std::ops::ControlFlow;
use std::sync::Arc;

use thiserror::Error;

use crate::application::environment::Environment;
use crate::application::error::CommandError;
use crate::application::executor::{ClientContext, Effects, Executor};
use crate::application::users::{SessionForm, SignedIn, StartedSession};
use crate::ids::{SessionId, UserId};
use crate::network::{ClientNetwork, KnownNetwork};
use crate::ports::{
    BeginOutcome, Credentials, ExchangeOutcome, PasswordCheck, PasswordHash, SecurityCause, Token,
    Unavailable,
};
use crate::security_log::SecurityEventKind;
use crate::text::{Email, Password};
#[cfg(doc)]
use crate::user::session::REPEATABLE_FOR;
use crate::user::session::{ClientInfo, SecretKind, Session, SessionSecret};
use crate::user::{PasswordMark, Role};

/// The number of attempts at a login while its password changes concurrently.
const ATTEMPTS: u32 = 2;

/// Why a login is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum LoginRefusal {
    /// No user has this address, or the password is wrong.
    #[error("the credentials are invalid")]
    InvalidCredentials,
    /// The credentials are valid, but the user is suspended.
    #[error("the user is suspended")]
    Suspended,
}

/// Why a refresh token is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum RefreshRefusal {
    /// It is unknown, has expired, or its session ended.
    #[error("the refresh token is invalid or has expired")]
    InvalidToken,
    /// It was used before: its whole session has now ended, with all its tokens.
    #[error("the refresh token was used before")]
    Reused {
        /// Whether the session was the only way into a guest account.
        is_guest_account: bool,
    },
    /// It was the only way into a guest account, and has expired, or its session ended.
    #[error("the session of the guest account has ended")]
    GuestEnded,
    /// A wallet link moved the guest account to another browser, which ended the session.
    #[error("a wallet link ended the session")]
    Moved,
    /// The user is suspended.
    #[error("the user is suspended")]
    Suspended,
}

/// Registers users, and begins, refreshes and ends sessions.
#[derive(Clone)]
pub struct SignIns {
    pub(in crate::application) env: Arc<Environment>,
    pub(in crate::application) executor: Executor,
}

impl SignIns {
    /// Whether a session of the user with this folded address recently began or was refreshed in this
    /// network, so that failed logins from other networks do not lock the user out. An unknown address takes
    /// the same time.
    pub async fn knows_network(
        &self,
        email: &str,
        network: Option<ClientNetwork>,
    ) -> Result<bool, Unavailable> {
        let Some(network) = network else { return Ok(false) };
        self.env
            .sessions
            .is_known_network(email, network, self.env.now().minus(KnownNetwork::RETENTION))
            .await
    }

    /// The user with this address, in any letter case, and the mark of their password; `None` if there is none.
    pub async fn password_mark(&self, email: &str) -> Result<Option<(UserId, PasswordMark)>, Unavailable> {
        let Ok(email) = Email::new(email) else { return Ok(None) };
        let known = self.env.logins.credentials(&email.folded()).await?;
        Ok(known.and_then(|known| Some((known.user, known.password.mark()?))))
    }

    /// The mark of the password of this user; `None` without a password.
    pub async fn password_mark_of(&self, user: UserId) -> Result<Option<PasswordMark>, Unavailable> {
        let known = self.env.logins.credentials_of(user).await?;
        Ok(known.and_then(|known| known.password.mark()))
    }

    /// Begins a session with a password; an unknown address takes the same time as a wrong password.
    ///
    /// # Errors
    /// [`LoginRefusal`].
    pub async fn login<S: SessionForm>(
        &self,
        context: &ClientContext,
        email: &str,
        password: &Password,
    ) -> Result<S, CommandError<LoginRefusal>> {
        let login = async |_: &mut Effects| {
            let mut known = None;
            for _ in 0..ATTEMPTS {
                match self.try_login(S::KIND, email, password, context.client.clone()).await? {
                    ControlFlow::Break(started) => return self.formed(started),
                    ControlFlow::Continue(account) => known = Some(account),
                }
            }
            self.env.security_audit.login_failed(known, context.client.clone()).await;
            Err(CommandError::Refused(LoginRefusal::InvalidCredentials))
        };
        self.executor.perform_open(context.deadline, login).await
    }

    /// The session in the form that its client gets.
    pub(super) fn formed<S: SessionForm, R>(&self, started: StartedSession) -> Result<S, CommandError<R>> {
        Ok(S::of(started, &*self.env.ports.access_tokens)?)
    }

    /// Begins a session; if the password or its hash changed after it was verified, returns the user and their role
    /// instead.
    async fn try_login(
        &self,
        kind: SecretKind,
        email: &str,
        password: &Password,
        client: ClientInfo,
    ) -> Result<ControlFlow<StartedSession, (UserId, Role)>, CommandError<LoginRefusal>> {
        let known = match Email::new(email) {
            Ok(email) => self.env.logins.credentials(&email.folded()).await?,
            Err(_) => None,
        };
        let (account, hash) =
            known.map(|Credentials { user, role, password }| ((user, role), password)).unzip();
        let verified = self.env.ports.passwords.verify(password, hash.clone(), client.network()).await?;
        let right = account.zip(hash).filter(|_| verified != PasswordCheck::Wrong);
        let profile = match &right {
            Some(((user, _), _)) => self.env.people.profile(*user).await?,
            None => None,
        };
        let (Some((account, hash)), Some(profile)) = (right, profile) else {
            self.env.security_audit.login_failed(account, client).await;
            return Err(CommandError::Refused(LoginRefusal::InvalidCredentials));
        };
        let (id, _) = account;
        if profile.user.suspended_at.is_some() {
            return Err(self.suspended(account, client).await);
        }
        let owner = (id, profile.user.role);
        let (outcome, session, secret) = self.begin(kind, owner, &hash, client.clone()).await?;
        match outcome {
            BeginOutcome::Done => {}
            BeginOutcome::PasswordChanged => return Ok(ControlFlow::Continue(account)),
            BeginOutcome::Suspended => return Err(self.suspended(account, client).await),
        }
        let network = client.network();
        self.env.security_audit.about(SecurityEventKind::LoggedIn, Some(id), Some(session), client).await;
        if verified == PasswordCheck::Outdated {
            // The answer does not wait for a second password.
            let (sign_ins, password) = (self.clone(), password.clone());
            self.env.ports.tasks.spawn(Box::pin(async move {
                sign_ins.rehash(id, &hash, &password, network).await;
            }));
        }
        Ok(ControlFlow::Break(StartedSession { profile, session, secret }))
    }

    /// Begins a session of a user with this role, unless the password has another hash by now; returns its id and its
    /// secret.
    pub(super) async fn begin(
        &self,
        kind: SecretKind,
        (user, role): (UserId, Role),
        password: &PasswordHash,
        client: ClientInfo,
    ) -> Result<(BeginOutcome, SessionId, Token), Unavailable> {
        let env = &self.env;
        let session = env.ids.next_session().await?;
        let secret = env.ports.secrets.token();
        let lifetime = env.terms.session_lifetime(kind, role);
        let begun = Session::begin(session, user, client, env.now(), lifetime);
        let stored = self.stored(kind, &secret);
        Ok((env.sessions.begin(&begun, stored, password).await?, session, secret))
    }

    /// The stored form of a secret.
    pub(super) fn stored(&self, kind: SecretKind, secret: &Token) -> SessionSecret {
        SessionSecret::new(kind, self.env.ports.secrets.fingerprint(secret))
    }

    /// Records and refuses the login of a suspended user.
    async fn suspended(&self, account: (UserId, Role), client: ClientInfo) -> CommandError<LoginRefusal> {
        self.env.security_audit.login_failed(Some(account), client).await;
        CommandError::Refused(LoginRefusal::Suspended)
    }

    /// Replaces an outdated hash. A failure is ignored: the login has succeeded, and the next one tries
    /// again.
    async fn rehash(
        &self,
        user: UserId,
        before: &PasswordHash,
        password: &Password,
        network: Option<ClientNetwork>,
    ) {
        if let Ok(after) = self.env.ports.passwords.rehash(password, before, network).await {
            drop(self.env.logins.rehash(user, before, &after).await);
        }
    }

    /// The session of a refresh token, used or not; `None` if the token is unknown.
    pub async fn session_of(&self, presented: &Token) -> Result<Option<SessionId>, Unavailable> {
        let owner = self.env.sessions.owner(self.stored(SecretKind::RefreshToken, presented)).await?;
        Ok(owner.map(|(_, session)| session))
    }

    /// Exchanges a refresh token for the next one. Repeating the call within [`REPEATABLE_FOR`], while the
    /// next token is unused, returns the same token, because the first answer may have been lost. Otherwise a
    /// used token ends its whole session.
    ///
    /// # Errors
    /// [`RefreshRefusal`].
    pub async fn refresh(
        &self,
        context: &ClientContext,
        presented: &Token,
    ) -> Result<SignedIn, CommandError<RefreshRefusal>> {
        let refresh = async |effects: &mut Effects| {
            let started = self.exchange(presented, context.client.clone(), effects).await?;
            self.formed(started)
        };
        self.executor.perform_open(context.deadline, refresh).await
    }

    async fn exchange(
        &self,
        presented: &Token,
        client: ClientInfo,
        effects: &mut Effects,
    ) -> Result<StartedSession, CommandError<RefreshRefusal>> {
        let hash = self.env.ports.secrets.fingerprint(presented);
        // Everything that can fail precedes the exchange: an outage must not use the token up.
        let (user, session) = self
            .env
            .sessions
            .owner(SessionSecret::RefreshToken(hash))
            .await?
            .ok_or(CommandError::Refused(RefreshRefusal::InvalidToken))?;
        let profile = self
            .env
            .people
            .profile(user)
            .await?
            .ok_or(CommandError::Refused(RefreshRefusal::InvalidToken))?;
        if profile.user.suspended_at.is_some() {
            return Err(CommandError::Refused(RefreshRefusal::Suspended));
        }
        let now = self.env.now();
        let successors = self.env.ports.secrets.successors(presented, now)?;
        let hashes = successors.map(|token| self.env.ports.secrets.fingerprint(token));
        let lifetime = self.env.terms.session_lifetime(SecretKind::RefreshToken, profile.user.role);
        let (network, expires_at) = (client.network(), now.plus(lifetime));
        match self.env.sessions.exchange(&hash, &hashes, network, expires_at, now).await? {
            ExchangeOutcome::Done(_, session) => {
                Ok(StartedSession { profile, session, secret: successors.current })
            }
            ExchangeOutcome::Repeated(_, session, kept) => {
                let issued =
                    successors.iter().find(|token| self.env.ports.secrets.fingerprint(token) == kept);
                let secret = issued.ok_or(CommandError::Refused(RefreshRefusal::InvalidToken))?.clone();
                Ok(StartedSession { profile, session, secret })
            }
            ExchangeOutcome::SessionEnded(user, session) => {
                effects.revocations_changed();
                let cause = SecurityCause::RefreshTokenReused(session);
                effects.enqueue(self.env.secured(user, cause, &client));
                self.env
                    .security_audit
                    .about(SecurityEventKind::RefreshTokenReused, Some(user), Some(session), client)
                    .await;
                let is_guest_account = profile.user.is_guest_account();
                Err(CommandError::Refused(RefreshRefusal::Reused { is_guest_account }))
            }
            ExchangeOutcome::Refused if self.env.logins.ended_by_wallet_link(session).await? => {
                Err(CommandError::Refused(RefreshRefusal::Moved))
            }
            ExchangeOutcome::Refused if profile.user.is_guest_account() => {
                Err(CommandError::Refused(RefreshRefusal::GuestEnded))
            }
            ExchangeOutcome::Refused => Err(CommandError::Refused(RefreshRefusal::InvalidToken)),
        }
    }

    /// Ends the session of a refresh token, if it is live, and returns whether it was the only way to the money of a guest
    /// account.
    pub async fn logout(&self, context: &ClientContext, presented: &Token) -> Result<bool, Unavailable> {
        let logout = async |effects: &mut Effects| {
            let presented = self.env.ports.secrets.fingerprint(presented);
            let ended = self.env.sessions.end(&presented, self.env.now()).await?;
            let Some((user, session)) = ended else { return Ok(false) };
            effects.revocations_changed();
            let client = context.client.clone();
            self.env
                .security_audit
                .about(SecurityEventKind::SessionEnded, Some(user), Some(session), client)
                .await;
            // A failed read does not matter, because the session has ended.
            let profile = self.env.people.profile(user).await.ok().flatten();
            Ok(profile.is_some_and(|profile| profile.loses_money_with_its_session()))
        };
        self.executor.perform_open(context.deadline, logout).await
    }
}
