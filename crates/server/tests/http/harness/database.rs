//! The PostgreSQL database of a test.

use std::env;

use cuepoint_store_postgres::testing::TestDatabase;
use tokio_postgres::{NoTls, SimpleQueryMessage};

/// The variable with the address of the tests' PostgreSQL.
const CLUSTER: &str = "CUEPOINT_TEST_POSTGRES_URL";

/// A fresh database, deleted with its cluster.
pub(crate) struct Database(TestDatabase);

impl Database {
    /// A database with every migration applied.
    pub(crate) fn new() -> Self {
        assert!(env::var_os(CLUSTER).is_some(), "{CLUSTER} is not set: run `cargo xtask test`");
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self(runtime.block_on(TestDatabase::create()))
    }

    /// Its address.
    pub(crate) fn url(&self) -> &str {
        self.0.url()
    }

    /// Its address for the unprivileged service role described in docs/operations.md.
    pub(crate) fn service_url(&self) -> String {
        self.0.service_url()
    }

    /// The rows returned by a statement, each column as text.
    pub(crate) fn rows(&self, statement: &str) -> Vec<Vec<Option<String>>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let messages = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(self.url(), NoTls).await.unwrap();
            let connection = tokio::spawn(connection);
            let messages = client.simple_query(statement).await.unwrap();
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

    /// A copy in its current state, like a restored backup; requires that no client is connected.
    pub(crate) fn copy(&self) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self(runtime.block_on(self.0.copy()))
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
