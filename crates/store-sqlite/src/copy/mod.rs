//! SQLite as the source or the target of a copy between stores.

mod cells;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use async_trait::async_trait;
use cuepoint_domain::audit::Auditor;
use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::copy::{
    CopiedRow, CopyEndpoint, CopyOrigin, CopyRole, CopySession, Deployment, Mark, Value,
};
use cuepoint_store_sql::table::Table;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, SmallInt, Text};
use tokio::task::yield_now;
use uuid::Uuid;

use crate::connect::application;
use crate::connect::connection::{Access, open, value};
use crate::connect::data_directory::{DataDirectory, existing_database};
use crate::connect::deployment::{mark_of, uuid};
use crate::connect::in_use;
use crate::connect::migrations::{self, MIGRATIONS};
use crate::maintenance::restore::ensure_own_schema;
use crate::ports::show_ledger;
use crate::schema::deployment;
use crate::tables::counters;
use cells::{SqliteCells, Statement};

/// The pages in memory while a target is written: 256 MiB, since rows are not added in the order of every
/// index.
const CACHE: &str = "PRAGMA cache_size = -262144";
/// Whether the deployment has a column: a database of an earlier version lacks some, and a new one all.
const HAS_COLUMN: &str = "SELECT count(*) FROM pragma_table_info('deployment') WHERE name = ";
/// Records the deployment of a target. The identity of the database is its own.
const RECORD: &str = "INSERT INTO deployment \
    (singleton, currency, scale, created_at, database_id, epoch, feature_level, origin_copy_id) \
    VALUES (1, ?, ?, ?, randomblob(16), ?, ?, ?) ON CONFLICT (singleton) DO UPDATE SET \
    created_at = excluded.created_at, epoch = excluded.epoch, feature_level = excluded.feature_level, \
    origin_copy_id = excluded.origin_copy_id";
/// Records the copy that is begun into a target, whose deployment is not known otherwise before the commit.
const BEGIN: &str = "INSERT INTO deployment \
    (singleton, currency, scale, created_at, database_id, epoch, feature_level, begun_copy_id) \
    VALUES (1, ?, ?, ?, randomblob(16), ?, ?, ?) ON CONFLICT (singleton) DO UPDATE SET \
    begun_copy_id = excluded.begun_copy_id";
const MARK: &str = "UPDATE deployment SET copy_state = ?, copy_id = ?, copy_target = ?";

/// A data directory as an endpoint of a copy.
#[derive(Clone, Debug)]
pub struct SqliteCopyEndpoint {
    directory: PathBuf,
    currency: Currency,
}

impl SqliteCopyEndpoint {
    /// The data directory at a path, which is not opened yet.
    #[must_use]
    pub const fn new(directory: PathBuf, currency: Currency) -> Self {
        Self { directory, currency }
    }
}

/// The identity of a data directory.
fn identity(directory: &Path) -> anyhow::Result<String> {
    Ok(format!("the data directory {}", fs::canonicalize(directory)?.display()))
}

#[async_trait]
impl CopyEndpoint for SqliteCopyEndpoint {
    fn backend(&self) -> &'static str {
        "sqlite"
    }

    async fn open(&self, role: CopyRole) -> anyhow::Result<Box<dyn CopySession>> {
        if role == CopyRole::Source {
            existing_database(&self.directory)?;
        }
        let directory = DataDirectory::open(&self.directory)?;
        directory.ensure_restored()?;
        in_use::ensure_database(directory.path())?;
        let path = directory.database();
        let access = match role {
            CopyRole::Source => Access::Writer,
            CopyRole::Target => {
                application::ensure_no_backup(&path)?;
                Access::Creator
            }
        };
        let mut connection = open(&path, access)?;
        in_use::ensure_content(directory.path(), &mut connection)?;
        let is_backup = application::is_backup(&mut connection)?;
        match role {
            CopyRole::Source => {
                migrations::ensure_migrated(&mut connection, MIGRATIONS)?;
                ensure_own_schema(&mut connection, MIGRATIONS)?;
                let sound = value(&mut connection, "PRAGMA quick_check(1)")?;
                ensure!(sound == "ok", "the database is damaged: {sound}");
                // Not only a snapshot: nothing may be committed between the rows that are read and the mark.
                connection.batch_execute("BEGIN IMMEDIATE")?;
            }
            CopyRole::Target => {
                ensure_own_schema(&mut connection, MIGRATIONS)?;
                migrations::migrate(&mut connection, MIGRATIONS)?;
                in_use::record(directory.path())?;
                connection.batch_execute(CACHE)?;
                connection.batch_execute("BEGIN IMMEDIATE")?;
            }
        }
        let identity = identity(directory.path())?;
        let currency = self.currency.clone();
        Ok(Box::new(SqliteCopySession {
            connection,
            directory,
            identity,
            currency,
            role,
            is_backup,
            in_transaction: true,
        }))
    }

    async fn look_up(&self, alone: bool) -> anyhow::Result<CopyOrigin> {
        let path = existing_database(&self.directory)?;
        in_use::ensure_database(&self.directory)?;
        let _lock = alone.then(|| DataDirectory::open(&self.directory)).transpose()?;
        let mut connection = open(&path, Access::Reader)?;
        let identity = identity(&self.directory)?;
        let copy = stored_id(&mut connection, deployment::origin_copy_id::NAME)?;
        let begun = stored_id(&mut connection, deployment::begun_copy_id::NAME)?;
        Ok(CopyOrigin { identity, copy, begun })
    }
}

/// The id in a column of the deployment, if there is one.
fn stored_id(connection: &mut SqliteConnection, column: &str) -> anyhow::Result<Option<Uuid>> {
    if value(connection, &format!("{HAS_COLUMN}'{column}'"))? == "0" {
        return Ok(None);
    }
    let stored = format!("SELECT hex({column}) FROM deployment WHERE {column} IS NOT NULL");
    let stored: Option<String> = diesel::dsl::sql::<Text>(&stored).get_result(connection).optional()?;
    Ok(stored.map(|id| Uuid::try_parse(&id)).transpose()?)
}

/// A data directory in use by this process, with a connection in a transaction. Methods that take long let
/// the other session proceed first.
struct SqliteCopySession {
    // Closed before the directory is unlocked.
    connection: SqliteConnection,
    directory: DataDirectory,
    identity: String,
    currency: Currency,
    role: CopyRole,
    is_backup: bool,
    /// Whether the transaction of the beginning is open.
    in_transaction: bool,
}

#[async_trait]
impl CopySession for SqliteCopySession {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn is_backup(&self) -> bool {
        self.is_backup
    }

    async fn deployment(&mut self) -> anyhow::Result<Option<Deployment>> {
        type Columns = (String, i16, i64, i64, i16, Option<Vec<u8>>);
        let columns = (
            deployment::currency,
            deployment::scale,
            deployment::created_at,
            deployment::epoch,
            deployment::feature_level,
            deployment::origin_copy_id,
        );
        let row: Option<Columns> =
            deployment::table.select(columns).get_result(&mut self.connection).optional()?;
        let Some((currency, scale, created_at, epoch, feature_level, origin)) = row else { return Ok(None) };
        let created_at = Timestamp::from_unix_micros(created_at);
        let mark = mark_of(&mut self.connection)?;
        Ok(Some(Deployment {
            currency,
            scale,
            created_at,
            epoch,
            feature_level,
            mark,
            origin: uuid(origin)?,
        }))
    }

    async fn begin(&mut self, copy: Uuid, deployment: &Deployment) -> anyhow::Result<()> {
        diesel::sql_query(BEGIN)
            .bind::<Text, _>(&deployment.currency)
            .bind::<SmallInt, _>(deployment.scale)
            .bind::<BigInt, _>(deployment.created_at.unix_micros())
            .bind::<BigInt, _>(deployment.epoch)
            .bind::<SmallInt, _>(deployment.feature_level)
            .bind::<Binary, _>(copy.as_bytes().as_slice())
            .execute(&mut self.connection)?;
        Ok(self.connection.batch_execute("COMMIT; BEGIN IMMEDIATE")?)
    }

    async fn count(&mut self, table: &'static Table) -> anyhow::Result<u64> {
        let count = format!("SELECT count(*) FROM {}", table.name);
        let rows: i64 = diesel::dsl::sql::<BigInt>(&count).get_result(&mut self.connection)?;
        Ok(u64::try_from(rows)?)
    }

    async fn read(
        &mut self,
        table: &'static Table,
        after: Option<&[Value]>,
        limit: i64,
    ) -> anyhow::Result<Vec<CopiedRow>> {
        yield_now().await;
        let (columns, key) = (Table::names(table.columns), Table::names(table.key()));
        let from = format!("SELECT {columns} FROM {}", table.name);
        let end = format!(" ORDER BY {key} LIMIT {limit}");
        let rows: Vec<SqliteCells> = match after {
            None => Statement::of(&from, [], &end).load(&mut self.connection)?,
            Some(after) => {
                let (from, end) = (format!("{from} WHERE ({key}) > ("), format!("){end}"));
                Statement::of(&from, after.iter().cloned(), &end).load(&mut self.connection)?
            }
        };
        let currency = &self.currency;
        Ok(rows.into_iter().map(|cells| cells.values(table, currency)).collect::<Result<_, _>>()?)
    }

    async fn next_ids(&mut self) -> anyhow::Result<Vec<i64>> {
        Ok(counters::next_ids(&mut self.connection)?)
    }

    async fn audit(&mut self, auditor: &mut Auditor) -> anyhow::Result<()> {
        Ok(show_ledger(&mut self.connection, &self.currency, auditor, &|| true)?)
    }

    async fn insert(&mut self, table: &'static Table, rows: Vec<CopiedRow>) -> anyhow::Result<()> {
        yield_now().await;
        let statement = format!("INSERT INTO {} ({}) VALUES (", table.name, Table::names(table.columns));
        for row in rows {
            Statement::of(&statement, row, ")").execute(&mut self.connection)?;
        }
        Ok(())
    }

    async fn complete(&mut self, next_ids: &[i64], deployment: &Deployment) -> anyhow::Result<()> {
        counters::set_next_ids(&mut self.connection, next_ids)?;
        diesel::sql_query(RECORD)
            .bind::<Text, _>(&deployment.currency)
            .bind::<SmallInt, _>(deployment.scale)
            .bind::<BigInt, _>(deployment.created_at.unix_micros())
            .bind::<BigInt, _>(deployment.epoch)
            .bind::<SmallInt, _>(deployment.feature_level)
            .bind::<Nullable<Binary>, _>(
                deployment.origin.as_ref().map(Uuid::as_bytes).map(<[u8; 16]>::as_slice),
            )
            .execute(&mut self.connection)?;
        Ok(())
    }

    async fn commit(&mut self) -> anyhow::Result<()> {
        self.connection.batch_execute("COMMIT")?;
        self.in_transaction = false;
        self.connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")?;
        // The database may be new: its name in the directory, and the directory's own.
        let directory = self.directory.path();
        for folder in [Some(directory), directory.parent()].into_iter().flatten() {
            let synced = File::open(folder).and_then(|folder| folder.sync_all());
            synced.with_context(|| format!("the directory {} cannot be synced", folder.display()))?;
        }
        Ok(())
    }

    async fn mark(&mut self, mark: Option<&Mark>) -> anyhow::Result<()> {
        if self.in_transaction && self.role == CopyRole::Target {
            self.connection.batch_execute("ROLLBACK")?;
            self.in_transaction = false;
        }
        diesel::sql_query(MARK)
            .bind::<Nullable<Text>, _>(mark.map(|mark| mark.state.name()))
            .bind::<Nullable<Binary>, _>(mark.map(|mark| mark.copy.as_bytes().as_slice()))
            .bind::<Nullable<Text>, _>(mark.map(|mark| mark.target.as_str()))
            .execute(&mut self.connection)?;
        if self.in_transaction {
            // Only rows were read in it.
            self.connection.batch_execute("COMMIT")?;
            self.in_transaction = false;
        }
        Ok(())
    }

    async fn close(self: Box<Self>) -> anyhow::Result<()> {
        let mut end = self;
        let _ = end.connection.batch_execute("ROLLBACK");
        end.connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cuepoint_store_sql::copy::MarkState;

    use super::*;
    use crate::connect::data_directory::{RESTORING, database_in, with_ending};
    use crate::testing::TestDirectory;
    use crate::{SqliteStore, migrate};

    fn usd() -> Currency {
        Currency::new("USD", 2).unwrap()
    }

    #[tokio::test]
    async fn opening_the_source_of_a_copy_blocks_writes_by_other_processes() {
        let directory = TestDirectory::create();
        SqliteStore::open(directory.path(), usd()).unwrap().close().await;
        let mut end =
            SqliteCopyEndpoint::new(directory.path().to_owned(), usd()).open(CopyRole::Source).await.unwrap();
        // A process that takes no lock of the directory.
        let mut other = directory.connection();
        let change = "UPDATE ids SET next = next + 1";
        assert!(other.batch_execute(change).unwrap_err().to_string().contains("locked"));
        let mark = Mark { state: MarkState::Moving, copy: Uuid::nil(), target: "a place".to_owned() };
        end.mark(Some(&mark)).await.unwrap();
        assert_eq!(mark_of(&mut other).unwrap(), Some(mark.clone()));
        let moved = Mark { state: MarkState::Moved, ..mark };
        end.mark(Some(&moved)).await.unwrap();
        assert_eq!(mark_of(&mut other).unwrap(), Some(moved));
        end.close().await.unwrap();
        other.batch_execute(change).unwrap();
    }

    #[tokio::test]
    async fn no_database_is_created_in_a_directory_with_an_interrupted_restore() {
        let directory = TestDirectory::create();
        let database = database_in(directory.path());
        fs::write(with_ending(&database, RESTORING), "").unwrap();
        let place = SqliteCopyEndpoint::new(directory.path().to_owned(), usd());
        for refused in [migrate(directory.path()).err(), place.open(CopyRole::Target).await.err()] {
            let message = format!("{:#}", refused.unwrap());
            assert!(message.contains("was interrupted: run `cuepoint restore` again"), "{message}");
        }
        assert!(!database.exists());
    }
}
