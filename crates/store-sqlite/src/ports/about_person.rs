//! Operations and provider messages in the export of a user's data.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::privacy::personal_data::ExportKey;
use cuepoint_store_sql::rows::{StoredMessage, StoredOperation};
use cuepoint_store_sql::schema::{operations, provider_messages};
use cuepoint_store_sql::sql_types::{ColumnId, ColumnTime, OperationUuid, UtcTime};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use uuid::Uuid;

use crate::connect::failure::SqliteFailure;
use crate::tables::operations::about;

/// The operations that are shown to the involved user, exactly as in their index.
const SHOWN: &str = "(json_type(receipt, '$.profile') IS NOT NULL OR reason IS NOT NULL)";

/// The messages about a user's top-ups and withdrawals. They are looked up by the user's rows, whose number
/// determines the cost: `CROSS JOIN` reads those first.
const MESSAGES: [&str; 3] = [
    "id IN (SELECT message.id FROM (SELECT 'topups' AS source, id FROM topups WHERE user_id = ",
    " UNION ALL SELECT 'payouts', id FROM withdrawals WHERE user_id = ",
    ") AS own CROSS JOIN provider_messages AS message ON message.source = own.source AND message.row_id = own.id)",
];

/// The operations that are shown to the involved user, after a position.
pub(super) async fn operations_about(
    connection: &mut SqliteConnection,
    user: UserId,
    after: Option<ExportKey>,
    limit: u32,
) -> Result<Vec<StoredOperation>, SqliteFailure> {
    let mut query = operations::table.filter(sql::<Bool>(SHOWN)).filter(about(user)).into_boxed();
    if let Some(after) = after {
        let behind = sql::<Bool>("(at, id) < (").bind::<UtcTime, _>(ColumnTime(after.moment())).sql(", ");
        query =
            query.filter(behind.bind::<OperationUuid, _>(ColumnId(Uuid::from_u128(after.minor))).sql(")"));
    }
    let query = query.order((operations::at.desc(), operations::id.desc())).limit(i64::from(limit));
    Ok(query.select(StoredOperation::as_select()).load(connection)?)
}

/// The messages about a user's top-ups and withdrawals whose numbers are below this one.
pub(super) async fn messages_about(
    connection: &mut SqliteConnection,
    user: UserId,
    before: i64,
    limit: u32,
) -> Result<Vec<StoredMessage>, SqliteFailure> {
    let [of_topups, of_withdrawals, end] = MESSAGES;
    let about = sql::<Bool>(of_topups).bind::<BigInt, _>(user.get()).sql(of_withdrawals);
    Ok(provider_messages::table
        .filter(about.bind::<BigInt, _>(user.get()).sql(end))
        .filter(provider_messages::id.lt(before))
        .order(provider_messages::id.desc())
        .limit(i64::from(limit))
        .select(StoredMessage::as_select())
        .load(connection)?)
}
