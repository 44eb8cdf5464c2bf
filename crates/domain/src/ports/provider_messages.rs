//! Stored messages of providers that contradict the ledger.

use async_trait::async_trait;

use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::provider_message::{MessageFilter, MessageRecord, ProviderMessage};

/// The outcome of recording a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recorded {
    /// It is stored.
    Added,
    /// A message of the same source with the same `webhook-id` is stored already, resolved or not, and stays
    /// unchanged.
    Known,
    /// It is not stored, because too many messages are unresolved.
    NotKept,
}

/// Stores messages of providers. The ledger resolves them, by a plan.
///
/// # Errors
/// Every method returns [`Unavailable`] when the storage cannot be reached.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait ProviderMessages: Send + Sync {
    /// Stores a message, unless it is known or `most_unresolved` messages are unresolved.
    ///
    /// Concurrent calls may each find the last free place: the bound is exceeded by at most the number of
    /// messages being recorded concurrently. Of messages with one source and `webhook-id` exactly one is
    /// stored.
    async fn record_message(
        &self,
        message: &MessageRecord,
        most_unresolved: u32,
    ) -> Result<Recorded, Unavailable>;

    /// A page of the messages that match the filter: unresolved ones first, then by id descending.
    async fn provider_messages(
        &self,
        filter: MessageFilter,
        page: PageRequest,
    ) -> Result<Rows<ProviderMessage>, Unavailable>;

    /// The number of unresolved messages.
    async fn unresolved_messages(&self) -> Result<u64, Unavailable>;
}
