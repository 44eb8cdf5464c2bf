//! Fresh databases for tests, each cloned from a template that is migrated once.

use anyhow::Context;
use diesel::sql_types::{Bool, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use uuid::Uuid;

use crate::connection::Connector;
use crate::migrations;

/// The environment variable with the URL of a throw-away cluster's superuser.
const CLUSTER: &str = "CUEPOINT_TEST_POSTGRES_URL";
/// The template, by what the migrations in this program say.
const TEMPLATE: &str = concat!("cuepoint_template_", env!("MIGRATIONS_HASH"));
/// The advisory lock under which the template is made, one more than the migrations' own.
const LOCK: &str = "7166745915609935477";

/// A database of a test's own, with every migration applied; it goes with its cluster.
#[derive(Debug)]
pub struct TestDatabase {
    url: String,
}

impl TestDatabase {
    /// A fresh database.
    ///
    /// # Panics
    /// Without a cluster, or when it refuses.
    #[expect(clippy::panic, reason = "a test without its database has failed")]
    pub async fn create() -> Self {
        match clone().await {
            Ok(url) => Self { url },
            Err(error) => panic!("no test database: {error:#}"),
        }
    }

    /// A fresh database without any migration.
    ///
    /// # Panics
    /// Without a cluster, or when it refuses.
    #[expect(clippy::panic, reason = "a test without its database has failed")]
    pub async fn empty() -> Self {
        match create_from("template0").await {
            Ok(url) => Self { url },
            Err(error) => panic!("no test database: {error:#}"),
        }
    }

    /// A copy of it as it is now; whatever is connected to it is cut off first.
    ///
    /// # Panics
    /// When the cluster refuses.
    #[expect(clippy::panic, reason = "a test without its database has failed")]
    pub async fn copy(&self) -> Self {
        match copy(&self.url).await {
            Ok(url) => Self { url },
            Err(error) => panic!("no copy of a test database: {error:#}"),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Undoes every migration.
    ///
    /// # Errors
    /// When a migration cannot be undone.
    pub async fn revert(&self) -> anyhow::Result<()> {
        migrations::revert(&Connector::new(&self.url)?).await
    }
}

#[expect(clippy::disallowed_methods, reason = "tests are told of their cluster by the environment alone")]
fn cluster() -> anyhow::Result<String> {
    std::env::var(CLUSTER).context("run `cargo xtask test`, which starts a cluster for the tests")
}

/// The cluster's URL with another database.
fn url_of(cluster: &str, database: &str) -> anyhow::Result<String> {
    let (server, _) = cluster.rsplit_once('/').context("the cluster's URL names no database")?;
    Ok(format!("{server}/{database}"))
}

async fn administer() -> anyhow::Result<AsyncPgConnection> {
    let mut connection = Connector::new(&cluster()?)?.connect().await?;
    connection.batch_execute("SET statement_timeout = 0; SET lock_timeout = 0").await?;
    Ok(connection)
}

#[expect(clippy::disallowed_methods, reason = "a name that no other test has")]
async fn create_from(template: &str) -> anyhow::Result<String> {
    let name = format!("test_{}", Uuid::new_v4().simple());
    administer().await?.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await?;
    url_of(&cluster()?, &name)
}

async fn copy(url: &str) -> anyhow::Result<String> {
    let (_, name) = url.rsplit_once('/').context("the URL names no database")?;
    let end =
        format!("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'");
    administer().await?.batch_execute(&end).await?;
    create_from(name).await
}

async fn clone() -> anyhow::Result<String> {
    let mut connection = administer().await?;
    connection.batch_execute(&format!("SELECT pg_advisory_lock({LOCK})")).await?;
    let is_there: bool =
        diesel::dsl::sql::<Bool>("SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = ")
            .bind::<Text, _>(TEMPLATE)
            .sql(")")
            .get_result(&mut connection)
            .await?;
    if !is_there {
        make(&mut connection).await?;
    }
    connection.batch_execute(&format!("SELECT pg_advisory_unlock({LOCK})")).await?;
    create_from(TEMPLATE).await
}

/// Migrates a database under another name and renames it when it is whole, so that no half-made template is used.
async fn make(connection: &mut AsyncPgConnection) -> anyhow::Result<()> {
    let draft = format!("{TEMPLATE}_draft");
    connection.batch_execute(&format!("DROP DATABASE IF EXISTS {draft} WITH (FORCE)")).await?;
    connection.batch_execute(&format!("CREATE DATABASE {draft} TEMPLATE template0")).await?;
    crate::migrate(&url_of(&cluster()?, &draft)?).await?;
    // The migrator's connection may still be on its way out.
    connection
        .batch_execute(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{draft}'"
        ))
        .await?;
    connection.batch_execute(&format!("ALTER DATABASE {draft} RENAME TO {TEMPLATE}")).await?;
    Ok(())
}
