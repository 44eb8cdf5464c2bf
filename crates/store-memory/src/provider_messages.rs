//! Messages of providers that contradict the ledger.

use std::cmp::Reverse;

use async_trait::async_trait;
use cuepoint_domain::ids::ProviderMessageId;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{ProviderMessages, Recorded, Unavailable};
use cuepoint_domain::provider_message::{MessageFilter, MessageRecord, ProviderMessage};

use crate::lists::{count, page_of, sorted};
use crate::{MemoryStore, State};

impl State {
    fn unresolved_messages(&self) -> u64 {
        count(self.book.all::<ProviderMessage>().filter(|message| message.resolution.is_none()).count())
    }
}

#[async_trait]
impl ProviderMessages for MemoryStore {
    async fn record_message(
        &self,
        message: &MessageRecord,
        most_unresolved: u32,
    ) -> Result<Recorded, Unavailable> {
        let mut state = self.lock()?;
        let messages = || state.book.all::<ProviderMessage>();
        let is_known =
            |one: &MessageRecord| (one.source, &one.webhook_id) == (message.source, &message.webhook_id);
        if messages().any(|one| is_known(&one.record)) {
            return Ok(Recorded::Known);
        }
        if state.unresolved_messages() >= u64::from(most_unresolved) {
            return Ok(Recorded::NotKept);
        }
        let last = messages().map(|message| message.id.get()).max().unwrap_or(0);
        let id = last.checked_add(1).and_then(ProviderMessageId::new);
        let id = id.ok_or_else(|| Unavailable::new("the message ids are exhausted"))?;
        state.book.put(ProviderMessage { id, record: message.clone(), resolution: None });
        Ok(Recorded::Added)
    }

    async fn provider_messages(
        &self,
        filter: MessageFilter,
        page: PageRequest,
    ) -> Result<Rows<ProviderMessage>, Unavailable> {
        let state = self.lock()?;
        let shown = state.book.all::<ProviderMessage>().filter(|one| filter.shows(one));
        Ok(page_of(sorted(shown, |one| (one.resolution.is_some(), Reverse(one.id))), page))
    }

    async fn unresolved_messages(&self) -> Result<u64, Unavailable> {
        Ok(self.lock()?.unresolved_messages())
    }
}
