//! The data directory, which one server uses at a time.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, bail, ensure};

use super::file_system::ensure_local;

/// The database file in the directory; SQLite keeps its log and index beside it.
pub(crate) const DATABASE: &str = "cuepoint.db";
/// The endings of the files that SQLite keeps beside a database.
pub(crate) const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];
/// The endings of the name of a restored database before a server may use it: while it is prepared, and if
/// its ledger is inconsistent.
pub(crate) const RESTORING: &str = ".restoring";
pub(crate) const INCONSISTENT: &str = ".inconsistent";
/// The lock file in the directory, which holds the id of the process that uses it.
const LOCK: &str = "lock";
/// The permissions of the directory and of its files: the owner's alone.
const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// The permissions of the group and of others.
const SHARED: u32 = 0o077;

/// A data directory that this process uses alone, until it is dropped.
#[derive(Debug)]
pub(crate) struct DataDirectory {
    path: PathBuf,
    /// Held for its lock.
    _lock: File,
}

impl DataDirectory {
    /// Creates the directory if it is missing, and locks it.
    ///
    /// # Errors
    /// When another process uses it, it is on a network file system, it cannot be written to, or its database is
    /// a link.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let path =
            create(path).with_context(|| format!("the data directory {} cannot be used", path.display()))?;
        ensure_local(&path)?;
        let lock = lock(&path)?;
        ensure_not_linked(&database_in(&path))?;
        Ok(Self { path, _lock: lock })
    }

    /// The absolute path of the directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the database file.
    pub(crate) fn database(&self) -> PathBuf {
        database_in(&self.path)
    }

    /// Refuses a directory without a database in which a restore ended early, because a server would begin an
    /// empty one there.
    ///
    /// # Errors
    /// When it is one.
    pub(crate) fn ensure_restored(&self) -> anyhow::Result<()> {
        if self.database().exists() {
            return Ok(());
        }
        let restoring = with_ending(&self.database(), RESTORING);
        ensure!(
            !restoring.exists(),
            "a restore into the data directory {} was interrupted: run `cuepoint restore` again, or delete {}",
            self.path.display(),
            restoring.display()
        );
        let inconsistent = with_ending(&self.database(), INCONSISTENT);
        ensure!(
            !inconsistent.exists(),
            "the data directory {} has no database but {}, which was restored with an inconsistent ledger: restore \
             another backup",
            self.path.display(),
            inconsistent.display()
        );
        Ok(())
    }
}

/// The path of the database file in a data directory that this process does not use alone.
///
/// # Errors
/// When there is none.
pub(crate) fn existing_database(directory: &Path) -> anyhow::Result<PathBuf> {
    let path = database_in(directory);
    ensure!(path.is_file(), "the data directory {} has no database", directory.display());
    Ok(path)
}

/// A path whose name is followed by an ending.
pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.to_owned().into_os_string();
    path.push(ending);
    path.into()
}

/// The path of the write-ahead log of the database file at a path.
pub(crate) fn log_path(database: &Path) -> PathBuf {
    with_ending(database, "-wal")
}

/// The path of the database file in a data directory.
pub(crate) fn database_in(directory: &Path) -> PathBuf {
    directory.join(DATABASE)
}

/// Creates the directory with its parents, and returns its absolute path.
fn create(path: &Path) -> anyhow::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path)?;
    let path = fs::canonicalize(path)?;
    let found = fs::metadata(&path)?;
    ensure!(found.is_dir(), "it is not a directory");
    if found.mode() & SHARED != 0 {
        tracing::warn!(directory = %path.display(), "other users of this machine may access the data directory");
    }
    Ok(path)
}

/// Refuses a database file that another path leads to as well: neither the lock nor the write-ahead log, which is
/// found by the name of the file, would be shared with the users of that path.
fn ensure_not_linked(database: &Path) -> anyhow::Result<()> {
    let found = match fs::symlink_metadata(database) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.with_context(|| format!("the database file {} cannot be used", database.display()))?,
    };
    ensure!(
        !found.is_symlink(),
        "the database file {} is a symbolic link: use the data directory that it leads to",
        database.display()
    );
    ensure!(
        !found.is_file() || found.nlink() == 1,
        "the database file {} has another name (a hard link), under which it could be changed: copy it, and remove \
         one of the two",
        database.display()
    );
    Ok(())
}

fn lock(directory: &Path) -> anyhow::Result<File> {
    let path = directory.join(LOCK);
    let unusable = || format!("the lock file {} cannot be used", path.display());
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(FILE_MODE);
    let mut file = options.open(&path).with_context(unusable)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder =
                holder(&mut file).map_or_else(|| "another process".to_owned(), |pid| format!("pid {pid}"));
            bail!("the data directory {} is in use by {holder}", directory.display());
        }
        Err(TryLockError::Error(error)) => return Err(error).with_context(unusable),
    }
    write_pid(&mut file).with_context(unusable)?;
    Ok(file)
}

/// Replaces the content of the lock file with the id of this process.
fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", process::id())
}

/// The process that the lock file names; it may not have written its id yet.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::testing::TestDirectory;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_directory_is_created_for_its_owner_alone() {
        let parent = TestDirectory::create();
        let opened = DataDirectory::open(&parent.path().join("new/data")).unwrap();
        assert!(opened.path().is_absolute());
        assert_eq!(mode(opened.path()), 0o700);
        assert_eq!(mode(&opened.path().join("lock")), 0o600);
        assert_eq!(opened.database(), opened.path().join("cuepoint.db"));
    }

    #[test]
    fn a_linked_database_is_refused() {
        let (own, other) = (TestDirectory::create(), TestDirectory::create());
        let (database, link) = (database_in(own.path()), database_in(other.path()));
        fs::write(&database, "").unwrap();
        let refusal = |of: &TestDirectory| DataDirectory::open(of.path()).unwrap_err().to_string();
        fs::hard_link(&database, &link).unwrap();
        for directory in [&own, &other] {
            let message = refusal(directory);
            assert!(message.contains("hard link"), "{message}");
        }
        fs::remove_file(&link).unwrap();
        DataDirectory::open(own.path()).unwrap();
        // A dangling link counts: SQLite would create the file that it leads to.
        for target in [database, own.path().join("absent")] {
            std::os::unix::fs::symlink(target, &link).unwrap();
            let message = refusal(&other);
            assert!(message.contains("symbolic link"), "{message}");
            fs::remove_file(&link).unwrap();
        }
        DataDirectory::open(other.path()).unwrap();
    }

    #[test]
    fn a_second_server_is_refused_with_the_pid_of_the_first() {
        let directory = TestDirectory::create();
        let first = DataDirectory::open(directory.path()).unwrap();
        let message = DataDirectory::open(directory.path()).unwrap_err().to_string();
        assert!(message.ends_with(&format!("is in use by pid {}", process::id())), "{message}");
        drop(first);
        DataDirectory::open(directory.path()).unwrap();
    }

    #[test]
    fn a_leftover_lock_file_locks_nothing() {
        let directory = TestDirectory::create();
        fs::write(directory.path().join("lock"), "4294967295\n").unwrap();
        let opened = DataDirectory::open(directory.path()).unwrap();
        let text = fs::read_to_string(opened.path().join("lock")).unwrap();
        assert_eq!(text, format!("{}\n", process::id()));
    }

    #[test]
    fn a_file_is_no_data_directory() {
        let directory = TestDirectory::create();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let error = DataDirectory::open(&file).unwrap_err().to_string();
        assert!(error.contains("cannot be used"), "{error}");
    }
}
