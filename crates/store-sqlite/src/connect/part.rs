//! Parts: files that are being written, under a temporary name. A lock on the part tells whether its writer is alive. The
//! id of a process would not, because in containers every process has the same id.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::data_directory::{COMPANIONS, FILE_MODE, remove_if_present, with_ending};

/// The ending of the name of a part.
const PART: &str = ".partial";

/// The number of attempts to create a part, because another process may remove it as abandoned before it is locked.
const ATTEMPTS: usize = 10;

/// The path of the part of a file.
pub(crate) fn part_of(file: &Path) -> PathBuf {
    with_ending(file, PART)
}

/// Creates an empty part, and replaces an abandoned one. The part is locked as long as the returned file is open.
///
/// # Errors
/// When another process writes the part, or it cannot be created.
pub(crate) fn create(path: &Path) -> anyhow::Result<File> {
    let refused = || format!("{} cannot be created", path.display());
    for _ in 0..ATTEMPTS {
        match OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path) {
            Ok(file) => {
                // Any other error comes from a file system without locks, where no other writer can be detected.
                let is_other = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
                if !is_other && is_at(&file, path) {
                    return Ok(file);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !remove_abandoned(path).with_context(refused)? {
                    bail!("{} exists, and another process writes it", path.display());
                }
            }
            Err(error) => return Err(error).with_context(refused),
        }
    }
    bail!("{} is removed again and again", path.display())
}

/// Removes the abandoned parts of a file, and of files in the same folder with names that differ only in digits. A
/// repetition of a killed backup is named after another time.
///
/// # Errors
/// When the folder cannot be read, or a part cannot be removed.
pub(crate) fn remove_abandoned_beside(file: &Path) -> io::Result<()> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return Ok(());
    };
    for entry in fs::read_dir(folder)? {
        let other = entry?.file_name();
        let of = other.to_str().and_then(|other| other.strip_suffix(PART));
        if of.is_some_and(|of| form_of(of) == form_of(name)) {
            remove_abandoned(&folder.join(other))?;
        }
    }
    Ok(())
}

/// A name with each digit as a zero.
fn form_of(name: &str) -> String {
    name.chars().map(|character| if character.is_ascii_digit() { '0' } else { character }).collect()
}

/// Removes a part that no process has locked, with the files of SQLite beside it, or a link at its path. Returns whether
/// the path is free now.
fn remove_abandoned(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
        Ok(found) if found.is_symlink() => return remove_if_present(path).map(|()| true),
        Ok(found) if !found.is_file() => return Ok(false),
        Ok(_) => {}
    }
    // Locks of some file systems need a file that is open for writing.
    let file = match OpenOptions::new().write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        opened => opened?,
    };
    // Under the lock, no other process replaces a file that is still at the path.
    if file.try_lock().is_err() || !is_at(&file, path) {
        return Ok(false);
    }
    remove_with_companions(path)?;
    Ok(true)
}

/// Removes a file that no server uses, if it exists, with the files of SQLite beside it.
pub(crate) fn remove_with_companions(path: &Path) -> io::Result<()> {
    let companions = COMPANIONS.iter().map(|ending| with_ending(path, ending));
    companions.chain([path.to_owned()]).try_for_each(|file| remove_if_present(&file))
}

/// Whether a path leads to this open file.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    let open = file.metadata().map(identity).ok();
    open.is_some() && open == fs::symlink_metadata(path).map(identity).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestDirectory;

    #[test]
    fn parts_without_a_writer_are_removed_and_others_stay() {
        let directory = TestDirectory::create();
        let path = |name: &str| directory.path().join(name);
        let living = create(&path("2026-11-22T040000.db.partial")).unwrap();
        let others = ["2026-11-21.db.partial", "notes.partial", "2026-11-21T040000.db", "x.db.partial"];
        for name in others.iter().chain(&["2026-11-21T040000.db.partial", "2026-11-21T040000.db.partial-wal"])
        {
            fs::write(path(name), "").unwrap();
        }
        fs::create_dir(path("2026-11-20T040000.db.partial")).unwrap();
        remove_abandoned_beside(&path("2026-11-23T040000.db")).unwrap();
        let mut left: Vec<String> = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut expected =
            [&others[..], &["2026-11-20T040000.db.partial", "2026-11-22T040000.db.partial"]].concat();
        expected.sort_unstable();
        assert_eq!(left, expected);
        drop(living);
    }

    #[test]
    fn a_file_has_one_writer_and_the_next_one_replaces_it() {
        let directory = TestDirectory::create();
        let path = directory.path().join("backup.db.partial");
        let first = create(&path).unwrap();
        let refused = create(&path).unwrap_err().to_string();
        assert!(refused.ends_with("another process writes it"), "{refused}");
        drop(first);
        // Its writer was killed.
        create(&path).unwrap();
    }
}
