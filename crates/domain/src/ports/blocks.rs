//! Whom DJs take no requests from.

use async_trait::async_trait;

use crate::ids::UserId;
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::text::Line;
use crate::timestamp::Timestamp;

/// A guest from whom a DJ takes no requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Who is blocked.
    pub guest: UserId,
    /// What they are called.
    pub name: Line,
    /// Since when.
    pub at: Timestamp,
}

/// Keeps whom DJs take no requests from.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Blocks: Send + Sync {
    /// Blocks a guest, and answers with the block; one who is blocked already stays so since then. `None` where either of
    /// the two is nobody or was erased.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn block(&self, dj: UserId, guest: UserId, at: Timestamp) -> Result<Option<Block>, Unavailable>;

    /// Takes requests from the guest again; says whether they were blocked.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn unblock(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable>;

    /// Whether the guest is blocked.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn is_blocked(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable>;

    /// A page of whom this DJ blocks, by `at`, then the guest's id, both descending.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn blocks(&self, dj: UserId, page: PageRequest) -> Result<Rows<Block>, Unavailable>;
}
