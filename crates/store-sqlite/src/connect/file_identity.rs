//! The identity of the open database file and of its write-ahead log: after one was deleted or replaced,
//! commits would go to a file that no path leads to.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::data_directory::log_path;

/// The minimum time between two checks.
const EVERY: Duration = Duration::from_secs(1);

/// A path no longer leads to the open file.
#[derive(Debug, Error)]
pub(crate) enum FileLost {
    #[error("the database file {0} is gone: {1}")]
    Gone(PathBuf, io::Error),
    /// Another file is there.
    #[error("the database file {0} was replaced while the server was running")]
    Replaced(PathBuf),
}

/// The device and inode of an open file.
///
/// They are read from the path by `stat`. The file is never opened for this: closing a descriptor would
/// release all locks that SQLite holds on the file in this process.
#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl OpenFile {
    fn of(path: PathBuf) -> io::Result<Self> {
        let found = fs::metadata(&path)?;
        Ok(Self { path, device: found.dev(), inode: found.ino() })
    }

    fn ensure(&self) -> Result<(), FileLost> {
        let found = fs::metadata(&self.path).map_err(|error| FileLost::Gone(self.path.clone(), error))?;
        if (found.dev(), found.ino()) == (self.device, self.inode) {
            Ok(())
        } else {
            Err(FileLost::Replaced(self.path.clone()))
        }
    }
}

/// The identity of the open database.
#[derive(Debug)]
pub(crate) struct FileIdentity {
    database: OpenFile,
    /// SQLite deletes it with the last connection.
    log: Option<OpenFile>,
    checked_at: Instant,
}

impl FileIdentity {
    /// The identity of the database file at a path, just after it was opened.
    ///
    /// # Errors
    /// When the file cannot be found.
    pub(crate) fn of(path: &Path, now: Instant) -> io::Result<Self> {
        Ok(Self { database: OpenFile::of(path.to_owned())?, log: None, checked_at: now })
    }

    /// The identity of the database file at a path and of its log, while a connection is open.
    ///
    /// # Errors
    /// When one of the files cannot be found.
    pub(crate) fn with_log(path: &Path, now: Instant) -> io::Result<Self> {
        Ok(Self { log: Some(OpenFile::of(log_path(path))?), ..Self::of(path, now)? })
    }

    /// Whether the paths still lead to the open files; asks the file system at most once a second.
    ///
    /// # Errors
    /// [`FileLost`] if one does not; the next call asks again.
    pub(crate) fn ensure(&mut self, now: Instant) -> Result<(), FileLost> {
        if now.saturating_duration_since(self.checked_at) < EVERY { Ok(()) } else { self.ensure_now(now) }
    }

    /// Whether the paths still lead to the open files; asks the file system.
    ///
    /// # Errors
    /// [`FileLost`] if one does not.
    pub(crate) fn ensure_now(&mut self, now: Instant) -> Result<(), FileLost> {
        self.ensure_database()?;
        self.log.as_ref().map_or(Ok(()), OpenFile::ensure)?;
        self.checked_at = now;
        Ok(())
    }

    /// Whether the path of the database itself still leads to the open file; asks the file system.
    ///
    /// # Errors
    /// [`FileLost`] if it does not.
    pub(crate) fn ensure_database(&self) -> Result<(), FileLost> {
        self.database.ensure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestDirectory;

    #[test]
    fn a_deleted_or_replaced_file_is_noticed_within_a_second() {
        for name in ["a.db", "a.db-wal"] {
            let directory = TestDirectory::create();
            let database = directory.path().join("a.db");
            fs::write(&database, "a").unwrap();
            fs::write(directory.path().join("a.db-wal"), "a").unwrap();
            let path = directory.path().join(name);
            let start = Instant::now();
            let at = |seconds| start + Duration::from_secs(seconds);
            let mut identity = FileIdentity::with_log(&database, start).unwrap();
            identity.ensure(at(1)).unwrap();
            fs::write(&path, "changed").unwrap();
            identity.ensure(at(2)).unwrap();
            // The other file exists beside the first one, so that it cannot get the same inode.
            let (other, moved) = (directory.path().join("b.db"), directory.path().join("c.db"));
            fs::write(&other, "b").unwrap();
            fs::rename(&path, &moved).unwrap();
            fs::rename(&other, &path).unwrap();
            identity.ensure(at(2) + Duration::from_millis(999)).unwrap();
            assert!(matches!(identity.ensure(at(3)), Err(FileLost::Replaced(_))));
            assert!(matches!(identity.ensure(at(3)), Err(FileLost::Replaced(_))), "it is asked again");
            assert_eq!(identity.ensure_database().is_ok(), name == "a.db-wal");
            fs::remove_file(&path).unwrap();
            assert!(matches!(identity.ensure(at(4)), Err(FileLost::Gone(..))));
            fs::rename(&moved, &path).unwrap();
            identity.ensure(at(4)).unwrap();
        }
    }
}
