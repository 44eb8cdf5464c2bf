//! Temporary data directories for tests, and the SQL of tests.

#![allow(clippy::expect_used, clippy::panic, reason = "a failed assumption fails its test")]

pub mod query_plans;

mod sql;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use diesel::SqliteConnection;

use crate::connect::connection::{Access, open};
use crate::connect::data_directory::DATABASE;
use crate::connect::migrations::{self, MIGRATIONS};

pub use sql::{WriteLock, execute, rows};

/// A directory of one test, removed when it is dropped.
#[derive(Debug)]
pub struct TestDirectory(PathBuf);

impl TestDirectory {
    /// Creates an empty directory.
    #[must_use]
    pub fn create() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("cuepoint-sqlite-{}-{number}", process::id()));
        fs::create_dir_all(&path).expect("a directory for the test");
        Self(path)
    }

    /// The path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A connection to the database of a store in the directory, behind its back.
    #[must_use]
    pub fn connection(&self) -> SqliteConnection {
        open(&self.0.join(DATABASE), Access::Writer).expect("a connection")
    }

    /// A connection to a new, migrated database in the directory.
    #[must_use]
    pub fn migrated(&self) -> SqliteConnection {
        let mut connection = open(&self.0.join("test.db"), Access::Creator).expect("a connection");
        migrations::migrate(&mut connection, MIGRATIONS).expect("the migrations");
        connection
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
