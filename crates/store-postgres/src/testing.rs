//! Fresh databases for tests, each cloned from a template that is migrated once.

use std::collections::BTreeSet;
use std::mem;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, ensure};
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::Plan;
use diesel::sql_types::{Bool, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use uuid::Uuid;

use crate::connect::connection::Connector;
use crate::connect::migrations::{self, MIGRATIONS, Migration, Patience};
use crate::writer;

/// The environment variable with the superuser's URL of a throw-away cluster.
const CLUSTER: &str = "CUEPOINT_TEST_POSTGRES_URL";
/// The template, named by a hash of the migrations in this program.
const TEMPLATE: &str = concat!("cuepoint_template_", env!("MIGRATIONS_HASH"));
/// The advisory lock for the creation of the template, one more than the migrations' own.
const LOCK: &str = "7166745915609935477";

/// The databases of this process that are no longer used: the next test removes them, so that those of a whole
/// run do not have to fit on the disk at once.
static UNUSED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The document with the statements that create the role of servers that own nothing, and that role's name
/// there.
const GUIDE: &str = include_str!("../../../docs/guide/postgresql.md");
const SERVICE_ROLE: &str = "cuepoint_server";

/// A test's own migration, applied after those of this program.
#[derive(Clone, Copy, Debug)]
pub struct ExtraMigration {
    /// `<stamp>_<name>`.
    pub name: &'static str,
    /// The statements that apply it.
    pub up: &'static str,
    /// Whether it runs in one transaction.
    pub in_transaction: bool,
}

/// A test's own database, with every migration applied. After its drop, the creation of the next one removes
/// it; the last ones are removed with their cluster.
#[derive(Debug)]
pub struct TestDatabase {
    url: String,
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Some((_, name)) = self.url.rsplit_once('/') {
            UNUSED.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
        }
    }
}

impl TestDatabase {
    /// Creates a fresh database.
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

    /// Creates a fresh database without any migration.
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

    /// Copies the database as it is now, after closing all connections to it.
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

    /// The URL of the database.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The URL of the database for the role that docs/guide/postgresql.md creates for servers that own nothing.
    ///
    /// # Panics
    /// Never, since every URL of a test database names its user.
    #[must_use]
    #[expect(clippy::panic, reason = "a test without its database has failed")]
    pub fn service_url(&self) -> String {
        let Some((_, place)) = self.url.split_once('@') else { panic!("the URL names no user") };
        format!("postgres://{SERVICE_ROLE}@{place}")
    }

    /// Reverts every migration.
    ///
    /// # Errors
    /// When a migration cannot be reverted.
    pub async fn revert(&self) -> anyhow::Result<()> {
        migrations::revert(&Connector::new(&self.url)?, MIGRATIONS).await
    }

    /// Returns the tables that a group of plans locks in the mode of writes or of row locks; without plans,
    /// those that the proof locks. Nothing is committed.
    ///
    /// # Errors
    /// When a plan is rejected or a statement fails.
    pub async fn tables_locked_by(
        &self,
        plans: &[Plan],
        currency: &Currency,
    ) -> anyhow::Result<BTreeSet<String>> {
        let connection = Connector::new(&self.url)?.connect().await?;
        let plans: Vec<&Plan> = plans.iter().collect();
        writer::tables_locked_by(&connection, &plans, plans.is_empty(), currency).await
    }

    /// Applies the missing migrations of this program and then those of the test, as a server does at its
    /// start, and returns their names. It retries for as long as `patience` to get a lock.
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

/// The SQL blocks of docs/guide/postgresql.md about the role of servers that own nothing: the one that creates it,
/// and the owner's grants.
///
/// # Errors
/// When the document lacks them.
pub fn service_role_statements() -> anyhow::Result<(&'static str, &'static str)> {
    let blocks = GUIDE.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next());
    let ours: Vec<&str> = blocks.filter(|block| block.contains(SERVICE_ROLE)).collect();
    let [create, grant] = ours.as_slice() else {
        anyhow::bail!(
            "docs/guide/postgresql.md has {} blocks of SQL that name {SERVICE_ROLE}, not 2",
            ours.len()
        );
    };
    ensure!(create.starts_with("CREATE ROLE"), "the first block does not create the role");
    Ok((create, grant))
}

#[expect(clippy::disallowed_methods, reason = "only the environment names the cluster of the tests")]
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
    let mut connection = administer().await?;
    let unused = mem::take(&mut *UNUSED.lock().unwrap_or_else(PoisonError::into_inner));
    for database in unused {
        connection.batch_execute(&format!("DROP DATABASE {database} WITH (FORCE)")).await?;
    }
    connection.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await?;
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

/// Migrates a database under another name and renames it when it is complete, so that no incomplete template
/// is used.
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
    // The migrator's connection may still be closing.
    connection
        .batch_execute(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{draft}'"
        ))
        .await?;
    connection.batch_execute(&format!("ALTER DATABASE {draft} RENAME TO {TEMPLATE}")).await?;
    Ok(())
}
