//! Work lists that skip unreadable rows, so that one of them does not stop the work on all others.

use std::fmt::Display;

use cuepoint_store_sql::rows::Corrupt;
use cuepoint_store_sql::table::TableRow;
use diesel::prelude::*;
use diesel::result::Error as QueryError;

use crate::connect::failure::SqliteFailure;

/// The maximum number of unreadable rows that are skipped to fill a list.
pub(super) const MAX_UNREADABLE: u32 = 1_000;

/// Whether a row has a value that Rust cannot represent, such as a missing one.
const fn is_unreadable(failure: &SqliteFailure) -> bool {
    matches!(failure, SqliteFailure::Query(QueryError::DeserializationError(_)))
}

/// Decodes a loaded list; `None` if one of its rows cannot be read, so that the list must be read
/// [`one_by_one`].
pub(super) fn decode_all<R, T>(
    loaded: QueryResult<Vec<R>>,
    value: impl Fn(R) -> Result<T, Corrupt>,
) -> Result<Option<Vec<T>>, SqliteFailure> {
    match loaded.map_err(SqliteFailure::from) {
        Ok(rows) => Ok(rows.into_iter().map(value).collect::<Result<_, _>>().ok()),
        Err(failure) if is_unreadable(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Reads each of the rows with these ids by itself, and returns at most `limit` values in this order, without
/// the unreadable rows.
pub(super) fn one_by_one<R: TableRow, T>(
    ids: Vec<i64>,
    limit: u32,
    mut load: impl FnMut(i64) -> QueryResult<R>,
    value: impl Fn(R) -> Result<T, Corrupt>,
) -> Result<Vec<T>, SqliteFailure> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut values = Vec::new();
    for id in ids {
        if values.len() >= limit {
            break;
        }
        match load(id).optional().map_err(SqliteFailure::from) {
            Ok(row) => {
                let readable = row.map(&value).transpose();
                values.extend(readable.inspect_err(|corrupt| skipped::<R>(id, corrupt)).ok().flatten());
            }
            Err(failure) if is_unreadable(&failure) => skipped::<R>(id, &failure),
            Err(failure) => return Err(failure),
        }
    }
    Ok(values)
}

fn skipped<R: TableRow>(id: i64, error: &dyn Display) {
    tracing::error!(table = R::TABLE, id, %error, "unreadable row skipped");
}

/// Reads the first `$limit` readable rows of a work list, given as an expression that can be evaluated twice.
macro_rules! work_list {
    ($connection:ident, $list:expr, $limit:expr, $table:ident, $row:ty, $value:expr) => {{
        let limit: u32 = $limit;
        let loaded = $list.limit(i64::from(limit)).select(<$row>::as_select()).load($connection);
        match $crate::ports::readable::decode_all(loaded, $value)? {
            Some(values) => Ok(values),
            None => {
                let most = i64::from(limit.saturating_add($crate::ports::readable::MAX_UNREADABLE));
                let ids: Vec<i64> = $list.limit(most).select($table::id).load($connection)?;
                let load = |id| $table::table.find(id).select(<$row>::as_select()).get_result($connection);
                $crate::ports::readable::one_by_one::<$row, _>(ids, limit, load, $value)
            }
        }
    }};
}

pub(super) use work_list;
