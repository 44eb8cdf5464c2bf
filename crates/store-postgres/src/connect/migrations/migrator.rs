//! Runs migrations beside active servers: one migrator at a time, and no long wait in a lock queue.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::time::{Instant, sleep};
use tokio_postgres::Client;
use tokio_postgres::error::{Error, SqlState};

use super::{Migration, applied};
use crate::connect::connection::Connector;

/// The advisory lock of the migrator: `cuepoint` in ASCII.
const LOCK: i64 = 7_166_745_915_609_935_476;
/// Interval at which a migrator checks whether another one has finished.
const LOCK_ASKED_AFTER: Duration = Duration::from_millis(250);
/// Lock timeout of a transaction, in milliseconds. Meanwhile every statement of the servers that needs the
/// same table queues behind it, and those time out after 1200 ms themselves.
const LOCK_TIMEOUT: u32 = 1_000;

/// The table of applied versions, as Diesel creates it.
const TABLE_OF_VERSIONS: &str = "CREATE TABLE IF NOT EXISTS __diesel_schema_migrations (version VARCHAR(50) \
    PRIMARY KEY NOT NULL, run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)";
const ADD_VERSION: &str = "INSERT INTO __diesel_schema_migrations (version) VALUES ($1)";
#[cfg(feature = "testing")]
const REMOVE_VERSION: &str = "DELETE FROM __diesel_schema_migrations WHERE version = $1";

/// The oldest transaction of this database, and its age in seconds; not every role may see those of other
/// roles.
const OLDEST_TRANSACTION: &str = "SELECT pid, extract(epoch FROM now() - xact_start)::bigint \
    FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() \
    AND xact_start IS NOT NULL ORDER BY xact_start LIMIT 1";

/// How long a migrator retries to get the locks of one migration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// The total time.
    pub(crate) total: Duration,
    /// The pause between two attempts, in which the statements that queued behind the migrator are executed.
    pub(crate) pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { total: Duration::from_secs(300), pause: Duration::from_secs(3) }
    }
}

/// A connection that holds the migrators' lock.
pub(super) struct Migrator {
    client: Client,
    patience: Patience,
}

impl Migrator {
    /// Waits until no other migrator is active.
    ///
    /// It polls outside a transaction: `CREATE INDEX CONCURRENTLY` waits for every older transaction, so a
    /// migrator that waited for the lock inside one would deadlock with it.
    pub(super) async fn start(connector: &Connector, patience: Patience) -> anyhow::Result<Self> {
        let client = connector.client().await?;
        let locks = patience.total.as_millis();
        client
            .batch_execute(&format!(
                "SET application_name = 'cuepoint migrate'; SET statement_timeout = 0; SET lock_timeout = {locks}; \
                 SET idle_in_transaction_session_timeout = 0"
            ))
            .await?;
        let mut waits = false;
        while !client.query_one("SELECT pg_try_advisory_lock($1)", &[&LOCK]).await?.get::<_, bool>(0) {
            if !waits {
                tracing::info!("another server is migrating the database; waiting until it has finished");
                waits = true;
            }
            sleep(LOCK_ASKED_AFTER).await;
        }
        Ok(Self { client, patience })
    }

    /// Releases the migrators' lock.
    pub(super) async fn finish(self) -> anyhow::Result<()> {
        self.client.execute("SELECT pg_advisory_unlock($1)", &[&LOCK]).await?;
        Ok(())
    }

    /// The applied versions.
    pub(super) async fn applied(&self) -> anyhow::Result<BTreeSet<String>> {
        Ok(applied(&self.client).await?)
    }

    /// Creates the table of applied versions if it is missing.
    pub(super) async fn create_table_of_versions(&self) -> anyhow::Result<()> {
        Ok(self.client.batch_execute(TABLE_OF_VERSIONS).await?)
    }

    /// Applies a migration and records its version.
    pub(super) async fn apply(&mut self, migration: &Migration) -> anyhow::Result<()> {
        self.run(migration, migration.up, ADD_VERSION).await
    }

    /// Reverts a migration and removes its version.
    #[cfg(feature = "testing")]
    pub(super) async fn revert(&mut self, migration: &Migration) -> anyhow::Result<()> {
        self.run(migration, migration.down, REMOVE_VERSION).await
    }

    /// Runs the statements of a migration, and retries while other transactions hold locks that it needs. Patience begins
    /// with the first wait, because a check or an index of a large table takes long without waiting. An index that was built
    /// is not built again.
    async fn run(&mut self, migration: &Migration, sql: &str, note: &str) -> anyhow::Result<()> {
        let name = migration.name;
        let (mut waits_since, mut done) = (None, 0);
        loop {
            let done_before = done;
            let ran = if migration.in_transaction {
                self.transaction(sql, note, &migration.version()).await
            } else {
                self.one_by_one(sql, note, &migration.version(), &mut done).await
            };
            let Err(error) = ran else { return Ok(()) };
            if !is_lock_conflict(&error) {
                return Err(error).with_context(|| format!("migration {name} failed"));
            }
            let (pid, age_seconds) = self.oldest_transaction().await?.unzip();
            if done > done_before {
                waits_since = None;
            }
            let start = *waits_since.get_or_insert_with(Instant::now);
            let waited_seconds = start.elapsed().as_secs();
            if start.elapsed() >= self.patience.total {
                bail!(
                    "migration {name} could not get a lock within {waited_seconds} s: end the transactions \
                     that hold it, and migrate again"
                );
            }
            tracing::warn!(
                migration = name,
                waited_seconds,
                oldest_transaction_pid = pid,
                oldest_transaction_seconds = age_seconds,
                %error,
                "a migration waits for a lock that another transaction holds"
            );
            sleep(self.patience.pause).await;
        }
    }

    /// Runs the statements in one transaction.
    async fn transaction(&mut self, sql: &str, note: &str, version: &str) -> Result<(), Error> {
        let transaction = self.client.transaction().await?;
        transaction.batch_execute(&format!("SET LOCAL lock_timeout = {LOCK_TIMEOUT}")).await?;
        transaction.batch_execute(sql).await?;
        transaction.execute(note, &[&version]).await?;
        transaction.commit().await
    }

    /// Runs each statement by itself: several in one query would be one transaction.
    ///
    /// `CONCURRENTLY` may wait for locks as long as patience lasts, since neither reads nor writes queue
    /// behind it, and it waits for the end of every transaction that began before it.
    ///
    /// `done` is the number of indexes that are built, which are skipped, and is increased. Each begins with the statement that
    /// drops an invalid one.
    async fn one_by_one(
        &mut self,
        sql: &str,
        note: &str,
        version: &str,
        done: &mut usize,
    ) -> Result<(), Error> {
        for index in indexes(statements(sql)).iter().skip(*done) {
            for statement in index {
                self.client.batch_execute(statement).await?;
            }
            *done = done.saturating_add(1);
        }
        self.client.execute(note, &[&version]).await?;
        Ok(())
    }

    async fn oldest_transaction(&self) -> Result<Option<(i32, i64)>, Error> {
        let row = self.client.query_opt(OLDEST_TRANSACTION, &[]).await?;
        Ok(row.map(|row| (row.get(0), row.get(1))))
    }
}

/// Whether the statement would have succeeded without concurrent transactions.
fn is_lock_conflict(error: &Error) -> bool {
    error
        .code()
        .is_some_and(|code| [SqlState::LOCK_NOT_AVAILABLE, SqlState::T_R_DEADLOCK_DETECTED].contains(code))
}

/// Splits a migration without a transaction into its statements, without its comments.
fn statements(sql: &str) -> Vec<String> {
    let lines: Vec<&str> = sql.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
    let text = lines.join("\n");
    text.split(';').map(str::trim).filter(|statement| !statement.is_empty()).map(str::to_owned).collect()
}

/// Groups statements by index: each group begins by dropping it.
fn indexes(statements: Vec<String>) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    for statement in statements {
        match groups.last_mut() {
            Some(group) if !statement.starts_with("DROP ") => group.push(statement),
            _ => groups.push(vec![statement]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::migrations::MIGRATIONS;

    #[test]
    fn statements_are_grouped_by_index() {
        let sql =
            "DROP INDEX a; CREATE INDEX a ON b (c); DROP INDEX d; CREATE INDEX d ON b (e); DROP INDEX f;";
        let groups = indexes(statements(sql));
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
        assert_eq!(groups[1], ["DROP INDEX d", "CREATE INDEX d ON b (e)"]);
    }

    #[test]
    fn migration_files_are_split_into_statements_without_comments() {
        let sql = "-- Why; and how.\nDROP INDEX CONCURRENTLY IF EXISTS a;\nCREATE INDEX CONCURRENTLY a\n    ON b (c);\n";
        let separated = ["DROP INDEX CONCURRENTLY IF EXISTS a", "CREATE INDEX CONCURRENTLY a\n    ON b (c)"];
        assert_eq!(statements(sql), separated);
        assert_eq!(statements("-- Nothing.\n"), [""; 0]);
    }

    #[test]
    fn non_transactional_migrations_rebuild_indexes_with_concurrent_statements() {
        for migration in MIGRATIONS.iter().filter(|migration| !migration.in_transaction) {
            let name = migration.name;
            let directions = [statements(migration.up), statements(migration.down)];
            for statement in directions.iter().flatten() {
                assert!(
                    statement.contains(" CONCURRENTLY "),
                    "{name}: {statement} would block reads or writes"
                );
            }
            let first = directions[0].first().unwrap();
            assert!(first.starts_with("DROP INDEX CONCURRENTLY IF EXISTS "), "{name}: {first}");
        }
    }
}
