//! Connections to the database file, and their settings.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{anyhow, ensure};
use cuepoint_store_sql::crash_points::{self, StartStep};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;

use super::application;
use super::data_directory::{FILE_MODE, ensure_writable};
use super::failure::defect;
use super::version::ensure_safe;

/// The use of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// Reads and writes, and creates the file if it is missing: for the start alone, since a server whose
    /// file was deleted must not go on with an empty one.
    Creator,
    /// Reads and writes. Only the writer's thread and that of checkpoints have one.
    Writer,
    /// Reads alone.
    Reader,
    /// Reads alone, with a large page cache.
    CachingReader,
    /// Reads, and writes to other files: `VACUUM INTO` is refused on a connection that only queries.
    Backup,
    /// Reads a file that no server uses, and changes nothing in it or beside it.
    Archive,
    /// Reads and writes a file that no server uses, and creates none beside it: an interrupted change damages it.
    Copy,
}

/// A setting of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Setting {
    /// The name of the pragma.
    name: &'static str,
    /// The value that is set.
    value: &'static str,
    /// The value that is read afterwards.
    read: &'static str,
}

impl Setting {
    fn set(self, connection: &mut SqliteConnection) -> QueryResult<()> {
        connection.batch_execute(&format!("PRAGMA {} = {}", self.name, self.value))
    }
}

const fn setting(name: &'static str, value: &'static str, read: &'static str) -> Setting {
    Setting { name, value, read }
}

/// The wait for locks of other processes, in milliseconds. It is set first, because the change of the journal
/// mode waits for other connections.
const BUSY_TIMEOUT: Setting = setting("busy_timeout", "1000", "1000");
/// The settings of every connection, in the order in which they are set.
const SETTINGS: &[Setting] = &[
    BUSY_TIMEOUT,
    setting("journal_mode", "WAL", "wal"),
    // Every commit is synced, so that a power failure loses none.
    setting("synchronous", "FULL", "2"),
    setting("foreign_keys", "ON", "1"),
    // Otherwise REPLACE would delete rows of append-only tables without their triggers.
    setting("recursive_triggers", "ON", "1"),
    setting("trusted_schema", "OFF", "0"),
    // Otherwise erased personal data would stay in unused parts of the file.
    setting("secure_delete", "ON", "1"),
    setting("temp_store", "MEMORY", "2"),
    // The writer starts checkpoints itself, between groups.
    setting("wal_autocheckpoint", "0", "0"),
    // The log is truncated to this size, in bytes, after it was reset.
    setting("journal_size_limit", "67108864", "67108864"),
];
/// macOS needs these to sync its disks' caches.
const FULL_SYNC: &[Setting] = if cfg!(target_os = "macos") {
    &[setting("fullfsync", "ON", "1"), setting("checkpoint_fullfsync", "ON", "1")]
} else {
    &[]
};
/// The settings of a connection to a file that stays as it is, whatever its journal.
const UNCHANGING: &[Setting] =
    &[setting("busy_timeout", "1000", "1000"), setting("trusted_schema", "OFF", "0"), QUERY_ONLY];
/// The settings of a connection to a copy.
const UNSHARED: &[Setting] = &[
    BUSY_TIMEOUT,
    setting("journal_mode", "MEMORY", "memory"),
    setting("synchronous", "FULL", "2"),
    setting("trusted_schema", "OFF", "0"),
];
/// The page cache of the writer, in KiB: a group changes a few hundred pages, and reads as many.
const WRITER_CACHE: Setting = setting("cache_size", "-8192", "-8192");
/// The page cache of the connections for most short reads, of which there is one per core. It is empty after each commit.
const LARGE_CACHE: Setting = setting("cache_size", "-16384", "-16384");
/// The page cache of every other connection.
const SMALL_CACHE: Setting = setting("cache_size", "-2048", "-2048");
/// The last setting of a reader.
const QUERY_ONLY: Setting = setting("query_only", "ON", "1");

impl Access {
    fn settings(self) -> impl Iterator<Item = Setting> {
        let (all, last): (&[&[Setting]], _) = match self {
            Self::Archive => (&[UNCHANGING], None),
            Self::Copy => (&[UNSHARED], None),
            Self::Reader => (&[SETTINGS, FULL_SYNC, &[SMALL_CACHE]], Some(QUERY_ONLY)),
            Self::CachingReader => (&[SETTINGS, FULL_SYNC, &[LARGE_CACHE]], Some(QUERY_ONLY)),
            Self::Creator | Self::Writer => (&[SETTINGS, FULL_SYNC, &[WRITER_CACHE]], None),
            Self::Backup => (&[SETTINGS, FULL_SYNC, &[SMALL_CACHE]], None),
        };
        all.iter().copied().flatten().copied().chain(last)
    }

    /// Whether the file is written to, and created if it is missing.
    const fn mode(self) -> &'static str {
        match self {
            Self::Creator => "rwc",
            Self::Writer | Self::Reader | Self::CachingReader | Self::Backup | Self::Copy => "rw",
            Self::Archive => "ro",
        }
    }
}

/// Opens a connection with its settings.
///
/// # Errors
/// When the file cannot be opened, is not a database, belongs to another program, SQLite is too old, or a
/// setting has no effect.
pub(crate) fn open(path: &Path, access: Access) -> anyhow::Result<SqliteConnection> {
    connect(path, access).map_err(|error| match error.downcast_ref().and_then(defect) {
        Some(defect) => damaged(path, defect),
        None => error.context(format!("the database {} cannot be opened", path.display())),
    })
}

/// The error that refuses a damaged file.
pub(crate) fn damaged(path: &Path, defect: &str) -> anyhow::Error {
    anyhow!("the database file {} is damaged: restore a backup ({defect})", path.display())
}

fn connect(path: &Path, access: Access) -> anyhow::Result<SqliteConnection> {
    if access == Access::Creator {
        create(path)?;
        crash_points::at_start(StartStep::DatabaseCreated);
    }
    if access != Access::Archive {
        ensure_writable(path)?;
    }
    let mut connection = SqliteConnection::establish(&uri(path, access.mode()))?;
    ensure_safe(&value(&mut connection, "SELECT sqlite_version()")?)?;
    BUSY_TIMEOUT.set(&mut connection)?;
    // Before a setting that changes the file.
    application::is_new(&mut connection)?;
    access.settings().try_for_each(|setting| setting.set(&mut connection))?;
    for Setting { name, read, .. } in access.settings() {
        let found = value(&mut connection, &format!("PRAGMA {name}"))?;
        ensure!(found == read, "the setting {name} is {found} instead of {read}");
    }
    Ok(connection)
}

/// Runs statements that wait at most this many milliseconds for locks.
///
/// # Errors
/// When one fails.
pub(crate) fn with_busy_timeout<T>(
    connection: &mut SqliteConnection,
    milliseconds: u32,
    work: impl FnOnce(&mut SqliteConnection) -> QueryResult<T>,
) -> QueryResult<T> {
    connection.batch_execute(&format!("PRAGMA busy_timeout = {milliseconds}"))?;
    let done = work(connection);
    BUSY_TIMEOUT.set(connection)?;
    done
}

/// Creates an empty file, which SQLite takes for a new database, unless there is a file. Its permissions are those of
/// its log and index as well. An existing one must not be opened here: closing it would release the locks of all
/// connections of this process.
fn create(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop),
    }
}

/// Reads the only value of a statement, as text.
pub(crate) fn value(connection: &mut SqliteConnection, statement: &str) -> QueryResult<String> {
    diesel::dsl::sql::<Text>(statement).get_result(connection)
}

/// The URI of a file, in which a path with `?` or `%` is no parameter.
pub(crate) fn uri(path: &Path, mode: &str) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?mode=");
    uri.push_str(mode);
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestDirectory;

    #[test]
    fn connections_have_the_settings_of_their_purpose() {
        let directory = TestDirectory::create();
        let path = directory.path().join("a.db");
        for (access, query_only) in [
            (Access::Creator, "0"),
            (Access::Writer, "0"),
            (Access::Reader, "1"),
            (Access::CachingReader, "1"),
            (Access::Backup, "0"),
        ] {
            let mut connection = open(&path, access).unwrap();
            for (name, expected) in [
                ("busy_timeout", "1000"),
                ("journal_mode", "wal"),
                ("synchronous", "2"),
                ("foreign_keys", "1"),
                ("recursive_triggers", "1"),
                ("trusted_schema", "0"),
                ("secure_delete", "1"),
                ("temp_store", "2"),
                ("wal_autocheckpoint", "0"),
                ("query_only", query_only),
            ] {
                let found = value(&mut connection, &format!("PRAGMA {name}")).unwrap();
                assert_eq!(found, expected, "{name} of {access:?}");
            }
        }
    }

    #[test]
    fn busy_timeout_is_set_first_and_readers_set_query_only_last() {
        for access in [Access::Creator, Access::Writer, Access::Reader, Access::Backup] {
            assert_eq!(access.settings().next().unwrap().name, "busy_timeout");
        }
        for access in [Access::Reader, Access::CachingReader] {
            assert_eq!(access.settings().last(), Some(QUERY_ONLY));
        }
    }

    #[test]
    fn the_bundled_sqlite_version_cannot_lose_commits() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        ensure_safe(&value(&mut connection, "SELECT sqlite_version()").unwrap()).unwrap();
    }

    #[test]
    fn the_bundled_sqlite_library_has_the_expected_compile_options() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        for option in ["THREADSAFE=2", "DEFAULT_MEMSTATUS=0", "ENABLE_QPSG"] {
            let used = format!("SELECT sqlite_compileoption_used('{option}')");
            assert_eq!(value(&mut connection, &used).unwrap(), "1", "{option}");
        }
        for option in ["ENABLE_MEMORY_MANAGEMENT", "ENABLE_API_ARMOR", "ENABLE_STAT4"] {
            let used = format!("SELECT sqlite_compileoption_used('{option}')");
            assert_eq!(value(&mut connection, &used).unwrap(), "0", "{option}");
        }
    }

    #[test]
    fn reader_connections_cannot_write_and_backup_connections_can_copy() {
        let directory = TestDirectory::create();
        drop(directory.migrated());
        let path = directory.path().join("test.db");
        let change = "UPDATE ids SET next = 7";
        let copy = format!("VACUUM INTO '{}'", directory.path().join("copy.db").display());
        let mut reader = open(&path, Access::Reader).unwrap();
        assert!(reader.batch_execute(change).unwrap_err().to_string().contains("readonly"));
        assert!(reader.batch_execute(&copy).is_err());
        open(&path, Access::Backup).unwrap().batch_execute(&copy).unwrap();
        assert_eq!(value(&mut reader, "SELECT max(next) FROM ids").unwrap(), "1");
    }

    #[test]
    fn the_file_of_another_program_is_not_changed() {
        let directory = TestDirectory::create();
        let path = directory.path().join("a.db");
        let mut foreign = SqliteConnection::establish(&path.display().to_string()).unwrap();
        foreign.batch_execute("CREATE TABLE unrelated (id INTEGER)").unwrap();
        for access in [Access::Creator, Access::Writer, Access::Reader, Access::Backup] {
            let message = format!("{:#}", open(&path, access).err().unwrap());
            assert!(message.ends_with("the database belongs to another program"), "{message}");
        }
        assert_eq!(value(&mut foreign, "PRAGMA journal_mode").unwrap(), "delete");
    }

    #[test]
    fn opening_a_backup_file_as_an_archive_does_not_modify_it() {
        let directory = TestDirectory::create();
        drop(directory.migrated());
        let (path, copy) = (directory.path().join("test.db"), directory.path().join("copy.db"));
        let into = format!("VACUUM INTO '{}'", copy.display());
        open(&path, Access::Backup).unwrap().batch_execute(&into).unwrap();
        let before = std::fs::read(&copy).unwrap();
        let mut archive = open(&copy, Access::Archive).unwrap();
        assert_eq!(value(&mut archive, "PRAGMA journal_mode").unwrap(), "delete");
        assert_eq!(value(&mut archive, "PRAGMA quick_check").unwrap(), "ok");
        assert!(archive.batch_execute("UPDATE ids SET next = 7").is_err());
        assert!(!directory.path().join("copy.db-wal").exists());
        drop(archive);
        assert_eq!(std::fs::read(&copy).unwrap(), before);
    }

    #[test]
    fn deleted_and_replaced_values_are_erased_from_the_file() {
        let directory = TestDirectory::create();
        let path = directory.path().join("a.db");
        let mut connection = open(&path, Access::Creator).unwrap();
        let before = "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); CREATE INDEX named ON people (name); \
            INSERT INTO people VALUES (1, 'the first name'), (2, 'the second name'), (3, 'another name')";
        connection.batch_execute(before).unwrap();
        let erase = "UPDATE people SET name = NULL WHERE id = 1; DELETE FROM people WHERE id = 2; \
            PRAGMA wal_checkpoint(TRUNCATE)";
        connection.batch_execute(erase).unwrap();
        let file = std::fs::read(&path).unwrap();
        let has = |name: &str| file.windows(name.len()).any(|part| part == name.as_bytes());
        assert!(has("another name"));
        assert!(!has("the first name") && !has("the second name"));
    }

    #[test]
    fn only_a_creator_connection_creates_the_file() {
        let directory = TestDirectory::create();
        let path = directory.path().join("a.db");
        for access in [Access::Writer, Access::Reader, Access::Backup, Access::Archive] {
            assert!(open(&path, access).is_err());
        }
        assert!(!path.exists());
        open(&path, Access::Creator).unwrap();
        assert!(path.exists());
    }

    #[test]
    fn only_the_owner_can_read_the_files() {
        use std::os::unix::fs::PermissionsExt;
        let directory = TestDirectory::create();
        let path = directory.path().join("a.db");
        let mut connection = open(&path, Access::Creator).unwrap();
        connection.batch_execute("CREATE TABLE a (b INTEGER)").unwrap();
        for name in ["a.db", "a.db-wal", "a.db-shm"] {
            let found = std::fs::metadata(directory.path().join(name)).unwrap().permissions().mode();
            assert_eq!(found & 0o777, 0o600, "{name}");
        }
    }

    #[test]
    fn paths_are_not_parsed_as_uris() {
        let directory = TestDirectory::create();
        let path = directory.path().join("ä?mode=memory#50%.db");
        let mut connection = open(&path, Access::Creator).unwrap();
        assert!(path.is_file());
        let opened = value(&mut connection, "SELECT file FROM pragma_database_list").unwrap();
        assert_eq!(Path::new(&opened), path.canonicalize().unwrap());
    }

    #[test]
    fn files_of_other_formats_are_refused() {
        let directory = TestDirectory::create();
        let path = directory.path().join("a.db");
        std::fs::write(&path, "not a database, but a text of some length").unwrap();
        let message = format!("{:#}", open(&path, Access::Writer).err().unwrap());
        assert!(message.contains("not a database"), "{message}");
    }
}
