//! The data directory, which one server uses at a time.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{self, Path, PathBuf};
use std::process;

use anyhow::{Context, bail, ensure};
use cuepoint_store_sql::crash_points::{self, StartStep};
use nix::unistd::{AccessFlags, access};
use thiserror::Error;

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
pub(crate) const FILE_MODE: u32 = 0o600;
/// The permissions of the group and of others.
pub(crate) const SHARED: u32 = 0o077;

/// Another process uses the data directory.
#[derive(Debug, Error)]
#[error("the data directory {} is in use by {holder}: stop that process first", directory.display())]
pub(crate) struct InUse {
    directory: PathBuf,
    /// The process, as far as it is known.
    holder: String,
}

/// A data directory that this process uses alone, until it is dropped.
#[derive(Debug)]
pub(crate) struct DataDirectory {
    path: PathBuf,
    _lock: LockFile,
}

/// A file that is locked until it is dropped.
#[derive(Debug)]
struct LockFile(File);

impl Drop for LockFile {
    /// Closing the file alone would not unlock it while a child process that was just forked still has it open.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
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
        crash_points::at_start(StartStep::DirectoryCreated);
        ensure_local(&path)?;
        let lock = lock(&path)?;
        crash_points::at_start(StartStep::Locked);
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
/// When there is none, or the directory cannot be read.
pub(crate) fn existing_database(directory: &Path) -> anyhow::Result<PathBuf> {
    let path = database_in(directory);
    match fs::metadata(&path) {
        Ok(found) if found.is_file() => return Ok(path),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error)
                .with_context(|| format!("the database file {} cannot be read", path.display()));
        }
        _ => {}
    }
    let directory = path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    bail!("the data directory {} has no database: check --data and storage.dir", directory.display())
}

/// Refuses database files that this process may not write to. SQLite would only read them, and would create files
/// with the same permissions beside them, which prevent later starts.
///
/// # Errors
/// When there is one, with its path.
pub(crate) fn ensure_writable(database: &Path) -> anyhow::Result<()> {
    let companions = COMPANIONS.iter().map(|ending| with_ending(database, ending));
    for path in [database.to_owned()].into_iter().chain(companions) {
        match access(&path, AccessFlags::W_OK) {
            Ok(()) | Err(nix::Error::ENOENT) => {}
            Err(error) => {
                bail!("the database file {} cannot be written to: {}", path.display(), error.desc())
            }
        }
    }
    Ok(())
}

/// Removes a file, if it exists.
///
/// # Errors
/// When it cannot be removed.
pub(crate) fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
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

/// Creates the directory with its parents, durably, and returns its absolute path.
fn create(path: &Path) -> anyhow::Result<PathBuf> {
    let path = path::absolute(path)?;
    ensure!(path.is_dir() || !path.exists(), "it is not a directory");
    let changed = changed_by_creation(&path);
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(&path)?;
    for folder in changed {
        File::open(&folder)
            .and_then(|folder| folder.sync_all())
            .with_context(|| format!("the directory {} cannot be synced", folder.display()))?;
    }
    let path = fs::canonicalize(path)?;
    let found = fs::metadata(&path)?;
    if found.mode() & SHARED != 0 {
        tracing::warn!(directory = %path.display(), "other users of this machine may access the data directory");
    }
    Ok(path)
}

/// The directories that get an entry when the directory at a path is created, the innermost first.
fn changed_by_creation(path: &Path) -> Vec<PathBuf> {
    let missing = path.ancestors().take_while(|ancestor| !ancestor.exists());
    missing.filter_map(Path::parent).map(Path::to_owned).collect()
}

/// Refuses a database file that another path leads to as well: neither the lock nor the write-ahead log, which is
/// found by the name of the file, would be shared with the users of that path.
pub(crate) fn ensure_not_linked(database: &Path) -> anyhow::Result<()> {
    let found = match fs::symlink_metadata(database) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.with_context(|| format!("the database file {} cannot be used", database.display()))?,
    };
    ensure!(
        !found.is_symlink(),
        "the database file {} is a symbolic link: use the directory of its target",
        database.display()
    );
    ensure!(
        !found.is_file() || found.nlink() == 1,
        "the database file {} has a second name (a hard link): copy the file, and remove one of the names",
        database.display()
    );
    Ok(())
}

fn lock(directory: &Path) -> anyhow::Result<LockFile> {
    let path = directory.join(LOCK);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(FILE_MODE);
    let file = options.open(&path).with_context(|| unusable(&path))?;
    take(file, directory, &path)
}

/// Locks the open lock file of a directory, provided that its path still leads to it, and writes the id of this
/// process into it.
fn take(mut file: File, directory: &Path, path: &Path) -> anyhow::Result<LockFile> {
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder =
                holder(&mut file).map_or_else(|| "another process".to_owned(), |pid| format!("pid {pid}"));
            return Err(InUse { directory: directory.to_owned(), holder }.into());
        }
        Err(TryLockError::Error(error)) => return Err(error).with_context(|| unusable(path)),
    }
    let mut lock = LockFile(file);
    let (locked, named) = (lock.0.metadata()?, fs::metadata(path).with_context(|| unusable(path))?);
    ensure!(
        (locked.dev(), locked.ino()) == (named.dev(), named.ino()),
        "the lock file {} was replaced while it was locked: run the command again",
        path.display()
    );
    write_pid(&mut lock.0).with_context(|| unusable(path))?;
    Ok(lock)
}

fn unusable(path: &Path) -> String {
    format!("the lock file {} cannot be used", path.display())
}

/// Replaces the content of the lock file with the id of this process. On a full disk, the space of the former
/// content is used.
fn write_pid(file: &mut File) -> io::Result<()> {
    let line = format!("{}\n", process::id());
    file.rewind()?;
    file.write_all(line.as_bytes())?;
    file.set_len(u64::try_from(line.len()).map_err(io::Error::other)?)
}

/// The process that the lock file names; it may not have written its id yet.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    // A longer id may still follow, because the new one is written over it.
    text.lines().next()?.parse().ok()
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
    fn new_directories_are_private_to_their_owner() {
        let parent = TestDirectory::create();
        let opened = DataDirectory::open(&parent.path().join("new/data")).unwrap();
        assert!(opened.path().is_absolute());
        assert_eq!(mode(opened.path()), 0o700);
        assert_eq!(mode(&opened.path().join("lock")), 0o600);
        assert_eq!(opened.database(), opened.path().join("cuepoint.db"));
    }

    #[test]
    fn a_hard_linked_or_symlinked_database_is_refused() {
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
        let expected = format!("is in use by pid {}: stop that process first", process::id());
        assert!(message.ends_with(&expected), "{message}");
        drop(first);
        DataDirectory::open(directory.path()).unwrap();
    }

    #[test]
    fn a_lock_on_a_replaced_lock_file_is_refused() {
        let directory = TestDirectory::create();
        let path = directory.path().join("lock");
        let opened = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let first = opened().unwrap();
        // It exists beside the first one, so that it cannot get the same inode.
        fs::rename(&path, directory.path().join("away")).unwrap();
        let second = opened().unwrap();
        let message = take(first, directory.path(), &path).unwrap_err().to_string();
        assert!(message.contains("was replaced while it was locked"), "{message}");
        take(second, directory.path(), &path).unwrap();
    }

    #[test]
    fn the_directories_to_sync_are_the_parents_of_new_directories() {
        let folder = TestDirectory::create();
        let path = folder.path().join("new/data");
        assert_eq!(changed_by_creation(&path), [folder.path().join("new"), folder.path().to_owned()]);
        DataDirectory::open(&path).unwrap();
        assert_eq!(changed_by_creation(&path), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_leftover_lock_file_does_not_prevent_a_start() {
        let directory = TestDirectory::create();
        fs::write(directory.path().join("lock"), "4294967295\n").unwrap();
        let opened = DataDirectory::open(directory.path()).unwrap();
        let text = fs::read_to_string(opened.path().join("lock")).unwrap();
        assert_eq!(text, format!("{}\n", process::id()));
    }

    #[test]
    fn a_file_is_refused_as_a_data_directory() {
        let directory = TestDirectory::create();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let error = DataDirectory::open(&file).unwrap_err().to_string();
        assert!(error.contains("cannot be used"), "{error}");
    }
}
