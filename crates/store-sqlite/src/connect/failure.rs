//! Failures of the database.

use cuepoint_domain::ports::Unavailable;
use cuepoint_store_sql::rows::Corrupt;
use diesel::result::{DatabaseErrorKind, Error as QueryError};
use thiserror::Error;

use super::file_identity::FileLost;

/// A failure of a database operation.
#[derive(Debug, Error)]
pub(crate) enum SqliteFailure {
    /// A statement failed.
    #[error("{0}")]
    Query(QueryError),
    /// The database file is damaged.
    #[error("the database file is damaged ({0}): restore a backup")]
    Damaged(String),
    /// The database cannot be opened.
    #[error("{0:#}")]
    Open(#[from] anyhow::Error),
    /// A row has no valid value.
    #[error("{0}")]
    Corrupt(#[from] Corrupt),
    /// The database file was deleted or replaced.
    #[error("{0}")]
    FileLost(#[from] FileLost),
    /// The commit failed, and its outcome cannot be determined now.
    #[error("the outcome of a commit is unknown: {0}")]
    EndUnknown(Box<SqliteFailure>),
    /// The id of a new row is taken.
    #[error("the id of a new row is taken")]
    IdTaken,
    /// Another user can restore the e-mail address.
    #[error("another user can restore the e-mail address")]
    EmailTaken,
    /// The transaction that this was a part of failed.
    #[error("{0}")]
    Group(String),
    /// The writer panicked while it worked on the transaction.
    #[error("the writer has failed")]
    Panicked,
    /// The queue of the writer is full.
    #[error("the queue of plans is full")]
    QueueFull,
    /// The deadline passed.
    #[error("the database did not answer in time")]
    Deadline,
    /// The thread of a long read has ended without a result.
    #[error("a long read was interrupted")]
    Interrupted,
    /// The writer accepts nothing more.
    #[error("the store accepts no changes: it is closed, or was opened for reading alone")]
    Closed,
}

/// The beginnings of messages about a row that no other error kind identifies: those of triggers and of
/// values that a strict table refuses.
const ABOUT_ROWS: [&str; 2] = [": rows of ", "cannot store "];

/// The beginnings of messages about pages that are not as SQLite wrote them, and about stored receipts that
/// are no JSON, which their column accepts from no statement.
const DAMAGE: [&str; 4] = [
    "database disk image is malformed",
    "file is not a database",
    "malformed database schema",
    "malformed JSON",
];

/// The defect that a damaged file caused this error by, if it did.
pub(crate) fn defect(error: &QueryError) -> Option<&str> {
    match error {
        QueryError::DatabaseError(DatabaseErrorKind::Unknown, info) => {
            Some(info.message()).filter(|message| DAMAGE.iter().any(|part| message.starts_with(part)))
        }
        _ => None,
    }
}

impl From<QueryError> for SqliteFailure {
    fn from(error: QueryError) -> Self {
        match defect(&error) {
            Some(defect) => Self::Damaged(defect.to_owned()),
            None => Self::Query(error),
        }
    }
}

impl SqliteFailure {
    /// Whether the rows of one operation are the cause, so that the others of its transaction succeed without
    /// it.
    pub(crate) fn blames_one(&self) -> bool {
        match self {
            Self::Query(QueryError::DatabaseError(kind, info)) => match kind {
                DatabaseErrorKind::UniqueViolation
                | DatabaseErrorKind::ForeignKeyViolation
                | DatabaseErrorKind::NotNullViolation
                | DatabaseErrorKind::CheckViolation => true,
                _ => ABOUT_ROWS.iter().any(|part| info.message().contains(part)),
            },
            Self::Query(
                QueryError::NotFound
                | QueryError::SerializationError(_)
                | QueryError::DeserializationError(_),
            )
            | Self::Corrupt(_)
            | Self::IdTaken
            | Self::EmailTaken => true,
            _ => false,
        }
    }
}

impl SqliteFailure {
    /// Whether the database refused what every plan does, so that it would refuse further plans as well.
    pub(crate) fn refuses_plans(&self) -> bool {
        match self {
            Self::Query(_) => !self.blames_one() && !self.is_busy(),
            Self::EndUnknown(cause) => cause.refuses_plans(),
            Self::Panicked => true,
            _ => false,
        }
    }

    /// Whether another process holds a lock.
    fn is_busy(&self) -> bool {
        matches!(self, Self::Query(QueryError::DatabaseError(_, info)) if info.message() == "database is locked")
    }
}

impl From<SqliteFailure> for Unavailable {
    fn from(failure: SqliteFailure) -> Self {
        Self::new(failure)
    }
}
