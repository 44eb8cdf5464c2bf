//! Messages of providers that contradict the ledger, as they are kept.

use async_trait::async_trait;

use crate::ids::ProviderMessageId;
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::provider_message::{MessageFilter, MessageRecord, ProviderMessage};

/// The outcome of recording a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recorded {
    /// It is kept now.
    Added,
    /// A message of the same source and `webhook-id` is kept already, resolved or not; that one is unchanged.
    Known,
    /// It is not kept, because too many are unresolved.
    NotKept,
}

/// Keeps messages of providers. The ledger resolves them, by a plan.
///
/// # Errors
/// Every method answers [`Unavailable`] when the storage cannot be reached.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait ProviderMessages: Send + Sync {
    /// Keeps a message, unless it is known or `most_unresolved` messages are unresolved.
    ///
    /// Concurrent calls may each find the last free place: the bound is exceeded by at most the number of messages
    /// that are being recorded at the same moment. Of messages with one source and `webhook-id` exactly one is kept.
    async fn record_message(
        &self,
        message: &MessageRecord,
        most_unresolved: u32,
    ) -> Result<Recorded, Unavailable>;

    /// One message.
    async fn provider_message(&self, id: ProviderMessageId) -> Result<Option<ProviderMessage>, Unavailable>;

    /// A page of those that the filter shows: unresolved ones first, then by id descending.
    async fn provider_messages(
        &self,
        filter: MessageFilter,
        page: PageRequest,
    ) -> Result<Rows<ProviderMessage>, Unavailable>;

    /// How many messages are unresolved.
    async fn unresolved_messages(&self) -> Result<u64, Unavailable>;
}
