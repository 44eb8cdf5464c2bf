//! Operations that involve a user, and their positions.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{Position, PositionGap};
use cuepoint_store_sql::rows::{StoredPositionGap, known, position_gap};
use cuepoint_store_sql::schema::{operations, position_gaps};
use diesel::dsl::{max, sql};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use diesel::sqlite::Sqlite;

use crate::connect::failure::SqliteFailure;

/// A condition on an operation.
type Condition = Box<dyn BoxableExpression<operations::table, Sqlite, SqlType = Bool>>;

/// The involved user of an operation, exactly as in the index `operations_about_people`.
const PERSON: &str = "coalesce(\
    json_extract(receipt, '$.profile.user.id'), \
    json_extract(receipt, '$.withdrawal.withdrawal.user_id'), \
    json_extract(receipt, '$.request.requester_id'), \
    json_extract(receipt, '$.topup.user_id'), \
    json_extract(receipt, '$.adjustment.adjustment.user_id')) = ";

/// The condition of an operation that involves a user. The index serves a statement that also has its
/// condition: that the receipt shows a profile, or that a reason was given.
pub(crate) fn about(user: UserId) -> Condition {
    Box::new(sql::<Bool>(PERSON).bind::<BigInt, _>(user.get()))
}

/// The last gap between positions that begins before a position.
pub(crate) fn gap_before(
    connection: &mut SqliteConnection,
    position: i64,
) -> QueryResult<Option<StoredPositionGap>> {
    position_gaps::table
        .filter(position_gaps::last.lt(position))
        .order(position_gaps::last.desc())
        .select((position_gaps::last, position_gaps::next))
        .first(connection)
        .optional()
}

/// The newest position and the newest gap.
pub(crate) fn newest(
    connection: &mut SqliteConnection,
) -> Result<(Position, Option<PositionGap>), SqliteFailure> {
    let newest = known("operations.position", Position::new(newest_position(connection)?))?;
    Ok((newest, gap_before(connection, i64::MAX)?.map(position_gap).transpose()?))
}

/// The position of the newest operation; 0 if there is none.
pub(crate) fn newest_position(connection: &mut SqliteConnection) -> QueryResult<i64> {
    let newest: Option<i64> = operations::table.select(max(operations::position)).get_result(connection)?;
    Ok(newest.unwrap_or_default())
}
