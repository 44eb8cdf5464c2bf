//! Sessions that were begun, in the forms in which clients get them.

use crate::authorization::Principal;
use crate::ids::SessionId;
use crate::ports::{AccessToken, AccessTokens, Profile, SigningError, Token};
use crate::user::session::SecretKind;

/// A session that was begun or refreshed, with its tokens.
#[derive(Clone, PartialEq, Debug)]
pub struct SignedIn {
    /// The user.
    pub profile: Profile,
    pub session: SessionId,
    /// The token that refreshes the session, shown only once.
    pub refresh_token: Token,
    pub access_token: AccessToken,
}

/// A session that a browser began.
#[derive(Clone, PartialEq, Debug)]
pub struct BrowserSession {
    /// The user.
    pub profile: Profile,
    pub session: SessionId,
    /// The cookie of the session, shown only once.
    pub cookie: Token,
}

/// A session that was begun or refreshed, with its secret.
#[derive(Clone, PartialEq, Debug)]
pub struct StartedSession {
    /// The user.
    pub profile: Profile,
    pub session: SessionId,
    /// The refresh token or the cookie.
    pub secret: Token,
}

/// The form in which a client gets a session: [`SignedIn`] for programs, [`BrowserSession`] for browsers.
pub trait SessionForm: Sized + Send {
    /// The kind of secret of the session.
    const KIND: SecretKind;

    /// The form of this session.
    ///
    /// # Errors
    /// [`SigningError`] if the access token cannot be signed.
    fn of(started: StartedSession, access_tokens: &dyn AccessTokens) -> Result<Self, SigningError>;
}

impl SessionForm for SignedIn {
    const KIND: SecretKind = SecretKind::RefreshToken;

    fn of(started: StartedSession, access_tokens: &dyn AccessTokens) -> Result<Self, SigningError> {
        let StartedSession { profile, session, secret } = started;
        let user = &profile.user;
        let principal = Principal { user: user.id, role: user.role, is_dj: user.is_dj(), session };
        let access_token = access_tokens.issue(&principal)?;
        Ok(Self { profile, session, refresh_token: secret, access_token })
    }
}

impl SessionForm for BrowserSession {
    const KIND: SecretKind = SecretKind::Cookie;

    fn of(started: StartedSession, _: &dyn AccessTokens) -> Result<Self, SigningError> {
        let StartedSession { profile, session, secret } = started;
        Ok(Self { profile, session, cookie: secret })
    }
}
