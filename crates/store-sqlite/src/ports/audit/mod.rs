//! Presents the whole ledger to the audit in one snapshot, one batch of rows in memory at a time.

mod entities;
mod strays;
mod wallets;

use std::fmt::Display;

use async_trait::async_trait;
use cuepoint_domain::ledger::Auditor;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Audit, Unavailable};
use diesel::SqliteConnection;
use diesel::result::Error as QueryError;
use uuid::Uuid;

use crate::SqliteStore;
use crate::connect::failure::SqliteFailure;
use crate::rows::Corrupt;

/// The maximum number of rows of a table in memory, apart from those about one entity.
const BATCH: i64 = 1_000;
/// Why the presentation ended early.
enum End {
    /// A database operation failed.
    Failed(SqliteFailure),
    /// A row has no valid value.
    Unreadable(String),
}

impl<F: Into<SqliteFailure>> From<F> for End {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

/// A snapshot, and the auditor that it is presented to.
struct Showing<'a> {
    connection: &'a mut SqliteConnection,
    currency: &'a Currency,
    auditor: &'a mut Auditor,
}

#[async_trait]
impl Audit for SqliteStore {
    /// On a connection of its own, since an audit takes minutes.
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable> {
        let shown = self.readers.read_apart(|connection| {
            let mut showing = Showing { connection, currency: &self.currency, auditor: &mut *auditor };
            match showing.everything() {
                Ok(()) => Ok(None),
                Err(End::Unreadable(what)) => Ok(Some(what)),
                Err(End::Failed(failure)) => Err(failure),
            }
        });
        if let Some(what) = shown? {
            auditor.unreadable(what);
        }
        Ok(())
    }
}

impl Showing<'_> {
    fn everything(&mut self) -> Result<(), End> {
        self.wallets()?;
        self.postings()?;
        self.entities()?;
        if self.auditor.has_strays() {
            self.strays()?;
        }
        Ok(())
    }
}

/// Returns the value of a row, or names the row that cannot be read.
fn read<T>(row: impl Display, value: Result<T, Corrupt>) -> Result<T, End> {
    value.map_err(|corrupt| End::Unreadable(format!("{row} cannot be read: {corrupt}")))
}

/// Returns the rows of a batch, or `None` if a row has no Rust value and the batch is to be read again row by
/// row. If it was the only row, the error names it by `row`.
fn readable<T>(
    loaded: Result<Vec<T>, SqliteFailure>,
    size: &mut i64,
    row: impl FnOnce() -> String,
) -> Result<Option<Vec<T>>, End> {
    match loaded {
        Err(SqliteFailure::Query(QueryError::DeserializationError(_))) if *size > 1 => {
            *size = 1;
            Ok(None)
        }
        Err(SqliteFailure::Query(QueryError::DeserializationError(error))) => {
            Err(End::Unreadable(format!("{} cannot be read: {error}", row())))
        }
        loaded => Ok(Some(loaded?)),
    }
}

/// Names the row after `last`, or the first row if `last` is the smallest number.
fn after(name: &str, last: i64) -> String {
    match last {
        i64::MIN => format!("the first {name}"),
        _ => format!("the {name} after {name} {last}"),
    }
}

/// The id of an operation as text.
fn hex(id: &[u8]) -> String {
    Uuid::from_slice(id).map(|id| id.simple().to_string()).unwrap_or_default()
}
