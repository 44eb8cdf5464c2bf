//! The data directories of the measured SQLite store.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rusqlite::{Connection, OpenFlags};

/// The name of the database in a data directory.
const DATABASE: &str = "cuepoint.db";

/// A data directory that no server uses while it is copied or removed.
#[derive(Clone, Debug)]
pub(crate) struct DataDirectory(PathBuf);

impl DataDirectory {
    /// The data directory at a path, which need not exist.
    pub(crate) const fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Copies its database into a new directory, and writes the copy to disk, so that these writes do not
    /// count against the measurement.
    pub(crate) fn copy_to(&self, path: PathBuf) -> anyhow::Result<Self> {
        let copy = Self(path);
        copy.remove()?;
        DirBuilder::new().mode(0o700).create(&copy.0).context("a data directory cannot be created")?;
        fs::copy(self.database(), copy.database()).context("a database cannot be copied")?;
        File::open(copy.database())?.sync_all()?;
        Ok(copy)
    }

    /// Removes the directory if it exists.
    pub(crate) fn remove(&self) -> anyhow::Result<()> {
        if self.0.exists() {
            fs::remove_dir_all(&self.0).with_context(|| format!("{} cannot be removed", self.0.display()))?;
        }
        Ok(())
    }

    /// Opens its database for writing with the settings of the store, and checkpoints from 16 MiB by the thread that
    /// writes.
    pub(crate) fn writer(&self) -> anyhow::Result<Connection> {
        let connection = Connection::open_with_flags(self.database(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.execute_batch(
            "PRAGMA busy_timeout = 1000; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
             PRAGMA wal_autocheckpoint = 4096; PRAGMA cache_size = -8192; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY",
        )?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(connection)
    }

    /// Returns the single number that a query yields, while a server may use the database.
    pub(crate) fn number(&self, query: &str) -> anyhow::Result<i64> {
        let connection = Connection::open_with_flags(self.database(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.execute_batch("PRAGMA busy_timeout = 1000; PRAGMA query_only = ON")?;
        connection.query_row(query, [], |row| row.get(0)).with_context(|| query.to_owned())
    }

    fn database(&self) -> PathBuf {
        self.0.join(DATABASE)
    }
}
