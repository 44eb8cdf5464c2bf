//! Fresh databases for tests, each cloned from a template that is migrated once.

use std::time::Duration;

use anyhow::{Context, ensure};
use diesel::sql_types::{Bool, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use uuid::Uuid;

use crate::connect::connection::Connector;
use crate::connect::migrations::{self, MIGRATIONS, Migration, Patience};

/// The environment variable with the URL of a throw-away cluster's superuser.
const CLUSTER: &str = "CUEPOINT_TEST_POSTGRES_URL";
/// The template, by what the migrations in this program say.
const TEMPLATE: &str = concat!("cuepoint_template_", env!("MIGRATIONS_HASH"));
/// The advisory lock under which the template is made, one more than the migrations' own.
const LOCK: &str = "7166745915609935477";

/// The README, whose statements make the role of servers that own nothing, and that role's name there.
const README: &str = include_str!("../../../README.md");
const SERVICE_ROLE: &str = "cuepoint_server";

/// A migration of a test's own, behind those of this program.
#[derive(Clone, Copy, Debug)]
pub struct ExtraMigration {
    /// `<stamp>_<name>`.
    pub name: &'static str,
    /// The statements that apply it.
    pub up: &'static str,
    /// Whether it is one transaction.
    pub in_transaction: bool,
}

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

    /// Where it is, for the role that the README makes for servers that own nothing.
    ///
    /// # Panics
    /// Never, since every URL of a test database names its user.
    #[must_use]
    #[expect(clippy::panic, reason = "a test without its database has failed")]
    pub fn service_url(&self) -> String {
        let Some((_, place)) = self.url.split_once('@') else { panic!("the URL names no user") };
        format!("postgres://{SERVICE_ROLE}@{place}")
    }

    /// Undoes every migration.
    ///
    /// # Errors
    /// When a migration cannot be undone.
    pub async fn revert(&self) -> anyhow::Result<()> {
        migrations::revert(&Connector::new(&self.url)?, MIGRATIONS).await
    }

    /// Applies the migrations of this program that are missing and then those of the test, as a server does at its start,
    /// and returns the versions of what was applied. It tries for as long as `patience` to get a lock that is taken.
    ///
    /// # Errors
    /// When a migration fails, or a lock stays taken.
    pub async fn migrate_with(
        &self,
        extra: &[ExtraMigration],
        patience: Duration,
    ) -> anyhow::Result<Vec<String>> {
        let extra = extra.iter().map(|&ExtraMigration { name, up, in_transaction }| Migration {
            name,
            up,
            down: "",
            in_transaction,
        });
        let all: Vec<Migration> = MIGRATIONS.iter().copied().chain(extra).collect();
        let patience = Patience { total: patience, ..Patience::default() };
        migrations::migrate(&Connector::new(&self.url)?, &all, patience).await
    }
}

/// The blocks of SQL in the README that name the role of servers that own nothing: those that make it, and what the owner
/// grants it.
///
/// # Errors
/// When the README has them no longer.
pub fn service_role_statements() -> anyhow::Result<(&'static str, &'static str)> {
    let blocks = README.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next());
    let ours: Vec<&str> = blocks.filter(|block| block.contains(SERVICE_ROLE)).collect();
    let [create, grant] = ours.as_slice() else {
        anyhow::bail!("README.md has {} blocks of SQL that name {SERVICE_ROLE}, not 2", ours.len());
    };
    ensure!(create.starts_with("CREATE ROLE"), "the first block does not make the role");
    Ok((create, grant))
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
    connection
        .batch_execute(
            "SET application_name = 'cuepoint tests'; SET statement_timeout = 0; SET lock_timeout = 0",
        )
        .await?;
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
    if !has(&mut connection, "pg_database WHERE datname = ", TEMPLATE).await? {
        make(&mut connection).await?;
    }
    connection.batch_execute(&format!("SELECT pg_advisory_unlock({LOCK})")).await?;
    create_from(TEMPLATE).await
}

/// Whether the cluster has a database or role of this name.
async fn has(connection: &mut AsyncPgConnection, kind: &str, name: &str) -> anyhow::Result<bool> {
    let rows = diesel::dsl::sql::<Bool>(&format!("SELECT EXISTS (SELECT 1 FROM {kind}"));
    Ok(rows.bind::<Text, _>(name).sql(")").get_result(connection).await?)
}

/// Migrates a database under another name and renames it when it is whole, so that no half-made template is used.
async fn make(connection: &mut AsyncPgConnection) -> anyhow::Result<()> {
    let draft = format!("{TEMPLATE}_draft");
    connection.batch_execute(&format!("DROP DATABASE IF EXISTS {draft} WITH (FORCE)")).await?;
    connection.batch_execute(&format!("CREATE DATABASE {draft} TEMPLATE template0")).await?;
    let url = url_of(&cluster()?, &draft)?;
    crate::migrate(&url).await?;
    let (create_role, grant) = service_role_statements()?;
    if !has(connection, "pg_roles WHERE rolname = ", SERVICE_ROLE).await? {
        connection.batch_execute(create_role).await?;
    }
    Connector::new(&url)?.connect().await?.batch_execute(grant).await?;
    // The migrator's connection may still be on its way out.
    connection
        .batch_execute(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{draft}'"
        ))
        .await?;
    connection.batch_execute(&format!("ALTER DATABASE {draft} RENAME TO {TEMPLATE}")).await?;
    Ok(())
}
