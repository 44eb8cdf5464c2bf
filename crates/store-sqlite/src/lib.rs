//! Embedded storage for Cuepoint in a SQLite file.
//!
//! [`SqliteStore`] implements the storage ports of the domain. Every change goes through the writer, which
//! commits all waiting ones in one transaction; reads run on the caller's thread. No rule is written in SQL:
//! the tables' constraints are a backstop, and a violation is a bug, not an expected refusal.
//!
//! One server uses a data directory at a time.

#[cfg(all(feature = "testing", not(debug_assertions)))]
compile_error!("the feature `testing` can end the process on purpose, and is not for release builds");

mod backend;
mod by_id;
mod connect;
mod copy;
mod dialect;
mod maintenance;
#[expect(clippy::needless_borrow, reason = "on PostgreSQL, a read borrows a connection that it shares")]
mod ports;
#[expect(clippy::needless_borrow, reason = "on PostgreSQL, a read borrows a connection that it shares")]
mod retention;
mod schema;
mod statements;
#[expect(clippy::needless_borrow, reason = "on PostgreSQL, a read borrows a connection that it shares")]
mod tables;
mod telemetry;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, fs};

use anyhow::{Context, ensure};
use cuepoint_domain::money::Currency;
use cuepoint_store_sql::Announcements;
use cuepoint_store_sql::crash_points::{self, StartStep};
use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;

pub use backend::SqliteBackend;
use connect::connection::{Access, open};
use connect::data_directory::{DataDirectory, InUse, database_in};
use connect::migrations::MIGRATIONS;
use connect::readers::Readers;
use connect::snapshots::Snapshots;
pub use connect::version::sqlite_version;
use connect::{application, deployment, file_system, in_use, integrity, migrations};
pub use copy::SqliteCopyEndpoint;
use maintenance::restore::ensure_own_schema;
use ports::SqliteIds;
use writer::{SqliteWriter, WriterSetup};

/// A store in a data directory.
pub struct SqliteStore {
    directory: PathBuf,
    /// Locks the data directory until the store is closed; `None` as well if the store is only read.
    lock: Mutex<Option<DataDirectory>>,
    readers: Arc<Readers>,
    writer: SqliteWriter,
    ids: SqliteIds,
    announcements: Arc<Announcements>,
    currency: Currency,
}

/// The store, by the name that the sources in `store-sql/per_store` use.
type SqlStore = SqliteStore;

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens the store in a data directory, which is created if it is missing, and applies missing
    /// migrations. The first start records the currency in the database.
    ///
    /// # Errors
    /// When another process uses the directory, it is on a network file system or cannot be written to, its database
    /// is gone although it was in use, or the database is a backup, has another schema, or belongs to a newer
    /// version, to another program or to another currency.
    pub fn open(directory: &Path, currency: Currency) -> anyhow::Result<Self> {
        let opened = Self::open_directory(directory, currency);
        opened.map_err(|failure| explain(failure, directory))
    }

    fn open_directory(directory: &Path, currency: Currency) -> anyhow::Result<Self> {
        telemetry::describe();
        let Migrated { directory, mut connection, applied } = Migrated::open(directory)?;
        let path = directory.database();
        for migration in applied {
            tracing::info!(migration, "applied a migration");
        }
        let feature_level = deployment::settle(&mut connection, &currency)?;
        crash_points::at_start(StartStep::Settled);
        // Now rather than at the first change. The log of a process that was killed is copied at the same
        // time.
        let written = application::mark(&mut connection);
        let written = written.and_then(|()| connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)"));
        written.with_context(|| format!("the database {} cannot be written to", path.display()))?;
        let snapshots = Arc::<Snapshots>::default();
        let announcements = Arc::<Announcements>::default();
        let setup = WriterSetup {
            path: path.clone(),
            currency: currency.clone(),
            feature_level,
            snapshots: Arc::clone(&snapshots),
            announcements: Arc::clone(&announcements),
        };
        // Before the first connection is closed: closing the last one would remove the log.
        let writer = SqliteWriter::start(setup)?;
        drop(connection);
        let readers = Readers::of(path, snapshots)?;
        Ok(Self {
            directory: directory.path().to_owned(),
            lock: Mutex::new(Some(directory)),
            readers: Arc::new(readers),
            writer,
            ids: SqliteIds::default(),
            announcements,
            currency,
        })
    }

    /// Opens the store in a data directory to read it, also while a server uses it. Nothing is created or
    /// migrated, and every change fails.
    ///
    /// # Errors
    /// When there is no database, or it belongs to another version, to another program or to another
    /// currency, was copied to another store, or is the target of an incomplete copy.
    pub fn open_to_read(directory: &Path, currency: Currency) -> anyhow::Result<Self> {
        let path = database_in(directory);
        in_use::ensure_database(directory)?;
        ensure!(
            path.exists(),
            "there is no database in {}: check --data and storage.dir, or run `cuepoint migrate` first",
            std::path::absolute(directory)?.display()
        );
        let mut connection = open(&path, Access::Reader)?;
        migrations::ensure_migrated(&mut connection, MIGRATIONS)?;
        deployment::ensure_currency(&mut connection, &currency)?;
        deployment::ensure_unmarked(&mut connection)?;
        deployment::ensure_copy_completed(&mut connection)?;
        let directory = fs::canonicalize(directory)?;
        let readers = Readers::of(path, Arc::default())?;
        Ok(Self {
            directory,
            lock: Mutex::default(),
            readers: Arc::new(readers),
            writer: SqliteWriter::absent(),
            ids: SqliteIds::default(),
            announcements: Arc::default(),
            currency,
        })
    }

    /// The absolute path of the data directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Completes the waiting changes, accepts no more, closes every connection, and unlocks the data
    /// directory.
    pub async fn close(&self) {
        self.readers.end_long_reads().await;
        self.writer.close().await;
        self.readers.close();
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Applies the missing migrations to the database in a data directory, which is created if it is missing, and
/// returns their names.
///
/// # Errors
/// When another process uses the directory, a restore into it was interrupted, its database is gone although it was
/// in use, or the database is a backup, has another schema, or belongs to a newer version or to another program, or
/// when a migration fails; earlier migrations stay applied.
pub fn migrate(directory: &Path) -> anyhow::Result<Vec<String>> {
    let opened = Migrated::open(directory).map_err(|failure| explain(failure, directory))?;
    Ok(opened.applied)
}

/// Adds the likely cause to the failure of an opening. A full disk is none for a directory in use.
fn explain(failure: anyhow::Error, directory: &Path) -> anyhow::Error {
    if failure.is::<InUse>() { failure } else { file_system::explain(failure, directory) }
}

/// A locked data directory and its database, which has every migration.
struct Migrated {
    directory: DataDirectory,
    connection: SqliteConnection,
    /// The names of the migrations that were missing.
    applied: Vec<String>,
}

impl Migrated {
    /// Locks a data directory, opens or creates its database, and applies the missing migrations.
    fn open(directory: &Path) -> anyhow::Result<Self> {
        let directory = DataDirectory::open(directory)?;
        directory.ensure_restored()?;
        in_use::ensure_database(directory.path())?;
        let path = directory.database();
        application::ensure_no_backup(&path)?;
        let mut connection = open(&path, Access::Creator)?;
        crash_points::at_start(StartStep::Opened);
        in_use::ensure_content(directory.path(), &mut connection)?;
        integrity::ensure_undamaged(&mut connection, &path)?;
        let unusable = || format!("the database {} cannot be used", path.display());
        // Before the migrations, so that the earlier version can still serve a database that is refused.
        ensure_own_schema(&mut connection, MIGRATIONS).with_context(unusable)?;
        let applied = migrations::migrate(&mut connection, MIGRATIONS).with_context(unusable)?;
        crash_points::at_start(StartStep::Migrated);
        in_use::record(directory.path())?;
        crash_points::at_start(StartStep::Recorded);
        Ok(Self { directory, connection, applied })
    }
}
