//! Registration, login, and the refresh tokens that keep somebody logged in.

use std::sync::Arc;

use time::Duration;

use crate::ids::UserId;
use crate::people::{Role, User};
use crate::ports::{
    Clock, Exchange, Ids, Passwords, People, Profile, Registered, Secrets, Sessions, Token, Unavailable,
};
use crate::session::RefreshToken;
use crate::text::{Email, Line, Password};

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
    pub phone: Option<Line>,
    /// Whether they are a DJ.
    pub is_dj: bool,
}

/// Somebody who just proved who they are.
#[derive(Clone, PartialEq, Debug)]
pub struct SignedIn {
    /// Who it is.
    pub profile: Profile,
    /// The token that keeps them logged in, shown this once.
    pub refresh_token: Token,
}

/// Why a registration is refused.
#[derive(Debug)]
pub enum RegisterError {
    /// Somebody has this e-mail address, in whatever letter case.
    EmailTaken,
    /// Something outside cannot be reached.
    Unavailable(Unavailable),
}

/// Why a login is refused.
#[derive(Debug)]
pub enum LoginError {
    /// There is no such address, or it is not its password.
    InvalidCredentials,
    /// Something outside cannot be reached.
    Unavailable(Unavailable),
}

/// Why a refresh token is refused.
#[derive(Debug)]
pub enum RefreshError {
    /// It is unknown, used, too old, or was ended.
    Refused,
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

from_unavailable!(RegisterError, LoginError, RefreshError);

/// The use cases of accounts.
#[derive(Clone)]
pub struct Accounts {
    pub(super) people: Arc<dyn People>,
    pub(super) sessions: Arc<dyn Sessions>,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) passwords: Arc<dyn Passwords>,
    pub(super) secrets: Arc<dyn Secrets>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) refresh_token_for: Duration,
}

impl Accounts {
    /// Registers somebody and logs them in.
    ///
    /// # Errors
    /// [`RegisterError`].
    pub async fn register(&self, registration: Registration) -> Result<SignedIn, RegisterError> {
        let refresh_token = self.secrets.token();
        let user = self.add(registration, Role::Member, Some(&refresh_token)).await?;
        let profile = Profile { user, balance: crate::ledger::Balance::default() };
        Ok(SignedIn { profile, refresh_token })
    }

    /// Logs somebody in; an unknown address takes as long to refuse as a wrong password.
    ///
    /// # Errors
    /// [`LoginError`].
    pub async fn login(&self, email: &str, password: &Password) -> Result<SignedIn, LoginError> {
        let known = match Email::new(email) {
            Ok(email) => self.people.credentials(&email.folded()).await?,
            Err(_) => None,
        };
        let (user, hash) = known.map(|known| (known.user, known.password)).unzip();
        let right = self.passwords.verify(password, hash).await?;
        let user = user.filter(|_| right).ok_or(LoginError::InvalidCredentials)?;
        let profile = self.people.profile(user).await?.ok_or(LoginError::InvalidCredentials)?;
        Ok(self.begin(profile).await?)
    }

    /// Exchanges a refresh token for the next one; a used one ends its whole family.
    ///
    /// # Errors
    /// [`RefreshError`].
    pub async fn refresh(&self, presented: &Token) -> Result<SignedIn, RefreshError> {
        let presented = self.secrets.fingerprint(presented);
        // Everything that can fail comes before the exchange: an outage must not use the token up.
        let user = self.sessions.owner(&presented).await?.ok_or(RefreshError::Refused)?;
        let profile = self.people.profile(user).await?.ok_or(RefreshError::Refused)?;
        let now = self.clock.now();
        let refresh_token = self.secrets.token();
        let next = self.secrets.fingerprint(&refresh_token);
        match self.sessions.exchange(&presented, next, now.plus(self.refresh_token_for), now).await? {
            Exchange::Done(_) => Ok(SignedIn { profile, refresh_token }),
            Exchange::FamilyEnded(_) | Exchange::Refused => Err(RefreshError::Refused),
        }
    }

    /// Ends the family of a refresh token; an unknown one has none.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn logout(&self, presented: &Token) -> Result<(), Unavailable> {
        self.sessions.end(&self.secrets.fingerprint(presented), self.clock.now()).await
    }

    /// Makes the first operator unless somebody has the address already; says whose account was made.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn bootstrap_operator(
        &self,
        email: Email,
        password: Password,
    ) -> Result<Option<UserId>, Unavailable> {
        if self.people.credentials(&email.folded()).await?.is_some() {
            return Ok(None);
        }
        let name = Line::from_stored("Operator".to_owned());
        let registration = Registration { name, email, password, phone: None, is_dj: false };
        match self.add(registration, Role::Operator, None).await {
            Ok(user) => Ok(Some(user.id)),
            Err(RegisterError::EmailTaken) => Ok(None),
            Err(RegisterError::Unavailable(unavailable)) => Err(unavailable),
        }
    }

    async fn add(
        &self,
        registration: Registration,
        role: Role,
        session: Option<&Token>,
    ) -> Result<User, RegisterError> {
        let Registration { name, email, password, phone, is_dj } = registration;
        let hash = self.passwords.hash(&password).await?;
        let id = self.ids.next_user().await?;
        let user = User { role, ..User::registered(id, name, email, phone, is_dj, self.clock.now()) };
        let session = session.map(|token| self.first(token, id));
        match self.people.register(&user, &hash, session.as_ref()).await? {
            Registered::Done => Ok(user),
            Registered::EmailTaken => Err(RegisterError::EmailTaken),
        }
    }

    async fn begin(&self, profile: Profile) -> Result<SignedIn, Unavailable> {
        let refresh_token = self.secrets.token();
        self.sessions.begin(&self.first(&refresh_token, profile.user.id)).await?;
        Ok(SignedIn { profile, refresh_token })
    }

    /// The first token of a family, as it is kept.
    fn first(&self, token: &Token, user: UserId) -> RefreshToken {
        let now = self.clock.now();
        RefreshToken {
            hash: self.secrets.fingerprint(token),
            family: self.secrets.family(),
            user,
            issued_at: now,
            expires_at: now.plus(self.refresh_token_for),
            used_at: None,
        }
    }
}
