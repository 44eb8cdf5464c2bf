//! The writer's connection.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;

use super::checkpoint_schedule::Checkpoints;
use crate::connect::connection::{Access, open};
use crate::connect::data_directory::log_path;
use crate::connect::failure::SqliteFailure;
use crate::connect::file_identity::FileIdentity;
use crate::connect::snapshots::Snapshots;
use crate::telemetry;

/// The only connection of the server that writes.
pub(super) struct WriterConnection {
    path: PathBuf,
    log: PathBuf,
    /// The identity of the files since the start.
    identity: FileIdentity,
    /// It stays open after a failure until another one is open, so that SQLite neither deletes the log nor
    /// recovers from it: a recovery could find a commit that was never synced.
    connection: SqliteConnection,
    is_broken: bool,
    /// Whether the content of a lost log was copied into the database.
    is_saved: bool,
    checkpoints: Checkpoints,
}

impl WriterConnection {
    /// Opens the connection.
    ///
    /// # Errors
    /// When the database cannot be opened.
    pub(super) fn open(path: &Path, snapshots: Arc<Snapshots>) -> anyhow::Result<Self> {
        let connection = open(path, Access::Writer)?;
        let identity = FileIdentity::with_log(path, Instant::now())?;
        let checkpoints = Checkpoints::start(path, snapshots)?;
        let (path, log) = (path.to_owned(), log_path(path));
        Ok(Self { path, log, identity, connection, is_broken: false, is_saved: false, checkpoints })
    }

    /// Returns the connection and the identity of its files; after a failure a new one, provided that it
    /// leads to the same files.
    ///
    /// # Errors
    /// When it cannot be opened, or a file was deleted or replaced.
    pub(super) fn usable(&mut self) -> Result<(&mut SqliteConnection, &mut FileIdentity), SqliteFailure> {
        if self.is_broken {
            if let Err(lost) = self.identity.ensure_now(Instant::now()) {
                self.save_lost_log();
                return Err(lost.into());
            }
            let connection = open(&self.path, Access::Writer)?;
            self.identity.ensure_now(Instant::now())?;
            self.connection = connection;
            self.is_broken = false;
            self.is_saved = false;
            // On a full disk, a copied log can be overwritten.
            if let Err(error) = self.checkpoints.copy_now(&mut self.connection) {
                tracing::warn!(%error, "a checkpoint failed");
            }
        }
        Ok((&mut self.connection, &mut self.identity))
    }

    /// Ends the transaction after a failure; the next use opens another connection.
    pub(super) fn discard(&mut self, failure: &SqliteFailure) {
        // SQLite may have ended it already.
        let _ = self.connection.batch_execute("ROLLBACK");
        self.is_broken = true;
        if matches!(failure, SqliteFailure::FileLost(_)) {
            self.save_lost_log();
        }
    }

    /// If the log is gone but the database is there: copies the commits that are only in the log, once.
    fn save_lost_log(&mut self) {
        if self.is_saved || self.identity.ensure_database().is_err() {
            return;
        }
        match self.checkpoints.copy_now(&mut self.connection) {
            Ok(log) => {
                self.is_saved = log.is_copied();
                if self.is_saved {
                    tracing::warn!("the content of the lost write-ahead log was copied into the database");
                } else {
                    tracing::error!(
                        "a read prevents the copy of the lost write-ahead log; it is tried again"
                    );
                }
            }
            Err(error) => {
                tracing::error!(%error, "the content of the lost write-ahead log cannot be copied");
            }
        }
    }

    /// Starts a copy of the log into the database if it has grown; for the time between two groups.
    pub(super) fn after_group(&mut self) {
        self.maintain(|checkpoints, connection| checkpoints.after_group(connection));
    }

    /// Whether [`WriterConnection::idle`] has work.
    pub(super) const fn is_idle_work_due(&self) -> bool {
        !self.is_broken && self.checkpoints.is_due()
    }

    /// Empties the log while no changes arrive.
    pub(super) fn idle(&mut self) {
        self.maintain(|checkpoints, connection| checkpoints.idle(connection));
    }

    fn maintain(
        &mut self,
        work: impl FnOnce(&mut Checkpoints, &mut SqliteConnection) -> diesel::QueryResult<()>,
    ) {
        if self.is_broken {
            return;
        }
        if let Err(error) = work(&mut self.checkpoints, &mut self.connection) {
            tracing::warn!(%error, "a checkpoint failed");
        }
        telemetry::wal_size(&self.log);
    }

    /// Copies and empties the log, and closes the connection.
    pub(super) fn close(mut self) {
        if self.identity.ensure_database().is_ok() {
            match self.checkpoints.finish(&mut self.connection) {
                Ok(log) if log.is_copied() => {}
                Ok(_) => tracing::warn!("a read prevented the last checkpoint; the next start repeats it"),
                Err(error) => {
                    tracing::warn!(%error, "the last checkpoint failed; the next start repeats it");
                }
            }
        }
        telemetry::wal_size(&self.log);
    }
}
