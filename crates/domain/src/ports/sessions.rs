//! Refresh tokens as they are kept.

use async_trait::async_trait;

use crate::ids::UserId;
use crate::ports::Unavailable;
use crate::session::{RefreshToken, TokenHash};
use crate::timestamp::Timestamp;

/// What presenting a refresh token came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exchange {
    /// The next token of the family is kept, the presented one used up.
    Done(UserId),
    /// The token was used before: its family is ended.
    FamilyEnded(UserId),
    /// The token is unknown, too old, or of a family that was ended.
    Refused,
}

/// Keeps refresh tokens by their hash.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Keeps the first token of a family.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn begin(&self, token: &RefreshToken) -> Result<(), Unavailable>;

    /// Whose token this is, used or not, if it is known.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn owner(&self, presented: &TokenHash) -> Result<Option<UserId>, Unavailable>;

    /// Exchanges a presented token for the next of its family, as [`RefreshToken::presented`] decides, in one
    /// atomic step: of any number that present the same token at once, one at most gets [`Exchange::Done`], and
    /// when another comes after it the family is ended.
    ///
    /// # Errors
    /// [`Unavailable`]; nothing changed then.
    async fn exchange(
        &self,
        presented: &TokenHash,
        next: TokenHash,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Exchange, Unavailable>;

    /// Ends the family of a token, if it is known.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn end(&self, presented: &TokenHash, now: Timestamp) -> Result<(), Unavailable>;
}
