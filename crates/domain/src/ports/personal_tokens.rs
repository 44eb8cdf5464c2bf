//! Stored personal access tokens.

use async_trait::async_trait;

use crate::authorization::FoundToken;
use crate::ids::{SessionId, UserId};
use crate::ports::Unavailable;
use crate::timestamp::Timestamp;
use crate::user::personal_token::PersonalToken;
use crate::user::session::TokenHash;

/// The outcome of adding a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenAddition {
    /// The token is stored.
    Added,
    /// The owner has [`PersonalToken::MAX_LIVE`] tokens: nothing is stored.
    TooMany,
    /// The session that creates it has ended: nothing is stored.
    SessionEnded,
}

/// Stores personal access tokens as sessions with a name, scopes and the hash of a secret.
///
/// Lists of sessions, their limit and [`Sessions::end_session`](super::Sessions::end_session) exclude them.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait PersonalTokens: Send + Sync {
    /// Adds a token, if the session that creates it is live. This is one atomic step: no token outlives the end of all
    /// sessions of its owner.
    async fn add_token(
        &self,
        token: &PersonalToken,
        hash: TokenHash,
        author: SessionId,
    ) -> Result<TokenAddition, Unavailable>;

    /// The token whose secret has this hash, ended or not. A token that is valid at `now` is marked as
    /// used; it is returned even if that fails.
    async fn use_token(&self, hash: &TokenHash, now: Timestamp) -> Result<Option<FoundToken>, Unavailable>;

    /// The live tokens of a user, newest first.
    async fn tokens(&self, owner: UserId, now: Timestamp) -> Result<Vec<PersonalToken>, Unavailable>;

    /// Ends a live token of this user; returns whether there was one.
    async fn end_token(&self, owner: UserId, id: SessionId, now: Timestamp) -> Result<bool, Unavailable>;
}
