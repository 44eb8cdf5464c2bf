//! Reads of top-ups outside plans.

use async_trait::async_trait;

use crate::ids::{OperationId, TopupId, UserId};
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::timestamp::Timestamp;
use crate::topup::{Topup, TopupFilter};

/// Reads top-ups.
///
/// # Errors
/// Every method returns [`Unavailable`] when the storage cannot be reached.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Topups: Send + Sync {
    /// One top-up.
    async fn topup(&self, id: TopupId) -> Result<Option<Topup>, Unavailable>;
    /// The top-up that this operation opened; one without [`Topup::opening`] is never found.
    async fn topup_opened_by(&self, opening: OperationId) -> Result<Option<Topup>, Unavailable>;
    /// A page of the top-ups that match the filter, by `created_at`, then id, both descending.
    async fn topups(&self, filter: &TopupFilter, page: PageRequest) -> Result<Rows<Topup>, Unavailable>;
    /// A page of the top-ups with a [`Topup::suspense`]: those without a settlement first, then by
    /// `arrived_at`, then id, both descending.
    async fn topups_in_suspense(&self, page: PageRequest) -> Result<Rows<Topup>, Unavailable>;
    /// At most `limit` pending top-ups of a user, by `created_at`, then id, both ascending.
    async fn pending_topups(&self, user: UserId, limit: u32) -> Result<Vec<Topup>, Unavailable>;
    /// Top-ups whose next order is due, by [`Orders::next_at`](crate::topup::Orders::next_at), then id, both
    /// ascending.
    async fn due_orders(&self, now: Timestamp, limit: u32) -> Result<Vec<Topup>, Unavailable>;
}
