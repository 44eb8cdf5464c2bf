//! The statements that add operations with their positions.

use cuepoint_store_sql::rows::StoredOperation;
use cuepoint_store_sql::table::ColumnRole;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::future::try_join;

use super::statements::{ArraysStatement, Inserted, StatementForm, StatementText, list};
use crate::connect::failure::DatabaseFailure;
use crate::tables::positions::{lock, note_timeline};

/// Adds operations with the next positions, in their order.
///
/// Every group takes the lock of positions last and keeps it until its commit, which PostgreSQL makes visible
/// before it releases the lock. So positions become visible in their order, without gaps but those that are
/// stored, and no group waits for one that waits for the lock. The newest position is read by a statement that
/// begins after the lock was granted.
///
/// A timeline that may not be noted yet is noted first, which can leave a gap.
pub(super) async fn add(
    operations: Vec<StoredOperation>,
    timeline: Option<u32>,
    mut connection: &AsyncPgConnection,
) -> Result<usize, DatabaseFailure> {
    let insert = operations.into_iter().collect::<InsertOperations>();
    if let Some(timeline) = timeline {
        lock(connection).await?;
        note_timeline(connection, timeline).await?;
        return Ok(insert.execute(&mut connection).await?);
    }
    // Pipelined, in this order.
    let ((), added) = try_join(lock(connection), insert.execute(&mut connection)).await?;
    Ok(added)
}

/// Inserts operations behind the newest position and the newest gap.
pub(super) type InsertOperations = ArraysStatement<StoredOperation, Positioned>;

/// The form of [`InsertOperations`].
pub(super) struct Positioned;

impl StatementForm<StoredOperation> for Positioned {
    fn wants(role: ColumnRole) -> bool {
        <Inserted as StatementForm<StoredOperation>>::wants(role)
    }

    fn text() -> StatementText {
        let columns = list::<StoredOperation>(Self::wants, str::to_owned);
        let added = list::<StoredOperation>(Self::wants, |column| format!("added.{column}"));
        StatementText {
            before_arrays: format!(
                "INSERT INTO operations ({columns}, position) SELECT {added}, newest.position + added.place \
                 FROM (SELECT greatest(max(position), (SELECT max(next) - 1 FROM position_gaps), 0) AS position \
                 FROM operations WHERE position > 0) AS newest, unnest("
            ),
            after_arrays: format!(") WITH ORDINALITY AS added ({columns}, place)"),
        }
    }
}
