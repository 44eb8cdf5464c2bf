//! Temporary data directories for tests, and the SQL of tests.

#![allow(clippy::expect_used, clippy::panic, reason = "a failed assumption fails its test")]

pub mod query_plans;

mod sql;

use std::path::Path;

use diesel::SqliteConnection;
use tempfile::TempDir;

use crate::connect::connection::{Access, open};
use crate::connect::data_directory::DATABASE;
use crate::connect::migrations::{self, MIGRATIONS};

pub use sql::{WriteLock, execute, rows};

/// A directory of one test, removed when it is dropped.
#[derive(Debug)]
pub struct TestDirectory(TempDir);

impl TestDirectory {
    /// Creates an empty directory.
    #[must_use]
    pub fn create() -> Self {
        Self(TempDir::with_prefix("cuepoint-sqlite-").expect("a directory for the test"))
    }

    /// The path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A connection to the database of a store in the directory, behind its back.
    #[must_use]
    pub fn connection(&self) -> SqliteConnection {
        open(&self.path().join(DATABASE), Access::Writer).expect("a connection")
    }

    /// A connection to a new, migrated database in the directory.
    #[must_use]
    pub fn migrated(&self) -> SqliteConnection {
        let mut connection = open(&self.path().join("test.db"), Access::Creator).expect("a connection");
        migrations::migrate(&mut connection, MIGRATIONS).expect("the migrations");
        connection
    }
}
