//! Sessions, their refresh tokens, and personal access tokens.

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::operation::EndedSessions;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::personal_token::{PersonalToken, TokenScope};
use cuepoint_domain::user::session::{RefreshToken, Session, TokenHash};

use super::{Corrupt, client, columns_of, hash, known};
use crate::schema::{StoredPersonalToken, StoredSession, StoredToken};

/// The end of a user's live sessions.
#[derive(Clone, Copy, Debug)]
pub struct SessionsEnd {
    pub user_id: i64,
    /// The time of the end.
    pub at: Timestamp,
}

impl SessionsEnd {
    /// Converts the end of a user's sessions to its row.
    #[must_use]
    pub fn of(ended: &EndedSessions) -> Self {
        Self { user_id: ended.user.get(), at: ended.at }
    }
}

impl StoredSession {
    /// Converts a session that has not ended to its row.
    #[must_use]
    pub fn of(session: &Session) -> Self {
        let (address, agent) = columns_of(&session.client);
        Self {
            id: session.id.get(),
            user_id: session.user.get(),
            began_at: session.began_at,
            used_at: session.used_at,
            expires_at: session.expires_at,
            ended_at: None,
            address,
            agent,
        }
    }

    /// Converts the row to its session.
    pub fn session(self) -> Result<Session, Corrupt> {
        Ok(Session {
            id: known("sessions.id", SessionId::new(self.id))?,
            user: known("sessions.user_id", UserId::new(self.user_id))?,
            client: client(self.address.as_deref(), self.agent)?,
            began_at: self.began_at,
            used_at: self.used_at,
            expires_at: self.expires_at,
        })
    }
}

impl StoredToken {
    /// Converts a token to its row.
    #[must_use]
    pub fn of(token: &RefreshToken) -> Self {
        Self {
            hash: token.hash.0.to_vec(),
            session_id: token.session.get(),
            issued_at: token.issued_at,
            expires_at: token.expires_at,
            used_at: token.used_at,
        }
    }

    /// Converts the row to a token of this user.
    pub fn token(&self, user: UserId) -> Result<RefreshToken, Corrupt> {
        Ok(RefreshToken {
            hash: TokenHash(hash("refresh_tokens.hash", &self.hash)?),
            session: known("refresh_tokens.session_id", SessionId::new(self.session_id))?,
            user,
            issued_at: self.issued_at,
            expires_at: self.expires_at,
            used_at: self.used_at,
        })
    }
}

impl StoredPersonalToken {
    /// Converts a token and the hash of its secret to the row beside its session.
    #[must_use]
    pub fn of(token: &PersonalToken, hash: TokenHash) -> Self {
        let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.name()).collect();
        Self {
            session_id: token.id().get(),
            name: token.name.as_str().to_owned(),
            hash: hash.0.to_vec(),
            scopes: scopes.join(" "),
        }
    }

    /// Converts the row and that of its session to the token. Scopes of newer versions permit nothing here.
    ///
    /// # Errors
    /// [`Corrupt`] if the session is invalid.
    pub fn token(self, session: StoredSession) -> Result<PersonalToken, Corrupt> {
        let scopes = self.scopes.split(' ').filter_map(TokenScope::named).collect();
        Ok(PersonalToken { session: session.session()?, name: Line::from_stored(self.name), scopes })
    }
}

/// Decodes the id of a session.
///
/// # Errors
/// [`Corrupt`] if it is invalid.
pub fn session_id(id: i64) -> Result<SessionId, Corrupt> {
    known("sessions.id", SessionId::new(id))
}

/// Decodes the id of a session's user.
///
/// # Errors
/// [`Corrupt`] if it is invalid.
pub fn user_id(id: i64) -> Result<UserId, Corrupt> {
    known("sessions.user_id", UserId::new(id))
}
