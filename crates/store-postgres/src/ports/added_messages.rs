//! Additions of provider messages.

use cuepoint_domain::ports::Recorded;
use cuepoint_store_sql::rows::StoredMessageRecord;
use cuepoint_store_sql::schema::provider_messages::{self, table};
use cuepoint_store_sql::sql_types::{ColumnTime, UtcTime};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::connect::failure::DatabaseFailure;
use crate::statement::query;

/// Adds a message unless it is known or too many are unresolved.
const RECORD: &str = include_str!("record_provider_message.sql");

/// Adds a message unless it is known or too many are unresolved.
pub(super) async fn record_message(
    connection: &mut AsyncPgConnection,
    row: &StoredMessageRecord,
    most_unresolved: i64,
) -> Result<Recorded, DatabaseFailure> {
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
        .bind::<BigInt, _>(most_unresolved)
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
}
