//! The security log as it is kept.

use async_trait::async_trait;

use crate::account::security_log::{EventFilter, SecurityEvent};
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;

/// Keeps the security log. Events that plans leave are kept by the ledger, in the same commit.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait SecurityLog: Send + Sync {
    /// Adds an event.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn append(&self, event: &SecurityEvent) -> Result<(), Unavailable>;

    /// A page of events, those added last first, each with its number: 1, 2, 3… as they were added, with gaps.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn events(
        &self,
        filter: EventFilter,
        page: PageRequest,
    ) -> Result<Rows<(i64, SecurityEvent)>, Unavailable>;
}
