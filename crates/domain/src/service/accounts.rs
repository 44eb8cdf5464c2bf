//! Registration, login, and the refresh tokens that keep somebody logged in.

use std::ops::ControlFlow;
use std::sync::Arc;

use time::Duration;

use crate::ids::{SessionId, UserId};
use crate::network::{KnownNetwork, Network};
use crate::page::PageRequest;
use crate::people::{Role, User};
use crate::ports::{
    Begun, Clock, Credentials, Exchange, FirstOperator, Ids, Logins, PasswordHash, Passwords, People,
    Profile, Registered, Secrets, Sessions, Token, Unavailable, Verified,
};
use crate::security_log::{EventKind, SecurityEvent};
use crate::service::journal::Journal;
#[cfg(doc)]
use crate::session::REPEATABLE_FOR;
use crate::session::{Session, Visitor, repeats};
use crate::text::{Email, Line, Password, Phone};

/// How often a login is tried while its password changes under it.
const ATTEMPTS: u32 = 2;

/// Who registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registration {
    /// What they are called.
    pub name: Line,
    /// Where they get mail.
    pub email: Email,
    /// The password that they chose.
    pub password: Password,
    /// Where they are called.
    pub phone: Option<Phone>,
    /// Whether they are a DJ.
    pub is_dj: bool,
}

/// Somebody who just proved who they are.
#[derive(Clone, PartialEq, Debug)]
pub struct SignedIn {
    /// Who it is.
    pub profile: Profile,
    /// Their session.
    pub session: SessionId,
    /// The token that keeps them logged in, shown this once.
    pub refresh_token: Token,
}

/// Why a registration is refused.
#[derive(Debug)]
pub enum RegisterError {
    /// Somebody has this e-mail address, in whatever letter case.
    EmailTaken,
    /// The password is known from breaches.
    BreachedPassword,
    /// Something outside cannot be reached.
    Unavailable(Unavailable),
}

/// Why a login is refused.
#[derive(Debug)]
pub enum LoginError {
    /// There is no such address, or it is not its password.
    InvalidCredentials,
    /// It is right, but an operator shut them out.
    Suspended,
    /// Something outside cannot be reached.
    Unavailable(Unavailable),
}

/// Why a refresh token is refused.
#[derive(Debug)]
pub enum RefreshError {
    /// It is unknown, too old, or was ended.
    Refused,
    /// It was used before: its whole session is ended now, and with it what was issued in it.
    Reused,
    /// An operator shut them out.
    Suspended,
    /// Something outside cannot be reached.
    Unavailable(Unavailable),
}

/// The outcome of making the first operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bootstrapped {
    /// This person was made.
    Made(UserId),
    /// The first operator was made before; that person may be no operator any more, or be erased.
    MadeBefore,
    /// Somebody else has the address.
    AddressTaken,
}

/// Why the first operator is not made.
#[derive(Debug)]
pub enum BootstrapError {
    /// The password is known from breaches.
    BreachedPassword,
    /// Something outside cannot be reached.
    Unavailable(Unavailable),
}

macro_rules! from_unavailable {
    ($($error:ident),+) => {$(
        impl From<Unavailable> for $error {
            fn from(unavailable: Unavailable) -> Self {
                Self::Unavailable(unavailable)
            }
        }
    )+};
}

from_unavailable!(RegisterError, LoginError, RefreshError, BootstrapError);

/// The use cases of accounts.
#[derive(Clone)]
pub struct Accounts {
    pub(super) people: Arc<dyn People>,
    pub(super) logins: Arc<dyn Logins>,
    pub(super) sessions: Arc<dyn Sessions>,
    pub(super) journal: Journal,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) passwords: Arc<dyn Passwords>,
    pub(super) secrets: Arc<dyn Secrets>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) refresh_token_for: Duration,
}

impl Accounts {
    /// Creates an account and its first session. A repeated registration, within [`REPEATABLE_FOR`] and while
    /// the refresh token is unused, gets the same session, because the first answer may have been lost.
    ///
    /// # Errors
    /// [`RegisterError`].
    pub async fn register(
        &self,
        registration: Registration,
        visitor: Visitor,
    ) -> Result<SignedIn, RegisterError> {
        if self.passwords.is_breached(&registration.password) {
            return Err(RegisterError::BreachedPassword);
        }
        let hash = self.passwords.hash(&registration.password).await?;
        let session = self.ids.next_session().await?;
        let refresh_token = self.secrets.first_tokens(session, &hash, self.clock.now())?.current;
        let first = (session, visitor.clone(), &refresh_token);
        match self.add(&registration, &hash, first).await {
            Ok(user) => {
                self.journal.note(EventKind::Registered, Some(user.id), Some(session), visitor).await;
                let profile = Profile { user, balance: crate::ledger::Balance::default() };
                Ok(SignedIn { profile, session, refresh_token })
            }
            Err(RegisterError::EmailTaken) => {
                self.registered(&registration, visitor).await?.ok_or(RegisterError::EmailTaken)
            }
            Err(refused) => Err(refused),
        }
    }

    /// The session that the first registration of a taken address began, if this registration repeats it.
    async fn registered(
        &self,
        registration: &Registration,
        visitor: Visitor,
    ) -> Result<Option<SignedIn>, Unavailable> {
        let credentials = self.logins.credentials(&registration.email.folded()).await?;
        let Some(Credentials { user: id, password: hash }) = credentials else { return Ok(None) };
        let Some(profile) = self.people.profile(id).await? else { return Ok(None) };
        let (now, registered_at) = (self.clock.now(), profile.user.created_at);
        if profile.user.suspended_at.is_some() || !repeats(registered_at, now) {
            return Ok(None);
        }
        if self.passwords.verify(&registration.password, Some(hash.clone())).await? == Verified::Wrong {
            self.journal.note(EventKind::LoginFailed, Some(id), None, visitor).await;
            return Ok(None);
        }
        let page = PageRequest::new(1, PageRequest::MAX_SIZE);
        let alive = self.sessions.sessions(id, now, page).await?.rows;
        let begun = alive.into_iter().find(|session| session.answers_registration(registered_at, now));
        let Some(session) = begun.map(|session| session.id) else { return Ok(None) };
        for refresh_token in self.secrets.first_tokens(session, &hash, now)?.iter() {
            if self.sessions.owner(&self.secrets.fingerprint(refresh_token)).await? == Some(id) {
                return Ok(Some(SignedIn { profile, session, refresh_token: refresh_token.clone() }));
            }
        }
        Ok(None)
    }

    /// Whether a session of the person with this folded address began or was refreshed from there lately, so that failed
    /// logins from elsewhere do not keep them out; an unknown address takes as long to look up.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn knows_network(&self, email: &str, network: Option<Network>) -> Result<bool, Unavailable> {
        let Some(network) = network else { return Ok(false) };
        self.sessions.is_known_network(email, network, self.clock.now().minus(KnownNetwork::KEPT)).await
    }

    /// Logs somebody in; an unknown address takes as long to refuse as a wrong password.
    ///
    /// # Errors
    /// [`LoginError`].
    pub async fn login(
        &self,
        email: &str,
        password: &Password,
        visitor: Visitor,
    ) -> Result<SignedIn, LoginError> {
        let mut whose = None;
        for _ in 0..ATTEMPTS {
            match self.try_login(email, password, visitor.clone()).await? {
                ControlFlow::Break(signed_in) => return Ok(signed_in),
                ControlFlow::Continue(user) => whose = Some(user),
            }
        }
        self.journal.note(EventKind::LoginFailed, whose, None, visitor).await;
        Err(LoginError::InvalidCredentials)
    }

    /// Logs somebody in; goes on with whose password, or how it is hashed, changed after it was found right.
    async fn try_login(
        &self,
        email: &str,
        password: &Password,
        visitor: Visitor,
    ) -> Result<ControlFlow<SignedIn, UserId>, LoginError> {
        let known = match Email::new(email) {
            Ok(email) => self.logins.credentials(&email.folded()).await?,
            Err(_) => None,
        };
        let (user, hash) = known.map(|Credentials { user, password }| (user, password)).unzip();
        let verified = self.passwords.verify(password, hash.clone()).await?;
        let right = user.zip(hash).filter(|_| verified != Verified::Wrong);
        let profile = match &right {
            Some((user, _)) => self.people.profile(*user).await?,
            None => None,
        };
        let (Some((id, hash)), Some(profile)) = (right, profile) else {
            self.journal.login_failed(user, visitor).await;
            return Err(LoginError::InvalidCredentials);
        };
        if profile.user.suspended_at.is_some() {
            return Err(self.suspended(id, visitor).await);
        }
        let session = self.ids.next_session().await?;
        let refresh_token = self.secrets.token();
        let kept = Session::begin(session, id, visitor.clone(), self.clock.now(), self.refresh_token_for);
        match self.sessions.begin(&kept, self.secrets.fingerprint(&refresh_token), &hash).await? {
            Begun::Done => {}
            Begun::PasswordChanged => return Ok(ControlFlow::Continue(id)),
            Begun::Suspended => return Err(self.suspended(id, visitor).await),
        }
        self.journal.note(EventKind::LoggedIn, Some(id), Some(session), visitor).await;
        if verified == Verified::Outdated {
            self.rehash(id, &hash, password).await;
        }
        Ok(ControlFlow::Break(SignedIn { profile, session, refresh_token }))
    }

    /// Notes the login of somebody who is suspended, and refuses it.
    async fn suspended(&self, user: UserId, visitor: Visitor) -> LoginError {
        self.journal.note(EventKind::LoginFailed, Some(user), None, visitor).await;
        LoginError::Suspended
    }

    /// Hashes a password as it is done today; where that fails the next login does it, since this one is done.
    async fn rehash(&self, user: UserId, before: &PasswordHash, password: &Password) {
        if let Ok(after) = self.passwords.hash(password).await {
            drop(self.logins.rehash(user, before, &after).await);
        }
    }

    /// Exchanges a refresh token for the next one. The same call again, within [`REPEATABLE_FOR`] and while the next token
    /// is unused, gets the same token: the first answer may have been lost. Else a used token ends its whole session.
    ///
    /// # Errors
    /// [`RefreshError`].
    pub async fn refresh(&self, presented: &Token, visitor: Visitor) -> Result<SignedIn, RefreshError> {
        let hash = self.secrets.fingerprint(presented);
        // Everything that can fail comes before the exchange: an outage must not use the token up.
        let user = self.sessions.owner(&hash).await?.ok_or(RefreshError::Refused)?;
        let profile = self.people.profile(user).await?.ok_or(RefreshError::Refused)?;
        if profile.user.suspended_at.is_some() {
            return Err(RefreshError::Suspended);
        }
        let now = self.clock.now();
        let successors = self.secrets.successors(presented, now)?;
        let hashes = successors.map(|token| self.secrets.fingerprint(token));
        let (network, expires_at) = (visitor.network(), now.plus(self.refresh_token_for));
        match self.sessions.exchange(&hash, &hashes, network, expires_at, now).await? {
            Exchange::Done(_, session) => {
                Ok(SignedIn { profile, session, refresh_token: successors.current })
            }
            Exchange::Repeated(_, session, kept) => {
                let issued = successors.iter().find(|token| self.secrets.fingerprint(token) == kept);
                let refresh_token = issued.ok_or(RefreshError::Refused)?.clone();
                Ok(SignedIn { profile, session, refresh_token })
            }
            Exchange::SessionEnded(user, session) => {
                self.journal.note(EventKind::RefreshTokenReused, Some(user), Some(session), visitor).await;
                Err(RefreshError::Reused)
            }
            Exchange::Refused => Err(RefreshError::Refused),
        }
    }

    /// Ends the session of a refresh token, and says whether there was one that was alive.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn logout(&self, presented: &Token, visitor: Visitor) -> Result<bool, Unavailable> {
        let presented = self.secrets.fingerprint(presented);
        let ended = self.sessions.end(&presented, self.clock.now()).await?;
        let Some((user, session)) = ended else { return Ok(false) };
        self.journal.note(EventKind::SessionEnded, Some(user), Some(session), visitor).await;
        Ok(true)
    }

    /// Makes the deployment's first operator, once: one who was dismissed or erased since is not made again. An
    /// existing account with the address does not become an operator.
    ///
    /// # Errors
    /// [`BootstrapError`].
    pub async fn bootstrap_operator(
        &self,
        email: Email,
        password: Password,
    ) -> Result<Bootstrapped, BootstrapError> {
        if self.people.has_first_operator().await? {
            return Ok(Bootstrapped::MadeBefore);
        }
        if self.logins.credentials(&email.folded()).await?.is_some() {
            return Ok(Bootstrapped::AddressTaken);
        }
        if self.passwords.is_breached(&password) {
            return Err(BootstrapError::BreachedPassword);
        }
        let hash = self.passwords.hash(&password).await?;
        let (id, now) = (self.ids.next_user().await?, self.clock.now());
        let name = Line::from_stored("Operator".to_owned());
        let user = User { role: Role::Operator, ..User::registered(id, name, email, None, false, now) };
        match self.people.register_first_operator(&user, &hash).await? {
            FirstOperator::Done => {}
            FirstOperator::MadeBefore => return Ok(Bootstrapped::MadeBefore),
            FirstOperator::EmailTaken => return Ok(Bootstrapped::AddressTaken),
        }
        let kind = EventKind::Registered;
        let detail = Some(Line::from_stored("bootstrap operator".to_owned()));
        let event = SecurityEvent::about(kind, Some(id), Visitor::default(), now);
        self.journal.add(SecurityEvent { detail, ..event }).await;
        Ok(Bootstrapped::Made(id))
    }

    async fn add(
        &self,
        registration: &Registration,
        password: &PasswordHash,
        (session, visitor, token): (SessionId, Visitor, &Token),
    ) -> Result<User, RegisterError> {
        let Registration { name, email, phone, is_dj, .. } = registration.clone();
        let id = self.ids.next_user().await?;
        let now = self.clock.now();
        let phone = phone.map(Line::from);
        let user = User::registered(id, name, email, phone, is_dj, now);
        let session = Session::begin(session, id, visitor, now, self.refresh_token_for);
        let first = (&session, self.secrets.fingerprint(token));
        match self.people.register(&user, password, Some(first)).await? {
            Registered::Done => Ok(user),
            Registered::EmailTaken => Err(RegisterError::EmailTaken),
        }
    }
}
