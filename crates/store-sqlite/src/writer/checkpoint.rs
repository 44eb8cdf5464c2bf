//! The statements of a checkpoint, which copies the write-ahead log into the database.

use diesel::prelude::*;
use diesel::sql_types::BigInt;

/// The state of the log after a checkpoint.
#[derive(QueryableByName, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Log {
    /// 1 if another connection prevented a part of the checkpoint.
    #[diesel(sql_type = BigInt)]
    pub(super) busy: i64,
    /// The number of pages in the log.
    #[diesel(sql_type = BigInt)]
    pub(super) log: i64,
    /// The number of them that are copied.
    #[diesel(sql_type = BigInt)]
    checkpointed: i64,
}

impl Log {
    /// Whether all of it is copied.
    pub(super) const fn is_copied(self) -> bool {
        self.busy == 0 && self.remaining() == 0
    }

    /// The number of pages that are not copied.
    pub(super) const fn remaining(self) -> i64 {
        self.log.saturating_sub(self.checkpointed)
    }
}

/// How far a checkpoint goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// Only reads the state of the log.
    Noop,
    /// Copies what no reader prevents.
    Passive,
    /// Copies all, so that the next commit overwrites the log from its beginning.
    Restart,
    /// Copies all, and empties the log.
    Truncate,
}

/// Runs a checkpoint.
pub(super) fn checkpoint(connection: &mut SqliteConnection, mode: Mode) -> QueryResult<Log> {
    let statement = match mode {
        Mode::Noop => "PRAGMA wal_checkpoint(NOOP)",
        Mode::Passive => "PRAGMA wal_checkpoint(PASSIVE)",
        Mode::Restart => "PRAGMA wal_checkpoint(RESTART)",
        Mode::Truncate => "PRAGMA wal_checkpoint(TRUNCATE)",
    };
    diesel::sql_query(statement).get_result(connection)
}

/// Copies as much of the log as readers permit.
pub(super) fn copy(connection: &mut SqliteConnection) -> QueryResult<Log> {
    checkpoint(connection, Mode::Passive)
}

/// Copies and empties the log, unless a reader uses it for longer than the connection's timeout.
pub(super) fn empty(connection: &mut SqliteConnection) -> QueryResult<Log> {
    checkpoint(connection, Mode::Truncate)
}
