//! The measured cluster: its databases and its resource usage.

use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

use crate::processes::Process;

/// A dedicated cluster on this machine.
pub(crate) struct Cluster {
    url: String,
    port: u16,
    runtime: Runtime,
    client: Client,
    postmaster: Process,
}

impl Cluster {
    /// Connects to the maintenance database of a cluster on this machine, as its superuser.
    pub(crate) fn connect(url: &str) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let config: tokio_postgres::Config = url.parse().context("the cluster's URL is invalid")?;
        let port = *config.get_ports().first().context("the cluster's URL has no port")?;
        let client = runtime.block_on(connect(url))?;
        let row = runtime.block_on(client.query_one("SELECT pg_backend_pid()", &[]))?;
        let backend = u32::try_from(row.get::<_, i32>(0))?;
        let postmaster = Process(backend).parent()?;
        Ok(Self { url: url.to_owned(), port, runtime, client, postmaster })
    }

    /// The port of 127.0.0.1 on which it listens.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// The URL of one of its databases.
    pub(crate) fn url_of(&self, database: &str) -> String {
        let (server, _) = self.url.rsplit_once('/').unwrap_or((&self.url, ""));
        format!("{server}/{database}")
    }

    /// Returns its version.
    pub(crate) fn version(&self) -> anyhow::Result<String> {
        let row = self.runtime.block_on(self.client.query_one("SHOW server_version", &[]))?;
        Ok(row.get(0))
    }

    /// Returns the CPU time of all its processes, including those that have exited.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        self.postmaster.cpu_with_children()
    }

    /// Creates an empty database.
    pub(crate) fn create(&self, database: &str) -> anyhow::Result<()> {
        self.execute(&format!("CREATE DATABASE {database}"))
    }

    /// Copies a database that has no connections, and writes the copy to disk, so that these writes do not
    /// count against the measurement.
    pub(crate) fn copy(&self, template: &str, database: &str) -> anyhow::Result<()> {
        self.execute(&format!("CREATE DATABASE {database} TEMPLATE {template} STRATEGY file_copy"))?;
        self.checkpoint()
    }

    /// Runs a statement on a fresh copy before the measurement, then vacuums and analyzes it.
    pub(crate) fn prepare(&self, database: &str, statement: &str) -> anyhow::Result<()> {
        self.block_on(async {
            let client = connect(&self.url_of(database)).await?;
            for statement in [statement, "VACUUM ANALYZE", "CHECKPOINT"] {
                client.batch_execute(statement).await.with_context(|| statement.to_owned())?;
            }
            Ok(())
        })
    }

    /// Drops a database, even with open connections.
    pub(crate) fn remove(&self, database: &str) -> anyhow::Result<()> {
        self.execute(&format!("DROP DATABASE {database} WITH (FORCE)"))
    }

    /// Writes all data to disk.
    pub(crate) fn checkpoint(&self) -> anyhow::Result<()> {
        self.execute("CHECKPOINT")
    }

    /// Returns the single number that a query on one of its databases yields.
    pub(crate) fn number(&self, database: &str, query: &str) -> anyhow::Result<i64> {
        self.block_on(async {
            let client = connect(&self.url_of(database)).await?;
            Ok(client.query_one(query, &[]).await.with_context(|| query.to_owned())?.try_get(0)?)
        })
    }

    /// Runs asynchronous work to completion.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
        self.runtime.block_on(work)
    }

    fn execute(&self, statement: &str) -> anyhow::Result<()> {
        self.runtime.block_on(self.client.batch_execute(statement)).with_context(|| statement.to_owned())
    }
}

/// Opens a connection that is driven in the background.
async fn connect(url: &str) -> anyhow::Result<Client> {
    let connected = tokio_postgres::connect(url, NoTls).await;
    let (client, connection) = connected.with_context(|| format!("cannot connect to {url}"))?;
    tokio::spawn(connection);
    Ok(client)
}
