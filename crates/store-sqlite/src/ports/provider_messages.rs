//! Provider messages that contradict the ledger.

use async_trait::async_trait;
use cuepoint_domain::ids::ProviderMessageId;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{ProviderMessages, Recorded, Unavailable};
use cuepoint_domain::provider_message::{MessageFilter, MessageRecord, ProviderMessage};
use cuepoint_store_sql::rows::{StoredMessage, StoredMessageRecord};
use cuepoint_store_sql::schema::provider_messages::{self, table};
use diesel::dsl::{exists, sql};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::Bool;

use super::lists::page;
use crate::SqliteStore;
use crate::connect::failure::SqliteFailure;
use crate::statements::Insert;
use crate::writer::Repetition;

/// Whether a message is resolved or not, as a comparison with the expression of the index.
fn is_resolved(resolved: bool) -> SqlLiteral<Bool> {
    sql(if resolved { "(resolved_at IS NULL) = 0" } else { "(resolved_at IS NULL) = 1" })
}

/// Adds a message unless it is known or too many are unresolved; counts no further than that limit.
fn record(
    connection: &mut SqliteConnection,
    row: &StoredMessageRecord,
    most_unresolved: i64,
) -> Result<Recorded, SqliteFailure> {
    let same = table
        .filter(provider_messages::source.eq(&row.source))
        .filter(provider_messages::webhook_id.eq(&row.webhook_id));
    if diesel::select(exists(same)).get_result(connection)? {
        return Ok(Recorded::Known);
    }
    let unresolved = table.filter(is_resolved(false)).select(provider_messages::id);
    let last_place =
        unresolved.order(provider_messages::id.desc()).offset(most_unresolved.saturating_sub(1)).limit(1);
    let full = most_unresolved == 0 || last_place.get_result::<i64>(connection).optional()?.is_some();
    if full {
        return Ok(Recorded::NotKept);
    }
    Insert(row).execute(connection)?;
    Ok(Recorded::Added)
}

#[async_trait]
impl ProviderMessages for SqliteStore {
    async fn record_message(
        &self,
        message: &MessageRecord,
        most_unresolved: u32,
    ) -> Result<Recorded, Unavailable> {
        let row = StoredMessageRecord::of(message);
        let record =
            move |connection: &mut SqliteConnection| record(connection, &row, i64::from(most_unresolved));
        Ok(self.writer.change(Repetition::Once, record).await?)
    }

    async fn provider_message(&self, id: ProviderMessageId) -> Result<Option<ProviderMessage>, Unavailable> {
        self.readers.read(|connection| {
            let row = table.find(id.get()).select(StoredMessage::as_select());
            let row: Option<StoredMessage> = row.get_result(connection).optional()?;
            Ok(row.map(|row| row.message()).transpose()?)
        })
    }

    async fn provider_messages(
        &self,
        filter: MessageFilter,
        asked: PageRequest,
    ) -> Result<Rows<ProviderMessage>, Unavailable> {
        let newest_first = provider_messages::id.desc();
        let unresolved_first = (provider_messages::resolved_at.is_null().desc(), newest_first);
        let page = move |connection: &mut SqliteConnection| {
            let message = |row: StoredMessage| row.message();
            match filter.resolved {
                None => page!(connection, asked, table, unresolved_first, StoredMessage, message),
                Some(resolved) => {
                    let found = table.filter(is_resolved(resolved));
                    page!(connection, asked, found.clone(), newest_first, StoredMessage, message)
                }
            }
        };
        self.readers.list(asked, page).await
    }

    async fn unresolved_messages(&self) -> Result<u64, Unavailable> {
        self.readers.read(|connection| {
            let unresolved: i64 = table.filter(is_resolved(false)).count().get_result(connection)?;
            Ok(u64::try_from(unresolved).unwrap_or_default())
        })
    }
}
