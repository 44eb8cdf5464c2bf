//! Operations that concern a user, and their positions.

use cuepoint_domain::ids::UserId;
use diesel::dsl::{max, sql};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use diesel::sqlite::Sqlite;

use crate::schema::operations;

/// A condition on an operation.
type Condition = Box<dyn BoxableExpression<operations::table, Sqlite, SqlType = Bool>>;

/// The user whom an operation concerns, exactly as in the index `operations_about_people`.
const PERSON: &str = "coalesce(\
    json_extract(receipt, '$.profile.user.id'), \
    json_extract(receipt, '$.withdrawal.withdrawal.user_id'), \
    json_extract(receipt, '$.request.requester_id'), \
    json_extract(receipt, '$.topup.user_id'), \
    json_extract(receipt, '$.adjustment.adjustment.user_id')) = ";

/// The condition of an operation that concerns a user. The index serves a statement that also has its
/// condition: that the receipt shows a profile, or that a reason was given.
pub(crate) fn about(user: UserId) -> Condition {
    Box::new(sql::<Bool>(PERSON).bind::<BigInt, _>(user.get()))
}

/// The position of the newest operation; 0 if there is none.
pub(crate) fn newest_position(connection: &mut SqliteConnection) -> QueryResult<i64> {
    let newest: Option<i64> = operations::table.select(max(operations::position)).get_result(connection)?;
    Ok(newest.unwrap_or_default())
}
