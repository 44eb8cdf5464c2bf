//! The statements that add operations with their positions.

use cuepoint_store_sql::rows::StoredOperation;
use cuepoint_store_sql::table::{ArrayRow, TableRow};
use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::future::try_join;

use super::statements::{Insert, RowsStatement, arrays, each_column, separators};
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
#[derive(Default)]
pub(super) struct InsertOperations(<StoredOperation as ArrayRow>::Arrays);

impl FromIterator<StoredOperation> for InsertOperations {
    fn from_iter<I: IntoIterator<Item = StoredOperation>>(operations: I) -> Self {
        Self(arrays(operations, Insert::<StoredOperation>::wants))
    }
}

impl RowsStatement for InsertOperations {
    const TABLE: &'static str = StoredOperation::TABLE;
}

impl QueryFragment<Pg> for InsertOperations {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        let wanted = Insert::<StoredOperation>::wants;
        out.push_sql("INSERT INTO operations (");
        each_column::<StoredOperation>(&mut out, wanted, |out, column| out.push_sql(column));
        out.push_sql(", position) SELECT ");
        each_column::<StoredOperation>(&mut out, wanted, |out, column| {
            out.push_sql("added.");
            out.push_sql(column);
        });
        out.push_sql(
            ", newest.position + added.place FROM (SELECT greatest(max(position), \
             (SELECT max(next) - 1 FROM position_gaps), 0) AS position FROM operations \
             WHERE position > 0) AS newest, unnest(",
        );
        StoredOperation::bind_arrays(&self.0, wanted, &mut separators(), &mut out)?;
        out.push_sql(") WITH ORDINALITY AS added (");
        each_column::<StoredOperation>(&mut out, wanted, |out, column| out.push_sql(column));
        out.push_sql(", place)");
        Ok(())
    }
}

impl QueryId for InsertOperations {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}
