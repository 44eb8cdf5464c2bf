//! Registration of users.

use thiserror::Error;

use crate::application::error::{CommandError, Failure};
use crate::application::executor::{ClientContext, Effects};
use crate::application::users::{SessionForm, SignIns, StartedSession};
use crate::ids::{SessionId, UserId};
use crate::ledger::Balance;
use crate::page::PageRequest;
use crate::ports::{
    Credentials, HashingError, PasswordCheck, PasswordHash, Profile, Registered, Token, Unavailable,
};
use crate::security_log::SecurityEventKind;
use crate::text::{Email, Line, Password, Phone};
use crate::user::User;
#[cfg(doc)]
use crate::user::session::REPEATABLE_FOR;
use crate::user::session::{Candidates, ClientInfo, SecretKind, Session, SessionSecret, repeats};

/// A registration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registration {
    /// The display name.
    pub name: Line,
    /// The e-mail address.
    pub email: Email,
    /// The chosen password.
    pub password: Password,
    /// The phone number.
    pub phone: Option<Phone>,
    /// Whether the user is a DJ.
    pub is_dj: bool,
}

/// Why a registration is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum RegisterRefusal {
    /// Another user has this e-mail address, regardless of letter case.
    #[error("the e-mail address is taken")]
    EmailTaken,
    /// The password is known from breaches.
    #[error("the password is known from breaches")]
    BreachedPassword,
}

impl SignIns {
    /// Creates a user with the first session. Repeating the registration within [`REPEATABLE_FOR`], while
    /// the refresh token is unused, returns the same session, because the first answer may have been lost.
    ///
    /// # Errors
    /// [`RegisterRefusal`].
    pub async fn register<S: SessionForm>(
        &self,
        context: &ClientContext,
        registration: Registration,
    ) -> Result<S, CommandError<RegisterRefusal>> {
        let register = async |_: &mut Effects| {
            let started = self.begin_registered(S::KIND, registration, context.client.clone()).await?;
            self.formed(started)
        };
        self.executor.perform_open(context.deadline, register).await
    }

    /// Whether this password is refused because it is known from breaches. Clients can ask before a registration or a claim
    /// counts as an attempt.
    #[must_use]
    pub fn is_breached(&self, password: &Password) -> bool {
        self.env.ports.passwords.is_breached(password)
    }

    async fn begin_registered(
        &self,
        kind: SecretKind,
        registration: Registration,
        client: ClientInfo,
    ) -> Result<StartedSession, CommandError<RegisterRefusal>> {
        if self.is_breached(&registration.password) {
            return Err(CommandError::Refused(RegisterRefusal::BreachedPassword));
        }
        let hash = self.env.ports.passwords.hash(&registration.password, client.network()).await?;
        let session = self.env.ids.next_session().await?;
        let secret = self.env.ports.secrets.first_secrets(kind, session, &hash, self.env.now())?.current;
        let first = (session, client.clone(), self.stored(kind, &secret));
        match self.add(kind, &registration, &hash, first).await {
            Ok(user) => {
                self.env
                    .security_audit
                    .about(SecurityEventKind::Registered, Some(user.id), Some(session), client)
                    .await;
                let profile = Profile { user, balance: Balance::default() };
                Ok(StartedSession { profile, session, secret })
            }
            Err(CommandError::Refused(RegisterRefusal::EmailTaken)) => self
                .registered(kind, &registration, client)
                .await?
                .ok_or(CommandError::Refused(RegisterRefusal::EmailTaken)),
            Err(refused) => Err(refused),
        }
    }

    /// The session that the first registration of a taken address began, if this registration repeats it.
    async fn registered(
        &self,
        kind: SecretKind,
        registration: &Registration,
        client: ClientInfo,
    ) -> Result<Option<StartedSession>, HashingError> {
        let credentials = self.env.logins.credentials(&registration.email.folded()).await?;
        let Some(Credentials { user: id, role, password: hash }) = credentials else { return Ok(None) };
        let Some(profile) = self.env.people.profile(id).await? else { return Ok(None) };
        let (now, registered_at) = (self.env.now(), profile.user.created_at);
        if profile.user.suspended_at.is_some() || !repeats(registered_at, now) {
            return Ok(None);
        }
        let (password, network) = (&registration.password, client.network());
        // A failure for lack of room would be free, although the first password was hashed.
        let verified = self.env.ports.passwords.verify(password, Some(hash.clone()), network).await;
        let verified = verified.map_err(|error| match error {
            HashingError::TooManyWaiting(_) => Unavailable::new("no room for the second password").into(),
            unavailable @ HashingError::Unavailable(_) => unavailable,
        })?;
        if verified == PasswordCheck::Wrong {
            self.env.security_audit.login_failed(Some((id, role)), client).await;
            return Ok(None);
        }
        let answers = |session: &Session| session.answers_registration(registered_at, now);
        let Some(session) = self.live_session(id, answers).await? else { return Ok(None) };
        let secrets = self.env.ports.secrets.first_secrets(kind, session, &hash, now)?;
        let found = self.found(kind, &secrets).await?.filter(|(user, ..)| *user == id);
        Ok(found.map(|(.., secret)| StartedSession { profile, session, secret }))
    }

    /// The first live session of a user that satisfies the condition.
    pub(super) async fn live_session(
        &self,
        user: UserId,
        condition: impl Fn(&Session) -> bool,
    ) -> Result<Option<SessionId>, Unavailable> {
        let page = PageRequest::new(1, PageRequest::MAX_SIZE);
        let alive = self.env.sessions.sessions(user, self.env.now(), page).await?.rows;
        Ok(alive.iter().find(|session| condition(session)).map(|session| session.id))
    }

    /// The stored one of these secrets, with its user and session.
    pub(super) async fn found(
        &self,
        kind: SecretKind,
        secrets: &Candidates<Token>,
    ) -> Result<Option<(UserId, SessionId, Token)>, Unavailable> {
        for secret in secrets.iter() {
            let owner = self.env.sessions.owner(self.stored(kind, secret)).await?;
            if let Some((user, session)) = owner {
                return Ok(Some((user, session, secret.clone())));
            }
        }
        Ok(None)
    }

    async fn add(
        &self,
        kind: SecretKind,
        registration: &Registration,
        password: &PasswordHash,
        (session, client, secret): (SessionId, ClientInfo, SessionSecret),
    ) -> Result<User, CommandError<RegisterRefusal>> {
        let Registration { name, email, phone, is_dj, .. } = registration.clone();
        let id = self.env.ids.next_user().await?;
        let now = self.env.now();
        let phone = phone.map(Line::from);
        let user = User::registered(id, name, email, phone, is_dj, now);
        let lifetime = self.env.terms.session_lifetime(kind, user.role);
        let session = Session::begin(session, id, client, now, lifetime);
        match self.env.people.register(&user, password, Some((&session, secret))).await? {
            Registered::Done => Ok(user),
            Registered::EmailTaken => Err(CommandError::Refused(RegisterRefusal::EmailTaken)),
            Registered::NotYet => Err(Failure::Broken("a member waits for a feature level").into()),
        }
    }
}
