//! Shows the whole ledger to the audit in one snapshot, one batch of rows in memory at a time.

mod entities;
mod positions;
mod strays;
mod wallets;

use std::fmt::Display;
use std::mem;

use async_trait::async_trait;
use cuepoint_domain::audit::Auditor;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Audit, Unavailable};
use cuepoint_store_sql::rows::Corrupt;
use diesel::SqliteConnection;
use diesel::result::Error as QueryError;

use crate::SqliteStore;
use crate::connect::failure::SqliteFailure;
use crate::connect::integrity::Check;

/// The maximum number of rows of a table in memory, apart from those about one entity.
const BATCH: i64 = 1_000;
/// The reason for an early end.
enum End {
    /// A database operation failed.
    Failed(SqliteFailure),
    /// A row has no valid value, or the file is damaged.
    Unreadable(String),
}

impl<F: Into<SqliteFailure>> From<F> for End {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

/// A snapshot, and the auditor that reads it.
struct Showing<'a> {
    connection: &'a mut SqliteConnection,
    currency: &'a Currency,
    auditor: &'a mut Auditor,
    /// Whether the caller still waits for the result.
    is_wanted: &'a dyn Fn() -> bool,
}

#[async_trait]
impl Audit for SqliteStore {
    /// On a thread and a connection of its own, since an audit takes minutes. The check of the file comes
    /// last, so that a defect of a row is named by the audit.
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable> {
        let (mut shown, currency) = (mem::take(auditor), self.currency.clone());
        let show = move |connection: &mut SqliteConnection, is_wanted: &dyn Fn() -> bool| {
            show_ledger(connection, &currency, &mut shown, is_wanted)?;
            Ok(shown)
        };
        *auditor = self.readers.read_on_own_thread(show).await?;
        Ok(())
    }
}

/// Shows the whole ledger of a snapshot: the connection's transaction. It ends early when `is_wanted`
/// returns false.
///
/// # Errors
/// [`SqliteFailure`] when a statement fails.
pub(crate) fn show_ledger(
    connection: &mut SqliteConnection,
    currency: &Currency,
    auditor: &mut Auditor,
    is_wanted: &dyn Fn() -> bool,
) -> Result<(), SqliteFailure> {
    let mut showing = Showing { connection, currency, auditor: &mut *auditor, is_wanted };
    match showing.everything().and_then(|()| showing.file()) {
        Ok(()) => {}
        Err(End::Unreadable(what)) => auditor.unreadable(what),
        Err(End::Failed(failure)) => return Err(failure),
    }
    Ok(())
}

impl Showing<'_> {
    /// Shows all rows; if one of their pages is damaged, the error names it.
    fn everything(&mut self) -> Result<(), End> {
        match self.rows() {
            Err(End::Failed(SqliteFailure::Damaged(defect))) => Err(match self.file() {
                Ok(()) => damaged(&defect),
                Err(end) => end,
            }),
            shown => shown,
        }
    }

    fn rows(&mut self) -> Result<(), End> {
        self.wallets()?;
        self.postings()?;
        self.entities()?;
        if self.auditor.has_strays() {
            self.strays()?;
        }
        self.positions()
    }

    /// Checks every page and every index of the database file.
    fn file(&mut self) -> Result<(), End> {
        self.ensure_wanted()?;
        match Check::Full.run(self.connection)? {
            Some(defect) => Err(damaged(&defect)),
            None => Ok(()),
        }
    }

    /// Ends an abandoned audit.
    fn ensure_wanted(&self) -> Result<(), End> {
        if (self.is_wanted)() { Ok(()) } else { Err(End::Failed(SqliteFailure::Interrupted)) }
    }
}

/// The end of an audit by a damaged file.
fn damaged(defect: &str) -> End {
    End::Unreadable(format!("the database file is damaged: restore a backup ({defect})"))
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
