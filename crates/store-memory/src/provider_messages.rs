//! Messages of providers that contradict the ledger.

use std::collections::HashSet;

use std::cmp::Reverse;

use async_trait::async_trait;
use cuepoint_domain::ids::ProviderMessageId;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{ProviderMessages, Recorded, Unavailable};
use cuepoint_domain::provider_message::{
    MessageFilter, MessageRecord, MessageSource, ProviderMessage, WebhookId,
};

use crate::MemoryStore;
use crate::lists::{count, cut};

/// The `webhook-id`s of the messages stored in the book.
pub(crate) type KnownMessages = HashSet<(MessageSource, WebhookId)>;

#[async_trait]
impl ProviderMessages for MemoryStore {
    async fn record_message(
        &self,
        message: &MessageRecord,
        most_unresolved: u32,
    ) -> Result<Recorded, Unavailable> {
        let mut state = self.lock()?;
        let key = (message.source, message.webhook_id.clone());
        if state.known_messages.contains(&key) {
            return Ok(Recorded::Known);
        }
        let messages = || state.book.all::<ProviderMessage>();
        let unresolved = messages().filter(|message| message.resolution.is_none()).count();
        if count(unresolved) >= u64::from(most_unresolved) {
            return Ok(Recorded::NotKept);
        }
        let last = messages().map(|message| message.id.get()).max().unwrap_or(0);
        let id = last.checked_add(1).and_then(ProviderMessageId::new);
        let id = id.ok_or_else(|| Unavailable::new("the message ids are exhausted"))?;
        state.book.put(ProviderMessage { id, record: message.clone(), resolution: None });
        state.known_messages.insert(key);
        Ok(Recorded::Added)
    }

    async fn provider_message(&self, id: ProviderMessageId) -> Result<Option<ProviderMessage>, Unavailable> {
        Ok(self.lock()?.book.get(id).cloned())
    }

    async fn provider_messages(
        &self,
        filter: MessageFilter,
        page: PageRequest,
    ) -> Result<Rows<ProviderMessage>, Unavailable> {
        let state = self.lock()?;
        let mut shown: Vec<&ProviderMessage> =
            state.book.all::<ProviderMessage>().filter(|one| filter.shows(one)).collect();
        shown.sort_unstable_by_key(|one| (one.resolution.is_some(), Reverse(one.id)));
        let rows = cut(shown.into_iter(), page);
        Ok(Rows { rows: rows.rows.into_iter().cloned().collect(), total: rows.total })
    }

    async fn unresolved_messages(&self) -> Result<u64, Unavailable> {
        let state = self.lock()?;
        let unresolved = state.book.all::<ProviderMessage>().filter(|one| one.resolution.is_none());
        Ok(count(unresolved.count()))
    }
}
