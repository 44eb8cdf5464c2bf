//! Operations and provider messages in the export of a user's data.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::privacy::personal_data::ExportKey;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{StoredMessage, StoredOperation};
use cuepoint_store_sql::sql_types::{OperationUuid, UtcTime};
use diesel::sql_types::{BigInt, Nullable};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use crate::connect::failure::DatabaseFailure;
use crate::statement::{Columns, statement};

statement! {
    /// A page of the operations in the export of a user's data.
    OperationsAboutPerson("operations_about_person.sql") [
        user: BigInt as i64,
        before_at: Nullable<UtcTime> as Option<Timestamp>,
        before_id: Nullable<OperationUuid> as Option<Uuid>,
        limit: BigInt as i64,
    ] -> Columns<StoredOperation>
}

statement! {
    /// A page of the messages about a user's top-ups and withdrawals.
    MessagesAboutPerson("messages_about_person.sql") [
        user: BigInt as i64,
        before_id: BigInt as i64,
        limit: BigInt as i64,
    ] -> Columns<StoredMessage>
}

/// The operations that are shown to the involved user, after a position.
pub(super) async fn operations_about(
    mut connection: &AsyncPgConnection,
    user: UserId,
    after: Option<ExportKey>,
    limit: u32,
) -> Result<Vec<StoredOperation>, DatabaseFailure> {
    let page = OperationsAboutPerson {
        user: user.get(),
        before_at: after.map(|after| after.moment()),
        before_id: after.map(|after| Uuid::from_u128(after.minor)),
        limit: i64::from(limit),
    };
    Ok(page.load(&mut connection).await?)
}

/// The messages about a user's top-ups and withdrawals whose numbers are below this one.
pub(super) async fn messages_about(
    mut connection: &AsyncPgConnection,
    user: UserId,
    before: i64,
    limit: u32,
) -> Result<Vec<StoredMessage>, DatabaseFailure> {
    let page = MessagesAboutPerson { user: user.get(), before_id: before, limit: i64::from(limit) };
    Ok(page.load(&mut connection).await?)
}
