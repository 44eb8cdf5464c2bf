//! The time of the last backup, in a file of the data directory, for monitoring.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, ensure};
use cuepoint_domain::timestamp::Timestamp;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::data_directory::remove_if_present;
use super::part;

/// The file. It holds one line, the time in RFC 3339.
const LAST_BACKUP: &str = "last-backup";

/// The longest file with a time, in bytes.
const LONGEST: u64 = 64;

/// Records a backup that shows the data of this time.
///
/// # Errors
/// When the file cannot be written; the earlier one stays.
pub(crate) fn record(directory: &Path, at: Timestamp) -> anyhow::Result<()> {
    let path = directory.join(LAST_BACKUP);
    let line = at.to_utc().format(&Rfc3339).context("the time has no text")?;
    let beside = part::part_of(&path);
    // Two backups may end at once.
    let file = part::create(&beside)?;
    let written = write(&file, &line).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    written.with_context(|| format!("{} cannot be written", path.display()))
}

fn write(mut file: &File, line: &str) -> io::Result<()> {
    writeln!(file, "{line}")?;
    file.sync_all()
}

/// Forgets the last backup, because the data are other ones now.
///
/// # Errors
/// When the file cannot be removed.
pub(crate) fn forget(directory: &Path) -> io::Result<()> {
    remove_if_present(&directory.join(LAST_BACKUP))
}

/// Reads the time of the last backup; `None` if there was none.
///
/// # Errors
/// When the file cannot be read, or contains something else.
pub(crate) fn read(directory: &Path) -> anyhow::Result<Option<Timestamp>> {
    let path = directory.join(LAST_BACKUP);
    let unreadable = || format!("{} cannot be read", path.display());
    let found = match fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found.with_context(unreadable)?,
    };
    // Anything else is not read: a pipe would never end.
    ensure!(found.is_file() && found.len() <= LONGEST, "{} contains no time", path.display());
    let text = fs::read_to_string(&path).with_context(unreadable)?;
    let at = OffsetDateTime::parse(text.trim(), &Rfc3339);
    Ok(Some(Timestamp::new(at.with_context(|| format!("{} contains no time", path.display()))?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestDirectory;

    #[test]
    fn the_time_of_the_last_backup_is_read_back_and_replaced() {
        let directory = TestDirectory::create();
        assert_eq!(read(directory.path()).unwrap(), None);
        for seconds in [1_700_000_000, 1_800_000_000] {
            let at = Timestamp::from_unix_micros(seconds * 1_000_000);
            record(directory.path(), at).unwrap();
            assert_eq!(read(directory.path()).unwrap(), Some(at));
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        // A link at the temporary name is replaced, and its target stays as it is.
        let victim = directory.path().join("victim");
        fs::write(&victim, "kept").unwrap();
        let beside = part::part_of(&directory.path().join(LAST_BACKUP));
        std::os::unix::fs::symlink(&victim, &beside).unwrap();
        record(directory.path(), Timestamp::EPOCH).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "kept");
        fs::write(&beside, "of a killed backup").unwrap();
        record(directory.path(), Timestamp::EPOCH).unwrap();
        assert!(!beside.exists());
        assert_eq!(read(directory.path()).unwrap(), Some(Timestamp::EPOCH));
        forget(directory.path()).unwrap();
        assert_eq!(read(directory.path()).unwrap(), None);
        fs::write(directory.path().join(LAST_BACKUP), "yesterday").unwrap();
        assert!(read(directory.path()).unwrap_err().to_string().contains("contains no time"));
    }
}
