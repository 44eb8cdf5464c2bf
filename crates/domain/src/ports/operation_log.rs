//! The operations in the order of their commits.

use async_trait::async_trait;

use crate::ids::UserId;
use crate::operation::{Position, PositionGap, PositionedOperation};
use crate::ports::Unavailable;

/// The operations after a position.
#[derive(Clone, PartialEq, Debug)]
pub struct OperationPage {
    /// The operations, in their order.
    pub operations: Vec<PositionedOperation>,
    /// The newest position at the time of the read, not before that of any operation of the page.
    pub newest: Position,
    /// The last gap that begins before the position after which the page begins, read after `newest` or in the
    /// same snapshot.
    pub gap: Option<PositionGap>,
}

impl OperationPage {
    /// The position after which a reader continues who asked for this page after a position, if that one belongs
    /// to a lost commit; see [`Position::lost_after`].
    #[must_use]
    pub fn lost_after(&self, after: Position) -> Option<Position> {
        after.lost_after(self.newest, self.gap)
    }
}

/// Reads operations by their position.
///
/// An operation gets its position in its own commit, and positions become visible in their order. Operations
/// from before the introduction of positions have none and are never listed.
///
/// # Errors
/// Every method returns [`Unavailable`] when the storage cannot be reached.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait OperationLog: Send + Sync {
    /// The operations after a position, at most this many: all of them, or those with an event that concerns one
    /// user. A page with fewer operations contains all up to its newest position, which is not before any
    /// position that another read of this deployment has shown.
    async fn operations(
        &self,
        concerning: Option<UserId>,
        after: Position,
        limit: u32,
    ) -> Result<OperationPage, Unavailable>;

    /// Waits until more commits were announced to this process than `seen`, and returns their number. The store
    /// announces its own commits, and those of other servers shortly after they made them.
    ///
    /// An announcement of another server can be lost, and one may come although no operation was added: readers
    /// also read from time to time, and begin with 0.
    async fn announced_after(&self, seen: u64) -> u64;

    /// Assigns positions to at most this many operations that servers of an earlier version committed without
    /// one, oldest first, and returns their number; 0 for a store that servers of one version share.
    async fn assign_positions(&self, limit: u32) -> Result<u32, Unavailable>;
}
