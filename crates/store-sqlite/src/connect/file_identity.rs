//! The identity of the open database file: after it was deleted or replaced, commits would go to a file that
//! no path leads to.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use thiserror::Error;

/// The minimum time between two checks.
const EVERY: Duration = Duration::from_secs(1);

/// The path no longer leads to the open file.
#[derive(Debug, Error)]
pub(crate) enum FileLost {
    /// No file is there.
    #[error("the database file {0} is gone: {1}")]
    Gone(PathBuf, io::Error),
    /// Another file is there.
    #[error("the database file {0} was replaced while the server was running")]
    Replaced(PathBuf),
}

/// The device and inode of the open database file.
///
/// They are read from the path by `stat`. The file is never opened for this: closing a descriptor would release
/// all locks that SQLite holds on the file in this process.
#[derive(Debug)]
pub(crate) struct FileIdentity {
    path: PathBuf,
    device: u64,
    inode: u64,
    checked_at: Instant,
}

impl FileIdentity {
    /// The identity of the file at a path, just after it was opened.
    ///
    /// # Errors
    /// When the file cannot be found.
    pub(crate) fn of(path: &Path, now: Instant) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self { path: path.to_owned(), device: found.dev(), inode: found.ino(), checked_at: now })
    }

    /// Whether the path still leads to the open file; asks the file system at most once a second.
    ///
    /// # Errors
    /// [`FileLost`] if it does not; the next call asks again.
    pub(crate) fn ensure(&mut self, now: Instant) -> Result<(), FileLost> {
        if now.saturating_duration_since(self.checked_at) < EVERY { Ok(()) } else { self.ensure_now(now) }
    }

    /// Whether the path still leads to the open file; asks the file system.
    ///
    /// # Errors
    /// [`FileLost`] if it does not.
    pub(crate) fn ensure_now(&mut self, now: Instant) -> Result<(), FileLost> {
        let found = fs::metadata(&self.path).map_err(|error| FileLost::Gone(self.path.clone(), error))?;
        if (found.dev(), found.ino()) != (self.device, self.inode) {
            return Err(FileLost::Replaced(self.path.clone()));
        }
        self.checked_at = now;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestDirectory;

    #[test]
    fn a_deleted_or_replaced_file_is_noticed_within_a_second() {
        let directory = TestDirectory::create();
        let path = directory.path().join("a.db");
        fs::write(&path, "a").unwrap();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut identity = FileIdentity::of(&path, start).unwrap();
        identity.ensure(at(1)).unwrap();
        fs::write(&path, "changed").unwrap();
        identity.ensure(at(2)).unwrap();
        // The other file exists beside the first one, so that it cannot get the same inode.
        let other = directory.path().join("b.db");
        fs::write(&other, "b").unwrap();
        fs::rename(&other, &path).unwrap();
        identity.ensure(at(2) + Duration::from_millis(999)).unwrap();
        assert!(matches!(identity.ensure(at(3)), Err(FileLost::Replaced(_))));
        assert!(matches!(identity.ensure(at(3)), Err(FileLost::Replaced(_))), "it is asked again");
        fs::remove_file(&path).unwrap();
        assert!(matches!(identity.ensure(at(4)), Err(FileLost::Gone(..))));
    }
}
