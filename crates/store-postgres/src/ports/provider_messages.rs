//! Provider messages that contradict the ledger.

use async_trait::async_trait;
use cuepoint_domain::ids::ProviderMessageId;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{ProviderMessages, Recorded, Unavailable};
use cuepoint_domain::provider_message::{MessageFilter, MessageRecord, ProviderMessage};
use cuepoint_store_sql::rows::{StoredMessage, StoredMessageRecord};
use cuepoint_store_sql::schema::provider_messages::{self, table};
use cuepoint_store_sql::sql_types::{ColumnTime, UtcTime};
use diesel::dsl::exists;
use diesel::helper_types::IntoBoxed;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel_async::RunQueryDsl;

use crate::PostgresStore;
use crate::reads::{Counted, UnresolvedFirst, columns, limits, paged};
use crate::statement::query;

/// Adds a message unless it is known or too many are unresolved.
const RECORD: &str = include_str!("record_provider_message.sql");

fn filtered(filter: MessageFilter) -> IntoBoxed<'static, table, Pg> {
    match filter.resolved {
        None => table.into_boxed(),
        Some(true) => table.filter(provider_messages::resolved_at.is_not_null()).into_boxed(),
        Some(false) => table.filter(provider_messages::resolved_at.is_null()).into_boxed(),
    }
}

#[async_trait]
impl ProviderMessages for PostgresStore {
    async fn record_message(
        &self,
        message: &MessageRecord,
        most_unresolved: u32,
    ) -> Result<Recorded, Unavailable> {
        let row = StoredMessageRecord::of(message);
        let recorded = self
            .database
            .write(async |connection| {
                let added = query(RECORD)
                    .bind::<Text, _>(&row.source)
                    .bind::<Text, _>(&row.webhook_id)
                    .bind::<Text, _>(&row.kind)
                    .bind::<Text, _>(&row.reason_code)
                    .bind::<Text, _>(&row.reference)
                    .bind::<Nullable<BigInt>, _>(row.stated_id)
                    .bind::<Nullable<BigInt>, _>(row.row_id)
                    .bind::<Nullable<Text>, _>(&row.amount)
                    .bind::<Nullable<Text>, _>(&row.currency)
                    .bind::<Nullable<Text>, _>(&row.txid)
                    .bind::<UtcTime, _>(ColumnTime(row.received_at))
                    .bind::<BigInt, _>(i64::from(most_unresolved))
                    .execute(connection)
                    .await?;
                if added > 0 {
                    return Ok(Recorded::Added);
                }
                let same = table
                    .filter(provider_messages::source.eq(&row.source))
                    .filter(provider_messages::webhook_id.eq(&row.webhook_id));
                let known: bool = diesel::select(exists(same)).get_result(connection).await?;
                Ok(if known { Recorded::Known } else { Recorded::NotKept })
            })
            .await?;
        Ok(recorded)
    }

    async fn provider_message(&self, id: ProviderMessageId) -> Result<Option<ProviderMessage>, Unavailable> {
        let row: Option<StoredMessage> = self
            .database
            .read(async |mut connection| {
                let message = table.find(id.get()).select(StoredMessage::as_select());
                Ok(message.get_result(&mut connection).await.optional()?)
            })
            .await?;
        row.map(StoredMessage::message).transpose().map_err(Unavailable::new)
    }

    async fn provider_messages(
        &self,
        filter: MessageFilter,
        asked: PageRequest,
    ) -> Result<Rows<ProviderMessage>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Counted<StoredMessage> = self
            .database
            .read(async |connection| {
                let page = filtered(filter)
                    .order((provider_messages::resolved_at.is_null().desc(), provider_messages::id.desc()))
                    .limit(limit)
                    .offset(offset)
                    .select(columns::<StoredMessage>());
                paged!(connection, filtered(filter).count(), page, UnresolvedFirst, offset)
            })
            .await?;
        counted.page(StoredMessage::message).map_err(Unavailable::new)
    }

    async fn unresolved_messages(&self) -> Result<u64, Unavailable> {
        let unresolved: i64 = self
            .database
            .read(async |mut connection| {
                let unresolved = table.filter(provider_messages::resolved_at.is_null());
                Ok(unresolved.count().get_result(&mut connection).await?)
            })
            .await?;
        Ok(u64::try_from(unresolved).unwrap_or(0))
    }
}
