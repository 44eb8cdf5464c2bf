//! Work lists that skip unreadable rows, so that one of them does not stop the work on all others.

use std::fmt::Display;

use cuepoint_store_sql::rows::Corrupt;
use cuepoint_store_sql::table::TableRow;
use diesel::prelude::*;
use diesel::result::Error as QueryError;

use crate::dialect::StoreFailure;

/// The maximum number of unreadable rows that are skipped to fill a list.
pub(super) const MAX_UNREADABLE: u32 = 1_000;

/// Whether a row has a value that Rust cannot represent, such as a missing one or an infinite time.
const fn is_unreadable(failure: &StoreFailure) -> bool {
    matches!(failure, StoreFailure::Query(QueryError::DeserializationError(_)))
}

/// Decodes a loaded list; `None` if one of its rows cannot be read, so that each must be read by itself.
pub(super) fn decode_all<R, T>(
    loaded: QueryResult<Vec<R>>,
    value: impl Fn(R) -> Result<T, Corrupt>,
) -> Result<Option<Vec<T>>, StoreFailure> {
    match loaded.map_err(StoreFailure::from) {
        Ok(rows) => Ok(rows.into_iter().map(value).collect::<Result<_, _>>().ok()),
        Err(failure) if is_unreadable(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Decodes the row with this id; `None` if it is gone or cannot be read.
pub(super) fn decode_one<R: TableRow, T>(
    id: i64,
    loaded: QueryResult<R>,
    value: impl Fn(R) -> Result<T, Corrupt>,
) -> Result<Option<T>, StoreFailure> {
    match loaded.optional().map_err(StoreFailure::from) {
        Ok(row) => {
            let readable = row.map(value).transpose();
            Ok(readable.inspect_err(|corrupt| skipped::<R>(id, corrupt)).ok().flatten())
        }
        Err(failure) if is_unreadable(&failure) => {
            skipped::<R>(id, &failure);
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}

fn skipped<R: TableRow>(id: i64, error: &dyn Display) {
    tracing::error!(table = R::TABLE, id, %error, "unreadable row skipped");
}

/// Reads the first `$limit` readable rows of a work list, given as an expression that can be evaluated twice: all at
/// once, or each by itself if one of them is unreadable. The value of a row can be evaluated twice as well.
macro_rules! work_list {
    ($connection:ident, $list:expr, $limit:expr, $table:ident => $row:ty, $value:expr) => {{
        let limit: u32 = $limit;
        let first = $list.limit(i64::from(limit)).select($crate::dialect::columns::<$row>());
        let loaded: diesel::QueryResult<Vec<$row>> = first.load(&mut $connection).await;
        match $crate::ports::readable::decode_all(loaded, $value)? {
            Some(values) => Ok(values),
            None => {
                let most = i64::from(limit.saturating_add($crate::ports::readable::MAX_UNREADABLE));
                let ids: Vec<i64> = $list.limit(most).select($table::id).load(&mut $connection).await?;
                let most = usize::try_from(limit).unwrap_or(usize::MAX);
                let mut values = Vec::new();
                for id in ids {
                    if values.len() >= most {
                        break;
                    }
                    // The same statement as PostgreSQL's batches of reads by id.
                    let row = $table::table.filter($table::id.eq_any([id]));
                    let row = row.select($crate::dialect::columns::<$row>());
                    let row: diesel::QueryResult<$row> = row.get_result(&mut $connection).await;
                    values.extend($crate::ports::readable::decode_one(id, row, $value)?);
                }
                Ok(values)
            }
        }
    }};
}

pub(super) use work_list;
