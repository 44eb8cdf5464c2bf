//! Shows all rows in order, and reports unreadable ones.

use std::fmt::Display;

use cuepoint_store_sql::rows::Corrupt;
use diesel::result::Error as QueryError;

use super::Showing;
use crate::dialect::StoreFailure;

/// The maximum number of rows of a table in memory, apart from those about one entity.
pub(super) const BATCH: i64 = 1_000;

/// Why the presentation ended early.
pub(super) enum End {
    /// A database operation failed.
    Failed(StoreFailure),
    /// A row has no valid value, or the database is damaged.
    Unreadable(String),
}

impl<F: Into<StoreFailure>> From<F> for End {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

impl Showing<'_> {
    /// Presents all rows.
    pub(super) async fn rows(&mut self) -> Result<(), End> {
        self.wallets().await?;
        self.postings().await?;
        self.entities().await?;
        if self.auditor.has_strays() {
            self.strays().await?;
        }
        self.positions().await
    }
}

/// Returns the value of a row, or names the row that cannot be read.
pub(super) fn read<T>(row: impl Display, value: Result<T, Corrupt>) -> Result<T, End> {
    value.map_err(|corrupt| End::Unreadable(format!("{row} cannot be read: {corrupt}")))
}

/// Returns the rows of a batch, or `None` if a row has no Rust value and the batch is to be read again row by
/// row. If it was the only row, the error names it by `row`.
pub(super) fn readable<T>(
    loaded: Result<Vec<T>, StoreFailure>,
    size: &mut i64,
    row: impl FnOnce() -> String,
) -> Result<Option<Vec<T>>, End> {
    match loaded {
        Err(StoreFailure::Query(QueryError::DeserializationError(_))) if *size > 1 => {
            *size = 1;
            Ok(None)
        }
        Err(StoreFailure::Query(QueryError::DeserializationError(error))) => {
            Err(End::Unreadable(format!("{} cannot be read: {error}", row())))
        }
        loaded => Ok(Some(loaded?)),
    }
}

/// Names the row after `last`, or the first row if `last` is the smallest number.
pub(super) fn after(name: &str, last: i64) -> String {
    match last {
        i64::MIN => format!("the first {name}"),
        _ => format!("the {name} after {name} {last}"),
    }
}
