//! The evidence that a data directory was in use. If its database is missing, a server must not begin an empty ledger
//! there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, anyhow};
use cuepoint_store_sql::crash_points::{self, StartStep};
use diesel::SqliteConnection;

use super::application;
use super::data_directory::{COMPANIONS, DATABASE, FILE_MODE, database_in, log_path, with_ending};

/// The file that exists from the first migration on, and is never removed.
const IN_USE: &str = "in-use";
const CONTENT: &str =
    "The ledger of this directory is in cuepoint.db. Without that file no server starts here.\n";

/// Refuses a data directory that was in use if its database file is missing or empty. Call this before SQLite opens
/// the file, because SQLite deletes the log of an empty file.
///
/// # Errors
/// When it is one, with the sentence that names the remedy, or the files cannot be inspected.
pub(crate) fn ensure_database(directory: &Path) -> anyhow::Result<()> {
    let path = database_in(directory);
    let defect = match length(&path)? {
        None => "is missing",
        Some(0) => "is empty",
        Some(_) => return Ok(()),
    };
    // A first start writes the first page of the database before it begins a log.
    let has_log = length(&log_path(&path))?.is_some_and(|length| length > 0);
    if has_log || is_recorded(directory)? { Err(refusal(directory, defect)?) } else { Ok(()) }
}

/// Refuses a database without tables in a data directory that was in use.
///
/// # Errors
/// When it is one, with the sentence that names the remedy, or it cannot be read.
pub(crate) fn ensure_content(directory: &Path, connection: &mut SqliteConnection) -> anyhow::Result<()> {
    if is_recorded(directory)? && application::is_new(connection)? {
        return Err(refusal(directory, "has no tables")?);
    }
    Ok(())
}

/// Records durably that a data directory is in use, unless it is recorded already.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn record(directory: &Path) -> anyhow::Result<()> {
    if is_recorded(directory)? {
        return Ok(());
    }
    let path = directory.join(IN_USE);
    write(&path)
        .and_then(|()| File::open(directory)?.sync_all())
        .with_context(|| format!("{} cannot be written", path.display()))
}

fn write(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
    crash_points::at_start(StartStep::Recording);
    file.write_all(CONTENT.as_bytes())?;
    file.sync_all()
}

fn is_recorded(directory: &Path) -> anyhow::Result<bool> {
    Ok(length(&directory.join(IN_USE))?.is_some())
}

/// The length of the file at a path, if there is one.
fn length(path: &Path) -> anyhow::Result<Option<u64>> {
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => Ok(Some(found.with_context(|| format!("{} cannot be inspected", path.display()))?.len())),
    }
}

/// The error that names the defect of the database, and the files that prevent a restore or an empty ledger.
fn refusal(directory: &Path, defect: &str) -> anyhow::Result<anyhow::Error> {
    let database = Path::new(DATABASE);
    let companions = COMPANIONS.iter().map(|ending| with_ending(database, ending));
    let (mut files, mut away) = (Vec::new(), String::new());
    for name in [database.to_owned()].into_iter().chain(companions) {
        if length(&directory.join(&name))?.is_some() {
            files.push(name.display().to_string());
        }
    }
    if !files.is_empty() {
        away = format!("move {} away and ", files.join(", "));
    }
    if is_recorded(directory)? {
        files.push(IN_USE.to_owned());
    }
    Ok(anyhow!(
        "the data directory {} was in use, but its database file {DATABASE} {defect}: put the file back, or {away}run \
         `cuepoint restore FILE`; to begin an empty ledger instead, move {} away",
        directory.display(),
        files.join(", ")
    ))
}
