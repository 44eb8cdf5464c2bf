//! Presents the whole ledger to the audit in one snapshot, one batch of rows in memory at a time.

mod entities;
mod positions;
mod strays;
mod wallets;

use std::fmt::Display;
use std::time::Duration;

use async_trait::async_trait;
use cuepoint_domain::audit::Auditor;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Audit, Unavailable};
use cuepoint_store_sql::rows::Corrupt;
use diesel::result::Error as QueryError;
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use tokio::time::timeout;

use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;

/// The maximum number of rows of a table in memory, apart from those about one entity.
const BATCH: i64 = 1_000;
/// Time limit of one statement.
const STATEMENT_DEADLINE: Duration = Duration::from_secs(60);

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '60s'";

/// Why the presentation ended early.
enum End {
    /// A database operation failed.
    Failed(DatabaseFailure),
    /// A row has no valid value.
    Unreadable(String),
}

impl<F: Into<DatabaseFailure>> From<F> for End {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

/// A snapshot, and the auditor that it is presented to.
struct Showing<'a> {
    connection: &'a mut AsyncPgConnection,
    currency: &'a Currency,
    auditor: &'a mut Auditor,
}

#[async_trait]
impl Audit for PostgresStore {
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable> {
        // Outside the pool: an audit takes minutes, and requests must not wait for its connection.
        let mut opened = self.database.open_beside().await?;
        let connection = &mut *opened;
        patiently(async { Ok(connection.batch_execute(BEGIN).await?) }).await?;
        Ok(show_ledger(connection, &self.currency, auditor).await?)
    }
}

/// Presents the ledger that the connection's transaction sees.
pub(crate) async fn show_ledger(
    connection: &mut AsyncPgConnection,
    currency: &Currency,
    auditor: &mut Auditor,
) -> Result<(), DatabaseFailure> {
    let mut showing = Showing { connection, currency, auditor };
    let shown = showing.everything().await;
    match shown {
        Ok(()) => {}
        Err(End::Unreadable(what)) => auditor.unreadable(what),
        Err(End::Failed(failure)) => return Err(failure),
    }
    Ok(())
}

impl Showing<'_> {
    async fn everything(&mut self) -> Result<(), End> {
        self.wallets().await?;
        self.postings().await?;
        self.entities().await?;
        if self.auditor.has_strays() {
            self.strays().await?;
        }
        self.positions().await
    }
}

/// Awaits a statement within [`STATEMENT_DEADLINE`].
async fn patiently<T>(work: impl Future<Output = Result<T, DatabaseFailure>>) -> Result<T, DatabaseFailure> {
    timeout(STATEMENT_DEADLINE, work).await.unwrap_or(Err(DatabaseFailure::Deadline))
}

/// Returns the value of a row, or names the row that cannot be read.
fn read<T>(row: impl Display, value: Result<T, Corrupt>) -> Result<T, End> {
    value.map_err(|corrupt| End::Unreadable(format!("{row} cannot be read: {corrupt}")))
}

/// Returns the rows of a batch, or `None` if a row has no Rust value and the batch is to be read again row by
/// row. If it was the only row, the error names it by `row`.
fn readable<T>(
    loaded: Result<Vec<T>, DatabaseFailure>,
    size: &mut i64,
    row: impl FnOnce() -> String,
) -> Result<Option<Vec<T>>, End> {
    match loaded {
        Err(DatabaseFailure::Query(QueryError::DeserializationError(_))) if *size > 1 => {
            *size = 1;
            Ok(None)
        }
        Err(DatabaseFailure::Query(QueryError::DeserializationError(error))) => {
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
