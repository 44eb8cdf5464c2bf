//! The ports that this store does not implement yet; no server uses it.

use async_trait::async_trait;
use cuepoint_domain::account::personal_data::{Part, Place, Record};
use cuepoint_domain::ids::{ProviderMessageId, UserId};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{PersonalRecords, ProviderMessages, Recorded, Unavailable};
use cuepoint_domain::provider_message::{MessageFilter, MessageRecord, ProviderMessage};

use crate::SqliteStore;

/// The failure of a method that is not implemented yet.
pub(super) fn unfinished<T>() -> Result<T, Unavailable> {
    Err(Unavailable::new("this store does not implement it yet"))
}

#[async_trait]
impl PersonalRecords for SqliteStore {
    async fn records(
        &self,
        _: UserId,
        _: Part,
        _: Option<Place>,
        _: u32,
    ) -> Result<Vec<Record>, Unavailable> {
        unfinished()
    }
}

#[async_trait]
impl ProviderMessages for SqliteStore {
    async fn record_message(&self, _: &MessageRecord, _: u32) -> Result<Recorded, Unavailable> {
        unfinished()
    }

    async fn provider_message(&self, _: ProviderMessageId) -> Result<Option<ProviderMessage>, Unavailable> {
        unfinished()
    }

    async fn provider_messages(
        &self,
        _: MessageFilter,
        _: PageRequest,
    ) -> Result<Rows<ProviderMessage>, Unavailable> {
        unfinished()
    }

    async fn unresolved_messages(&self) -> Result<u64, Unavailable> {
        unfinished()
    }
}
