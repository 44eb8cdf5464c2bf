//! Database failures, and their consequences for the connection.

use cuepoint_domain::ports::Unavailable;
use cuepoint_store_sql::rows::Corrupt;
use deadpool::managed::PoolError;
use diesel::ConnectionError;
use diesel::result::{DatabaseErrorKind, Error as QueryError};
use thiserror::Error;

/// Why a node is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum Refusal {
    /// The node is a standby, or read-only by configuration.
    #[error("the node is read-only: a standby, or a server with default_transaction_read_only")]
    ReadOnly,
    /// The node was replaced by a promoted one.
    #[error(
        "the node is on timeline {0}, but the cluster went on to timeline {1}: it was replaced by another primary"
    )]
    OlderTimeline(u32, u32),
    /// The node belongs to a cluster other than the deployment's.
    #[error(
        "the node belongs to the cluster with system identifier {0}, but the deployment to {1}: after a restore into \
         another cluster, run `cuepoint restore`"
    )]
    OtherSystem(i64, i64),
    /// The startup options were dropped on the way.
    #[error(
        "the connection's startup options were dropped: connect to PostgreSQL itself, not to a connection pooler"
    )]
    OptionsDropped,
    /// A restore or a copy holds the lock.
    #[error("`cuepoint restore` or `cuepoint storage copy` is running on this database")]
    Restoring,
    /// The database was copied to another store.
    #[error("the database was copied to another store, which is in use instead")]
    Copied,
}

/// A failure of a database operation.
#[derive(Debug, Error)]
pub(crate) enum DatabaseFailure {
    /// A statement failed.
    #[error("{0}")]
    Query(#[from] QueryError),
    /// No connection could be opened.
    #[error("no connection to the database: {0}")]
    Connect(#[from] ConnectionError),
    /// No connection was free, or none could be opened.
    #[error("no connection to the database: {0}")]
    Pool(#[from] PoolError<ConnectionError>),
    /// The node behind a connection is refused.
    #[error("{0}")]
    Node(#[from] Refusal),
    /// A row has no valid value.
    #[error("{0}")]
    Corrupt(#[from] Corrupt),
    /// The reply to COMMIT was lost, and the transaction's outcome cannot be determined now.
    #[error("the answer to COMMIT was lost, and its outcome is unknown: {0}")]
    EndUnknown(Box<DatabaseFailure>),
    /// The id of a new row is taken.
    #[error("the id of a new row is taken")]
    IdTaken,
    /// Another user can restore the e-mail address.
    #[error("another user can restore the e-mail address")]
    EmailTaken,
    /// Earlier commits still wait for a synchronous standby.
    #[error("commits wait for a synchronous standby that does not answer; nothing was applied")]
    StandbySilent,
    /// The deadline passed.
    #[error("the database did not answer in time")]
    Deadline,
}

impl From<DatabaseFailure> for Unavailable {
    fn from(failure: DatabaseFailure) -> Self {
        Self::new(failure)
    }
}

impl DatabaseFailure {
    /// Whether the connection may be reused: the server rejected rows or a serialization, or a row that was read is
    /// refused, and nothing else is wrong.
    ///
    /// Every other failure may concern the connection or its node, such as a prepared statement that no
    /// longer fits its table, a read-only node, a lost setting or a shutdown. Opening a new connection costs
    /// milliseconds.
    pub(crate) const fn keeps_connection(&self) -> bool {
        use DatabaseErrorKind::{
            CheckViolation, ExclusionViolation, ForeignKeyViolation, NotNullViolation, RestrictViolation,
            SerializationFailure, UniqueViolation,
        };
        matches!(
            self,
            Self::Query(
                QueryError::NotFound
                    | QueryError::DatabaseError(
                        CheckViolation
                            | ExclusionViolation
                            | ForeignKeyViolation
                            | NotNullViolation
                            | RestrictViolation
                            | SerializationFailure
                            | UniqueViolation,
                        _
                    )
            ) | Self::Corrupt(_)
                | Self::EmailTaken
        )
    }

    /// Whether the statement is worth retrying on another connection.
    pub(crate) const fn doubts_connection(&self) -> bool {
        self.lost_connection()
            || self.is_read_only()
            || matches!(
                self,
                Self::Node(_) | Self::Query(QueryError::DatabaseError(DatabaseErrorKind::Unknown, _))
            )
    }

    /// Whether the server or the network ended the connection: the server's termination message differs from
    /// other errors only in its text.
    pub(crate) fn ended_connection(&self) -> bool {
        let farewell = |message: &str| message.starts_with("terminating connection");
        self.lost_connection()
            || matches!(self, Self::Query(QueryError::DatabaseError(_, info)) if farewell(info.message()))
    }

    /// Whether the connection is unusable.
    pub(crate) const fn lost_connection(&self) -> bool {
        matches!(
            self,
            Self::Query(QueryError::DatabaseError(
                DatabaseErrorKind::UnableToSendCommand | DatabaseErrorKind::ClosedConnection,
                _
            )) | Self::Deadline
        )
    }

    /// Whether a write reached a read-only node.
    pub(crate) const fn is_read_only(&self) -> bool {
        matches!(
            self,
            Self::Query(QueryError::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, _))
                | Self::Node(Refusal::ReadOnly)
        )
    }
}
