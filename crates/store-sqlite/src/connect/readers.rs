//! Connections that read.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cuepoint_domain::ports::Unavailable;
use diesel::{Connection, SqliteConnection};

use super::connection::{Access, open};
use super::failure::SqliteFailure;
use super::file_identity::FileIdentity;

/// Idle connections that read. A read takes one, or opens one if none is idle: there are at most as many as
/// threads that read at once, since a read never waits.
pub(crate) struct Readers {
    path: PathBuf,
    /// The identity of the file since the start.
    identity: Mutex<FileIdentity>,
    /// `None` once closed.
    idle: Mutex<Option<Vec<SqliteConnection>>>,
}

impl Readers {
    /// Readers of the open database at a path.
    ///
    /// # Errors
    /// When the file cannot be found.
    pub(crate) fn of(path: PathBuf) -> io::Result<Self> {
        let identity = Mutex::new(FileIdentity::of(&path, Instant::now())?);
        Ok(Self { path, identity, idle: Mutex::new(Some(Vec::new())) })
    }

    /// Reads from one snapshot, on this thread. Every commit that was answered before is visible.
    ///
    /// # Errors
    /// [`Unavailable`] when a statement fails or a row is invalid.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, SqliteFailure>,
    ) -> Result<T, Unavailable> {
        let mut connection = self.take()?;
        let done = connection.transaction(work);
        if done.as_ref().err().is_none_or(SqliteFailure::blames_one)
            && let Some(idle) = self.idle.lock().unwrap_or_else(PoisonError::into_inner).as_mut()
        {
            idle.push(connection);
        }
        Ok(done?)
    }

    /// Reads from one snapshot on a new connection, which is closed afterwards; for long work.
    ///
    /// # Errors
    /// [`Unavailable`] when a statement fails or a row is invalid.
    pub(crate) fn read_apart<T>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, SqliteFailure>,
    ) -> Result<T, Unavailable> {
        let mut connection = self.open()?;
        Ok(connection.transaction(work)?)
    }

    fn take(&self) -> Result<SqliteConnection, SqliteFailure> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        match idle.as_mut().ok_or(SqliteFailure::Closed)?.pop() {
            Some(connection) => Ok(connection),
            None => {
                drop(idle);
                self.open()
            }
        }
    }

    /// Opens a connection, provided that it leads to the same file.
    fn open(&self) -> Result<SqliteConnection, SqliteFailure> {
        let connection = open(&self.path, Access::Reader)?;
        self.identity.lock().unwrap_or_else(PoisonError::into_inner).ensure_now(Instant::now())?;
        Ok(connection)
    }

    /// Closes all connections; later reads fail.
    pub(crate) fn close(&self) {
        drop(self.idle.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
