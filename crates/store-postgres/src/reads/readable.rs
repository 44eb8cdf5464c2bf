//! Work lists that skip unreadable rows, so that one of them does not stop the work on all others.

use std::fmt::Display;

use cuepoint_store_sql::rows::Corrupt;
use diesel::result::Error as QueryError;
use diesel_async::AsyncPgConnection;

use super::batcher::Row;
use crate::connect::failure::DatabaseFailure;

/// The maximum number of unreadable rows that are skipped to fill a list.
pub(crate) const MAX_UNREADABLE: u32 = 1_000;

/// Whether a row has a value that Rust cannot represent, such as an infinite time.
const fn is_unreadable(failure: &DatabaseFailure) -> bool {
    matches!(failure, DatabaseFailure::Query(QueryError::DeserializationError(_)))
}

/// Decodes a loaded list; `None` if one of its rows cannot be read, so that the list must be read
/// [`one_by_one`].
pub(crate) fn decode_all<R, T>(
    loaded: Result<Vec<R>, DatabaseFailure>,
    value: impl Fn(R) -> Result<T, Corrupt>,
) -> Result<Option<Vec<T>>, DatabaseFailure> {
    match loaded {
        Ok(rows) => Ok(rows.into_iter().map(value).collect::<Result<_, _>>().ok()),
        Err(failure) if is_unreadable(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Reads each of the rows with these ids by itself, and returns at most `limit` values in this order, without
/// the unreadable rows.
pub(crate) async fn one_by_one<R: Row, T>(
    connection: &AsyncPgConnection,
    ids: Vec<i64>,
    limit: u32,
    value: impl Fn(R) -> Result<T, Corrupt>,
) -> Result<Vec<T>, DatabaseFailure> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut values = Vec::new();
    for id in ids {
        if values.len() >= limit {
            break;
        }
        let rows = match R::load(connection, &[id]).await {
            Err(failure) if is_unreadable(&failure) => {
                skipped::<R>(id, &failure);
                continue;
            }
            loaded => loaded?,
        };
        let readable = rows.into_iter().map(&value);
        values
            .extend(readable.filter_map(|value| value.inspect_err(|corrupt| skipped::<R>(id, corrupt)).ok()));
    }
    Ok(values)
}

fn skipped<R: Row>(id: i64, error: &dyn Display) {
    tracing::error!(table = R::TABLE, id, %error, "unreadable row skipped");
}

/// Reads the first `$limit` readable rows of a work list, given as an expression that can be evaluated twice.
macro_rules! work_list {
    ($connection:ident, $list:expr, $limit:expr, $table:ident, $row:ty, $value:expr) => {{
        let limit: u32 = $limit;
        let first = $list.limit(i64::from(limit)).select($crate::reads::columns::<$row>());
        let loaded = first.load(&mut $connection).await;
        let loaded = loaded.map_err($crate::connect::failure::DatabaseFailure::from);
        match $crate::reads::readable::decode_all(loaded, $value)? {
            Some(values) => Ok(values),
            None => {
                let most = i64::from(limit.saturating_add($crate::reads::readable::MAX_UNREADABLE));
                let ids = $list.limit(most).select($table::id).load(&mut $connection).await?;
                $crate::reads::readable::one_by_one::<$row, _>($connection, ids, limit, $value).await
            }
        }
    }};
}

pub(crate) use work_list;
