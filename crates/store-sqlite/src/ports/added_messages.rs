//! Additions of provider messages.

use cuepoint_domain::ports::Recorded;
use cuepoint_store_sql::rows::StoredMessageRecord;
use cuepoint_store_sql::schema::provider_messages::{self, table};
use diesel::dsl::exists;
use diesel::prelude::*;

use crate::connect::failure::SqliteFailure;
use crate::dialect::is_unresolved;
use crate::statements::RowInsert;

/// Adds a message unless it is known or too many are unresolved; counts no further than that limit.
pub(super) async fn record_message(
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
    let unresolved = table.filter(is_unresolved()).select(provider_messages::id);
    let in_order =
        unresolved.order((provider_messages::resolved_at.is_null().desc(), provider_messages::id.desc()));
    let last_place = in_order.offset(most_unresolved.saturating_sub(1)).limit(1);
    let full = most_unresolved == 0 || last_place.get_result::<i64>(connection).optional()?.is_some();
    if full {
        return Ok(Recorded::NotKept);
    }
    RowInsert(row).execute(connection)?;
    Ok(Recorded::Added)
}
