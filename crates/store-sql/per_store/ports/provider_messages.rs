//! Provider messages that contradict the ledger.

use async_trait::async_trait;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{ProviderMessages, Recorded, Unavailable};
use cuepoint_domain::provider_message::{MessageFilter, MessageRecord, ProviderMessage};
use cuepoint_store_sql::rows::{StoredMessage, StoredMessageRecord};
use cuepoint_store_sql::schema::provider_messages::{self, table};
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;

use super::added_messages::record_message;
use crate::SqlStore;
use crate::dialect::{Database, RunQueryDsl, columns, is_resolved, is_unresolved, page};

fn filtered(filter: MessageFilter) -> IntoBoxed<'static, table, Database> {
    match filter.resolved {
        None => table.into_boxed(),
        Some(true) => table.filter(is_resolved()).into_boxed(),
        Some(false) => table.filter(is_unresolved()).into_boxed(),
    }
}

#[async_trait]
impl ProviderMessages for SqlStore {
    async fn record_message(
        &self,
        message: &MessageRecord,
        most_unresolved: u32,
    ) -> Result<Recorded, Unavailable> {
        let input = (StoredMessageRecord::of(message), i64::from(most_unresolved));
        self.write(input, async |connection, (row, most_unresolved)| {
            record_message(connection, &row, most_unresolved).await
        })
        .await
    }

    async fn provider_messages(
        &self,
        filter: MessageFilter,
        asked: PageRequest,
    ) -> Result<Rows<ProviderMessage>, Unavailable> {
        self.list(asked, (filter, asked), async |mut connection, (filter, asked)| {
            let newest_first = provider_messages::id.desc();
            let unresolved_first = (provider_messages::resolved_at.is_null().desc(), newest_first);
            page!(
                connection, asked, filtered(filter), unresolved_first => UnresolvedFirst,
                columns::<StoredMessage>() => StoredMessage, StoredMessage::message
            )
        })
        .await
    }

    async fn unresolved_messages(&self) -> Result<u64, Unavailable> {
        self.read((), async |mut connection, ()| {
            let unresolved = table.filter(is_unresolved());
            let unresolved: i64 = unresolved.count().get_result(&mut connection).await?;
            Ok(u64::try_from(unresolved).unwrap_or_default())
        })
        .await
    }
}
