//! Embedded storage for Cuepoint in a SQLite file.
//!
//! [`SqliteStore`] implements the storage ports of the domain. Every change goes through the writer, which
//! commits all waiting ones in one transaction; reads run on the caller's thread. No rule is written in SQL: the
//! tables' constraints are a backstop, and a violation is a bug, not an expected refusal.
//!
//! One server uses a data directory at a time.

#[cfg(all(feature = "testing", not(debug_assertions)))]
compile_error!("the feature `testing` can end the process on purpose, and is not for release builds");

mod backend;
mod connect;
mod ports;
mod retention;
mod rows;
mod schema;
mod statements;
mod tables;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cuepoint_domain::money::Currency;

pub use backend::SqliteBackend;
use connect::connection::{Access, open};
use connect::data_directory::DataDirectory;
use connect::readers::Readers;
use connect::{deployment, integrity, migrations};
use ports::IdRanges;
use writer::{Writer, WriterSetup};

/// A store in a data directory.
pub struct SqliteStore {
    directory: PathBuf,
    /// Locks the data directory until the store is closed.
    lock: Mutex<Option<DataDirectory>>,
    readers: Arc<Readers>,
    writer: Writer,
    ids: IdRanges,
    currency: Currency,
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens the store in a data directory, which is created if it is missing, and applies missing migrations.
    /// The first start records the currency in the database.
    ///
    /// # Errors
    /// When another process uses the directory, it is on a network file system, or its database belongs to a
    /// newer version, to another program or to another currency.
    pub fn open(directory: &Path, currency: Currency) -> anyhow::Result<Self> {
        let directory = DataDirectory::open(directory)?;
        let path = directory.database();
        let mut connection = open(&path, Access::Creator)?;
        integrity::ensure_undamaged(&mut connection, &path)?;
        for migration in migrations::migrate(&mut connection, migrations::MIGRATIONS)? {
            tracing::info!(migration, "applied a migration");
        }
        let feature_level = deployment::settle(&mut connection, &currency)?;
        let setup = WriterSetup { path: path.clone(), currency: currency.clone(), feature_level };
        // Before the first connection is closed: closing the last one would remove the log.
        let writer = Writer::start(setup)?;
        drop(connection);
        Ok(Self {
            directory: directory.path().to_owned(),
            lock: Mutex::new(Some(directory)),
            readers: Arc::new(Readers::of(path)?),
            writer,
            ids: IdRanges::default(),
            currency,
        })
    }

    /// The absolute path of the data directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Completes the waiting changes, accepts no more, closes every connection, and unlocks the data directory.
    pub async fn close(&self) {
        self.readers.end_long_reads().await;
        self.writer.close().await;
        self.readers.close();
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
