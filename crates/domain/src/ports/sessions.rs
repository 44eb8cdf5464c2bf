//! Stored sessions and their refresh tokens.

use async_trait::async_trait;
use time::Duration;

use crate::authorization::{FoundCookie, RevocationList};
use crate::ids::{SessionId, UserId};
use crate::network::ClientNetwork;
use crate::page::{PageRequest, Rows};
use crate::ports::{PasswordHash, Unavailable};
use crate::timestamp::Timestamp;
#[cfg(doc)]
use crate::user::cookie_session::CookieSession;
use crate::user::session::{Candidates, Session, SessionSecret, TokenHash};

/// The outcome of storing a new session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BeginOutcome {
    /// The session is stored.
    Done,
    /// The password is no longer the verified one, or the user was erased: nothing is stored.
    PasswordChanged,
    /// The user is suspended: nothing is stored.
    Suspended,
}

/// The outcome of presenting a refresh token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExchangeOutcome {
    /// The next token of the session is stored, and the presented one is used up.
    Done(UserId, SessionId),
    /// The token was exchanged recently for the candidate with this hash, which is unused: nothing changed.
    Repeated(UserId, SessionId, TokenHash),
    /// The token was used before: its session ended, and its user's active endpoints for their own events were
    /// disabled for [`DisabledReason::Security`](crate::webhook::DisabledReason::Security), where the session set
    /// the URL.
    SessionEnded(UserId, SessionId),
    /// The token is unknown or expired, or its session ended before.
    Refused,
}

/// Stores sessions, and their refresh tokens and cookies by hash. A session is live until it ends, or its newest token
/// or its cookie expires.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Stores a new session with its first token or its cookie if the password of its user is still the verified one and
    /// the user is not suspended, in one atomic step: a login is refused if the password was changed or the
    /// user suspended in the meantime. If the user then has more than [`Session::MAX_LIVE`] live sessions,
    /// the least recently used ones end. The network of the session becomes known. A repeated call changes
    /// nothing and succeeds, because the session already has this id and secret.
    ///
    /// # Errors
    /// [`Unavailable`], also when another session has the id or the secret.
    async fn begin(
        &self,
        session: &Session,
        secret: SessionSecret,
        checked: &PasswordHash,
    ) -> Result<BeginOutcome, Unavailable>;

    /// The user and the session of this token or cookie, used or not; `None` if it is unknown.
    async fn owner(&self, presented: SessionSecret) -> Result<Option<(UserId, SessionId)>, Unavailable>;

    /// The session whose cookie has this hash, ended or not. A use of a valid session is recorded as specified by
    /// [`CookieSession::used`], with the network, if given; the session is returned even if that fails. The returned
    /// session has the recorded times.
    async fn use_cookie(
        &self,
        hash: &TokenHash,
        network: Option<ClientNetwork>,
        valid_for: Duration,
        now: Timestamp,
    ) -> Result<Option<FoundCookie>, Unavailable>;

    /// Exchanges a presented token for the current one of the successors, as
    /// [`crate::user::session::RefreshToken::presented`] decides, in one atomic step: of any number of
    /// concurrent calls with the same token, at most one gets [`ExchangeOutcome::Done`]. Each of the others gets
    /// [`ExchangeOutcome::Repeated`] if the stored successor is among its candidates, else ends the session. The
    /// network of the exchange, if given, becomes known.
    ///
    /// # Errors
    /// [`Unavailable`]; the exchange may have been done, and repeating the call yields the outcome.
    async fn exchange(
        &self,
        presented: &TokenHash,
        successors: &Candidates<TokenHash>,
        network: Option<ClientNetwork>,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<ExchangeOutcome, Unavailable>;

    /// Whether a session of the user with this address, folded by [`crate::text::Email::folded`], began, was
    /// refreshed or was recorded as used from the network after this time. It takes the same time if the address is unknown.
    async fn is_known_network(
        &self,
        email: &str,
        network: ClientNetwork,
        since: Timestamp,
    ) -> Result<bool, Unavailable>;

    /// Ends the session of a token; returns the session if the token is known and the session was live.
    async fn end(
        &self,
        presented: &TokenHash,
        now: Timestamp,
    ) -> Result<Option<(UserId, SessionId)>, Unavailable>;

    /// A page of a user's live sessions, by `began_at`, then id, both descending.
    async fn sessions(
        &self,
        user: UserId,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Rows<Session>, Unavailable>;

    /// Ends a live session of this user; returns whether there was one.
    async fn end_session(&self, user: UserId, id: SessionId, now: Timestamp) -> Result<bool, Unavailable>;

    /// Ends all live sessions of this user, and returns their number. With `keep`, that session and the personal access
    /// tokens stay. In the same commit, the user's active endpoints for their own events are disabled for
    /// [`DisabledReason::Security`](crate::webhook::DisabledReason::Security).
    async fn end_sessions(
        &self,
        user: UserId,
        keep: Option<SessionId>,
        now: Timestamp,
    ) -> Result<u64, Unavailable>;

    /// The revocation list: the sessions that ended at this time or later, and the users whose status
    /// changed since, with the storage's epoch and clock.
    async fn revoked_since(&self, since: Timestamp) -> Result<RevocationList, Unavailable>;
}
