//! Reads of music requests outside plans.

use async_trait::async_trait;

use crate::ids::{RequestId, UserId};
use crate::music_request::{MusicRequest, Overdue, RequestFilter};
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;

/// Reads music requests as they are stored; the reader derives expiry from the clock.
///
/// # Errors
/// Every method returns [`Unavailable`] when the storage cannot be reached.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait MusicRequests: Send + Sync {
    /// One request.
    async fn request(&self, id: RequestId) -> Result<Option<MusicRequest>, Unavailable>;
    /// A page of the requests that match the filter, by `created_at`, then id, both descending.
    async fn requests(
        &self,
        filter: &RequestFilter,
        page: PageRequest,
    ) -> Result<Rows<MusicRequest>, Unavailable>;
    /// Whether this guest ever made a request to this DJ, regardless of its outcome.
    async fn has_requested(&self, guest: UserId, dj: UserId) -> Result<bool, Unavailable>;
    /// Overdue requests, by `expires_at`, then id, both ascending.
    async fn overdue(&self, which: &Overdue) -> Result<Vec<MusicRequest>, Unavailable>;
}
