//! Sessions and their refresh tokens as they are kept.

use async_trait::async_trait;

use crate::account::session::{Candidates, Session, TokenHash};
use crate::authorization::RevocationList;
use crate::ids::{SessionId, UserId};
use crate::network::ClientNetwork;
use crate::page::{PageRequest, Rows};
use crate::ports::{PasswordHash, Unavailable};
use crate::timestamp::Timestamp;

/// The outcome of storing a new session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begun {
    /// The session is kept.
    Done,
    /// The password is no longer the one that was checked, or its person was erased: nothing is kept.
    PasswordChanged,
    /// The person is suspended: nothing is kept.
    Suspended,
}

/// What presenting a refresh token came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exchange {
    /// The next token of the session is kept, the presented one used up.
    Done(UserId, SessionId),
    /// The token was exchanged a moment ago for the candidate with this hash, which is unused: nothing changed.
    Repeated(UserId, SessionId, TokenHash),
    /// The token was used before: its session is ended.
    SessionEnded(UserId, SessionId),
    /// The token is unknown, too old, or of a session that was ended.
    Refused,
}

/// Keeps sessions, and their refresh tokens by hash. A session is alive until it was ended or its newest token is
/// too old.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Keeps a new session with its first token, if the password of its person is still the one that was checked and the
    /// person is not suspended, in one atomic step: a login is refused whose password was changed, or whose person
    /// was suspended, meanwhile. Where the person then has more than [`Session::MOST_ALIVE`] live sessions, those end that
    /// were used longest ago. The network of the session is known from then on. A repeated call changes nothing and
    /// succeeds, because the session already has this id and token.
    ///
    /// # Errors
    /// [`Unavailable`], also when another session has the id.
    async fn begin(
        &self,
        session: &Session,
        token: TokenHash,
        checked: &PasswordHash,
    ) -> Result<Begun, Unavailable>;

    /// The user with this token, used or not, if it is known.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn owner(&self, presented: &TokenHash) -> Result<Option<UserId>, Unavailable>;

    /// Exchanges a presented token for the current one of the successors, as
    /// [`crate::account::session::RefreshToken::presented`] decides, in one atomic step: of any number that present the same token
    /// at once, one at most gets [`Exchange::Done`]. Each of the others gets [`Exchange::Repeated`] if the kept successor is
    /// among its candidates, else ends the session. The network from which the token was exchanged, if it is given, is
    /// known from then on.
    ///
    /// # Errors
    /// [`Unavailable`]; the exchange may have been done then, and the same call finds out.
    async fn exchange(
        &self,
        presented: &TokenHash,
        successors: &Candidates<TokenHash>,
        network: Option<ClientNetwork>,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Exchange, Unavailable>;

    /// Whether a session of the person with this address, folded by [`crate::text::Email::folded`], began or was refreshed
    /// from the network after this moment. It takes as long where nobody has the address.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn is_known_network(
        &self,
        email: &str,
        network: ClientNetwork,
        since: Timestamp,
    ) -> Result<bool, Unavailable>;

    /// Ends the session of a token, and says which it was if it is known and was alive.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn end(
        &self,
        presented: &TokenHash,
        now: Timestamp,
    ) -> Result<Option<(UserId, SessionId)>, Unavailable>;

    /// A page of a person's live sessions, by `began_at`, then id, both descending.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn sessions(
        &self,
        user: UserId,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Rows<Session>, Unavailable>;

    /// Ends a live session of this person; says whether there was one.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn end_session(&self, user: UserId, id: SessionId, now: Timestamp) -> Result<bool, Unavailable>;

    /// Ends all live sessions of this person but the one to keep, and says how many there were.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn end_sessions(
        &self,
        user: UserId,
        keep: Option<SessionId>,
        now: Timestamp,
    ) -> Result<u64, Unavailable>;

    /// The revocation list: the sessions that ended at this moment or later, and the people whose standing changed
    /// since, with the storage's epoch and clock.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn revoked_since(&self, since: Timestamp) -> Result<RevocationList, Unavailable>;
}
