//! Work lists from which a row that cannot be read is left out, so that it does not stop the work on all others.

use std::fmt::Display;

use diesel::result::Error as QueryError;
use diesel_async::AsyncPgConnection;

use super::together::Row;
use crate::database::Failure;
use crate::rows::Corrupt;

/// How many unreadable rows are passed over at most to fill a list.
pub(crate) const MOST_UNREADABLE: u32 = 1_000;

/// Whether a row of a list has a value that Rust cannot hold, such as an infinite time.
pub(crate) const fn is_unreadable(failure: &Failure) -> bool {
    matches!(failure, Failure::Query(QueryError::DeserializationError(_)))
}

/// The readable ones of the rows with these ids, in this order, and no more than `limit`: each is read by itself.
pub(crate) async fn one_by_one<R: Row>(
    connection: &AsyncPgConnection,
    ids: Vec<i64>,
    limit: u32,
) -> Result<Vec<R>, Failure> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut readable = Vec::new();
    for id in ids {
        if readable.len() >= limit {
            break;
        }
        match R::load(connection, &[id]).await {
            Ok(rows) => readable.extend(rows),
            Err(failure) if is_unreadable(&failure) => skipped::<R>(id, &failure),
            Err(failure) => return Err(failure),
        }
    }
    Ok(readable)
}

/// The values that the rows stand for, without the rows that stand for none.
pub(crate) fn values<R: Row, T>(rows: Vec<R>, value: impl Fn(R) -> Result<T, Corrupt>) -> Vec<T> {
    let value = |row: R| {
        let id = row.id();
        value(row).inspect_err(|corrupt| skipped::<R>(id, corrupt)).ok()
    };
    rows.into_iter().filter_map(value).collect()
}

fn skipped<R: Row>(id: i64, error: &dyn Display) {
    tracing::error!(table = R::TABLE, id, %error, "a row cannot be read and is left out of the work");
}
