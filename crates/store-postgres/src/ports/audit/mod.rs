//! Showing the whole ledger in one snapshot, a batch of rows in memory at a time.

mod strays;
mod things;
mod wallets;

use std::fmt::Display;
use std::time::Duration;

use async_trait::async_trait;
use cuepoint_domain::ledger::Auditor;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Audit, Unavailable};
use diesel::result::Error as QueryError;
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use tokio::time::timeout;

use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::rows::Corrupt;

/// How many rows of a table are in memory at most, but for those that are written about one thing.
const BATCH: i64 = 1_000;
/// How long one statement may take.
const STATEMENT_DEADLINE: Duration = Duration::from_secs(60);

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '60s'";

/// Why showing came to an early end.
enum End {
    /// The database did not do what it was asked.
    Failed(DatabaseFailure),
    /// A row stands for nothing.
    Unreadable(String),
}

impl<F: Into<DatabaseFailure>> From<F> for End {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

/// A snapshot, and whom it is shown.
struct Showing<'a> {
    connection: &'a mut AsyncPgConnection,
    currency: &'a Currency,
    auditor: &'a mut Auditor,
}

#[async_trait]
impl Audit for PostgresStore {
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable> {
        // Beside the pool: a check takes minutes, and calls must not wait for its connection.
        let mut opened = self.database.open_beside().await?;
        let connection = &mut *opened;
        patiently(async { Ok(connection.batch_execute(BEGIN).await?) }).await?;
        let mut showing = Showing { connection, currency: &self.currency, auditor };
        let shown = showing.everything().await;
        match shown {
            Ok(()) => {}
            Err(End::Unreadable(what)) => auditor.unreadable(what),
            Err(End::Failed(failure)) => return Err(failure.into()),
        }
        Ok(())
    }
}

impl Showing<'_> {
    async fn everything(&mut self) -> Result<(), End> {
        self.wallets().await?;
        self.postings().await?;
        self.things().await?;
        if self.auditor.has_strays() {
            self.strays().await?;
        }
        Ok(())
    }
}

/// What comes of a statement, if it comes in time.
async fn patiently<T>(work: impl Future<Output = Result<T, DatabaseFailure>>) -> Result<T, DatabaseFailure> {
    timeout(STATEMENT_DEADLINE, work).await.unwrap_or(Err(DatabaseFailure::Deadline))
}

/// The value that a row stands for, or which row stands for none.
fn read<T>(row: impl Display, value: Result<T, Corrupt>) -> Result<T, End> {
    value.map_err(|corrupt| End::Unreadable(format!("{row} cannot be read: {corrupt}")))
}

/// The rows of a batch. Where one of them has no value in Rust, the batch is to be read again row by row, and
/// answers `None`; the row that is alone then is named by `row`.
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

/// What the row is called that comes after this one, which has the smallest number of all where there is none.
fn after(name: &str, last: i64) -> String {
    match last {
        i64::MIN => format!("the first {name}"),
        _ => format!("the {name} after {name} {last}"),
    }
}
