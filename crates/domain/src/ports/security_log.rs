//! The stored security log.

use async_trait::async_trait;

use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::security_log::{SecurityEvent, SecurityEventFilter};

/// Stores the security log. The ledger stores the events of plans, in the same commit.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait SecurityLog: Send + Sync {
    /// Adds an event.
    async fn append(&self, event: &SecurityEvent) -> Result<(), Unavailable>;

    /// A page of events, the last added first, each with its number: 1, 2, 3… in order of addition, with
    /// gaps.
    async fn events(
        &self,
        filter: SecurityEventFilter,
        page: PageRequest,
    ) -> Result<Rows<(i64, SecurityEvent)>, Unavailable>;
}
