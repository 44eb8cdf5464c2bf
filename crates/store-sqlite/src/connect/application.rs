//! The application id in the header of a database file, which tells the database of this program from others, and
//! from its backups.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use anyhow::{Context, ensure};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

/// The application id: `cuep` in ASCII.
pub(crate) const ID: i64 = 0x6375_6570;
/// The application id of a backup: `cueb` in ASCII. Versions without this mark refuse to open such a file.
pub(crate) const BACKUP_ID: i64 = 0x6375_6562;
/// The place of the application id in the header of a file.
pub(crate) const PLACE: usize = 68;
/// The number of tables, indexes and triggers.
const OBJECTS: &str = "SELECT count(*) FROM sqlite_schema";

/// Writes the application id.
///
/// Every call writes the header anew, so that its commit proves that others can be committed. An update that
/// changes no value would write nothing.
///
/// # Errors
/// When the database cannot be written to.
pub(crate) fn mark(connection: &mut SqliteConnection) -> QueryResult<()> {
    connection.batch_execute(&format!("PRAGMA application_id = {ID}"))
}

/// Marks a copy of the database as a backup, which no server uses.
///
/// # Errors
/// When the copy cannot be written to.
pub(crate) fn mark_as_backup(connection: &mut SqliteConnection) -> QueryResult<()> {
    connection.batch_execute(&format!("PRAGMA application_id = {BACKUP_ID}"))
}

/// Whether the database is new: without content and without an application.
///
/// # Errors
/// When the database belongs to another program or cannot be read.
pub(crate) fn is_new(connection: &mut SqliteConnection) -> anyhow::Result<bool> {
    let found = found(connection)?;
    if found == 0 {
        let objects: i64 = diesel::dsl::sql::<BigInt>(OBJECTS).get_result(connection)?;
        if objects == 0 {
            return Ok(true);
        }
    }
    ensure!([ID, BACKUP_ID].contains(&found), "the database belongs to another program");
    Ok(false)
}

/// Refuses the file of a backup: its ids and tokens would be issued twice. Call this before SQLite opens the file,
/// because SQLite applies a log that was left beside it, which belongs to another database.
///
/// # Errors
/// When it is one, with the sentence that names the remedy, or it cannot be read.
pub(crate) fn ensure_no_backup(path: &Path) -> anyhow::Result<()> {
    let header = File::open(path).and_then(|mut file| {
        let mut header = [0; PLACE + 4];
        file.read_exact(&mut header).map(|()| header)
    });
    let header = match header {
        // A first start.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof) => return Ok(()),
        read => read.with_context(|| format!("the database {} cannot be read", path.display()))?,
    };
    let id = header.last_chunk().copied().map(u32::from_be_bytes);
    ensure!(
        id.map(i64::from) != Some(BACKUP_ID),
        "the database {} is a copy that `cuepoint backup` made: move it out of the data directory, and restore it with \
         `cuepoint restore FILE`",
        path.display()
    );
    Ok(())
}

/// Whether the database is a backup.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn is_backup(connection: &mut SqliteConnection) -> QueryResult<bool> {
    Ok(found(connection)? == BACKUP_ID)
}

fn found(connection: &mut SqliteConnection) -> QueryResult<i64> {
    diesel::dsl::sql::<BigInt>("PRAGMA application_id").get_result(connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::data_directory::log_path;
    use crate::testing::TestDirectory;

    #[test]
    fn marking_a_database_always_writes_to_the_write_ahead_log() {
        let directory = TestDirectory::create();
        let mut connection = directory.migrated();
        let log = log_path(&directory.path().join("test.db"));
        connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        for _ in 0..3 {
            let before = std::fs::metadata(&log).unwrap().len();
            mark(&mut connection).unwrap();
            assert!(std::fs::metadata(&log).unwrap().len() > before);
        }
        // The reason for the application id: a row with the same values is not written again.
        let before = std::fs::metadata(&log).unwrap().len();
        diesel::sql_query("UPDATE ids SET next = next").execute(&mut connection).unwrap();
        assert_eq!(std::fs::metadata(&log).unwrap().len(), before);
    }
}
