//! The database of a test, on PostgreSQL or in a SQLite file.

use std::env;
use std::path::PathBuf;
use std::process::ExitStatus;

use cuepoint_store_postgres::testing::TestDatabase;
use cuepoint_store_sqlite::testing::{self as sqlite, TestDirectory};
use tokio_postgres::{NoTls, SimpleQueryMessage};

use super::{Place, Store, run_at};

/// The variable with the address of the tests' PostgreSQL.
const CLUSTER: &str = "CUEPOINT_TEST_POSTGRES_URL";

/// A fresh database: on PostgreSQL deleted with its cluster, in a file deleted on drop.
pub(crate) struct Database(Kind);

enum Kind {
    Postgres(TestDatabase),
    Sqlite(TestDirectory),
}

impl Database {
    /// A fresh database of a durable store.
    pub(crate) fn of(store: Store) -> Self {
        match store {
            Store::Memory => panic!("the memory store has no database"),
            Store::Sqlite => Self(Kind::Sqlite(TestDirectory::create())),
            Store::Postgres => Self::postgres(),
        }
    }

    /// A PostgreSQL database with every migration applied.
    pub(crate) fn postgres() -> Self {
        assert!(env::var_os(CLUSTER).is_some(), "{CLUSTER} is not set: run `cargo xtask test`");
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self(Kind::Postgres(runtime.block_on(TestDatabase::create())))
    }

    /// Its store.
    pub(crate) const fn store(&self) -> Store {
        match &self.0 {
            Kind::Postgres(_) => Store::Postgres,
            Kind::Sqlite(_) => Store::Sqlite,
        }
    }

    /// The configuration that leads to it.
    pub(crate) fn place(&self) -> Place {
        match &self.0 {
            Kind::Postgres(database) => Place::Postgres(database.url().to_owned()),
            Kind::Sqlite(_) => Place::Sqlite(self.directory()),
        }
    }

    /// The data directory of a SQLite database, which the first server creates.
    pub(crate) fn directory(&self) -> PathBuf {
        match &self.0 {
            Kind::Postgres(_) => panic!("a PostgreSQL database has no data directory"),
            Kind::Sqlite(directory) => directory.path().join("data"),
        }
    }

    /// The file of a SQLite database.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory().join("cuepoint.db")
    }

    /// The address of a PostgreSQL database.
    pub(crate) fn url(&self) -> &str {
        self.on_postgres().url()
    }

    /// Its address for the unprivileged service role described in docs/guide/postgresql.md.
    pub(crate) fn service_url(&self) -> String {
        self.on_postgres().service_url()
    }

    fn on_postgres(&self) -> &TestDatabase {
        match &self.0 {
            Kind::Postgres(database) => database,
            Kind::Sqlite(_) => panic!("a SQLite database has no address"),
        }
    }

    /// The rows returned by a statement, each column as text. On PostgreSQL alone there may be several
    /// statements.
    pub(crate) fn rows(&self, statement: &str) -> Vec<Vec<Option<String>>> {
        match &self.0 {
            Kind::Postgres(database) => rows(database.url(), statement),
            Kind::Sqlite(_) => sqlite::rows(&self.file(), statement),
        }
    }

    /// Runs statements.
    pub(crate) fn execute(&self, statements: &str) {
        match &self.0 {
            Kind::Postgres(database) => drop(rows(database.url(), statements)),
            Kind::Sqlite(_) => sqlite::execute(&self.file(), statements),
        }
    }

    /// The SQL that this database understands.
    pub(crate) const fn sql<'a>(&self, postgres: &'a str, sqlite: &'a str) -> &'a str {
        match &self.0 {
            Kind::Postgres(_) => postgres,
            Kind::Sqlite(_) => sqlite,
        }
    }

    /// The tables with a row that contains this text.
    pub(crate) fn tables_with(&self, text: &str) -> Vec<String> {
        let tables = self.sql(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
            "SELECT name FROM sqlite_schema WHERE type = 'table'",
        );
        let tables = self.rows(tables).into_iter().flatten().flatten();
        let shows = |table: &String| {
            let (_, contains) = self.row_and_contains(table, text);
            !self.rows(&format!("SELECT 1 FROM {table} WHERE {contains} LIMIT 1")).is_empty()
        };
        tables.filter(shows).collect()
    }

    /// The expression of a row of a table as text, and the condition that it contains a text.
    pub(crate) fn row_and_contains(&self, table: &str, text: &str) -> (String, String) {
        let row = if self.store() == Store::Postgres {
            format!("{table}::text")
        } else {
            let columns = self.rows(&format!("SELECT name FROM pragma_table_info('{table}')"));
            let columns = columns.into_iter().flatten().flatten();
            // A blob is shown as digits: it is no text.
            let shown =
                |column| format!("iif(typeof({column}) = 'blob', hex({column}), coalesce({column}, ''))");
            columns.map(shown).collect::<Vec<_>>().join(" || ',' || ")
        };
        let find = self.sql("strpos", "instr");
        let contains = format!("{find}({row}, '{text}') > 0");
        (row, contains)
    }

    /// Runs the binary on it to completion, and returns its exit status with standard output and standard
    /// error.
    pub(crate) fn run(&self, arguments: &[&str], keys: &[(&str, &str)]) -> (ExitStatus, String) {
        run_at(&self.place(), arguments, keys)
    }

    /// Checks that the command finds the ledger consistent.
    #[track_caller]
    pub(crate) fn verify(&self) {
        let (status, said) = self.run(&["ledger", "verify"], &[]);
        assert_eq!(status.code(), Some(0), "{said}");
    }

    /// A copy in its current state, like a restored backup; requires that no client is connected.
    pub(crate) fn copy(&self) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self(Kind::Postgres(runtime.block_on(self.on_postgres().copy())))
    }

    /// Its address with the server replaced by this one.
    pub(crate) fn url_at(&self, address: impl std::fmt::Display) -> String {
        let (before, rest) = self.url().split_once('@').unwrap();
        let (_, name) = rest.split_once('/').unwrap();
        format!("{before}@{address}/{name}")
    }

    /// Host and port of its server.
    pub(crate) fn server(&self) -> &str {
        let (_, rest) = self.url().split_once('@').unwrap();
        rest.split_once('/').unwrap().0
    }
}

/// The rows returned by statements on PostgreSQL, each column as text.
fn rows(url: &str, statements: &str) -> Vec<Vec<Option<String>>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let messages = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        let messages = client.simple_query(statements).await.unwrap();
        drop(client);
        connection.await.unwrap().unwrap();
        messages
    });
    let row = |message| match message {
        SimpleQueryMessage::Row(row) => {
            Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
        }
        _ => None,
    };
    messages.into_iter().filter_map(row).collect()
}
