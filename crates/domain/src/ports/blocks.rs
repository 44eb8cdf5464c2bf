//! Guests blocked by DJs.

use async_trait::async_trait;

use crate::ids::UserId;
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::timestamp::Timestamp;
use crate::user::Block;

/// Stores the blocks of DJs.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Blocks: Send + Sync {
    /// Blocks a guest and returns the block; an existing block keeps its start. `None` if either user does
    /// not exist or was erased.
    async fn block(&self, dj: UserId, guest: UserId, at: Timestamp) -> Result<Option<Block>, Unavailable>;

    /// Unblocks the guest; returns whether they were blocked.
    async fn unblock(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable>;

    /// Whether the guest is blocked.
    async fn is_blocked(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable>;

    /// A page of the DJ's blocks, by `at`, then guest id, both descending.
    async fn blocks(&self, dj: UserId, page: PageRequest) -> Result<Rows<Block>, Unavailable>;
}
