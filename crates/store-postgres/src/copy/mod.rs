//! PostgreSQL as the source or the target of a copy between stores.

mod cells;

use anyhow::{Context, ensure};
use async_trait::async_trait;
use cuepoint_domain::audit::Auditor;
use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::copy::{
    CopiedRow, CopyEndpoint, CopyOrigin, CopyRole, CopySession, Deployment, Mark, Value,
};
use cuepoint_store_sql::schema::{COUNTERS, TABLES};
use cuepoint_store_sql::table::{Counter, Counting, Table};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Uuid as SqlUuid};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::connect::connection::Connector;
use crate::connect::deployment::{ensure_own_cluster, mark_of};
use crate::connect::migrations::{self, MIGRATIONS, Patience};
use crate::connect::node::{Node, RESTORE_LOCK};
use crate::ports::show_ledger;
use crate::schema::deployment;
use crate::tables::positions::is_one_waiting;
use cells::{InsertRows, PostgresCells, ReadRows};

/// The settings of the connection: a copy takes minutes, in which it also waits for the other session, and
/// its commits have to be durable.
const SETTINGS: &str = "SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0; \
    SET synchronous_commit = on";
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// Whether the deployment has a column: a database of an earlier version lacks some, and a new one all.
const HAS_COLUMN: &str = "SELECT EXISTS (SELECT FROM information_schema.columns \
    WHERE table_schema = current_schema() AND table_name = 'deployment' AND column_name = ";

/// A database as an endpoint of a copy.
#[derive(Clone)]
pub struct PostgresCopyEndpoint {
    url: String,
    /// The setting that gives the URL.
    setting: &'static str,
    currency: Currency,
}

impl std::fmt::Debug for PostgresCopyEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresCopyEndpoint")
            .field("url", &"[hidden]")
            .field("currency", &self.currency)
            .finish()
    }
}

impl PostgresCopyEndpoint {
    /// The database at a URL, which is never printed. Errors name the setting that gives it.
    #[must_use]
    pub const fn new(url: String, setting: &'static str, currency: Currency) -> Self {
        Self { url, setting, currency }
    }

    fn connector(&self) -> anyhow::Result<Connector> {
        Ok(Connector::given_by(self.setting, &self.url)?.for_restore().named("cuepoint storage copy"))
    }
}

/// Keeps servers out, provided that none is connected.
async fn lock(connection: &mut AsyncPgConnection) -> anyhow::Result<()> {
    let alone: bool = diesel::dsl::sql::<Bool>("SELECT pg_try_advisory_lock(")
        .bind::<BigInt, _>(RESTORE_LOCK)
        .sql(")")
        .get_result(connection)
        .await?;
    ensure!(alone, "a server is connected to this database: stop all servers first");
    Ok(())
}

/// Releases the lock: explicitly, since the server notices the end of a connection a little later.
async fn unlock(connection: &mut AsyncPgConnection) -> anyhow::Result<()> {
    let unlock = format!("SELECT pg_advisory_unlock({RESTORE_LOCK})");
    connection.batch_execute(&unlock).await.context("the lock of the database")
}

/// A unique name of the database.
async fn identity(connection: &mut AsyncPgConnection) -> anyhow::Result<String> {
    let name: String =
        diesel::dsl::sql::<Text>("SELECT current_database()::text").get_result(connection).await?;
    let system_identifier = Node::describe(connection).await?.system_identifier;
    Ok(format!("the PostgreSQL database {name} of the cluster {system_identifier}"))
}

/// The id in a column of the deployment, if there is one.
async fn stored_id(connection: &mut AsyncPgConnection, column: &str) -> anyhow::Result<Option<Uuid>> {
    let has_column: bool =
        diesel::dsl::sql::<Bool>(HAS_COLUMN).bind::<Text, _>(column).sql(")").get_result(connection).await?;
    if !has_column {
        return Ok(None);
    }
    let stored = format!("SELECT {column} FROM deployment");
    let stored = diesel::dsl::sql::<Nullable<SqlUuid>>(&stored).get_result::<Option<Uuid>>(connection);
    Ok(stored.await.optional()?.flatten())
}

#[async_trait]
impl CopyEndpoint for PostgresCopyEndpoint {
    fn backend(&self) -> &'static str {
        "postgres"
    }

    async fn open(&self, role: CopyRole) -> anyhow::Result<Box<dyn CopySession>> {
        let connector = self.connector()?;
        let mut connection = connector.connect().await?;
        lock(&mut connection).await?;
        connection.batch_execute(SETTINGS).await?;
        match role {
            CopyRole::Source => {
                migrations::ensure_migrated(&connector).await?;
                ensure_own_cluster(&mut connection).await?;
                ensure!(
                    !is_one_waiting(&mut connection).await?,
                    "operations of an earlier version have no position yet: start a server of this version, and \
                     stop it after ten seconds"
                );
                connection.batch_execute(SNAPSHOT).await?;
            }
            CopyRole::Target => {
                migrations::migrate(&connector, MIGRATIONS, Patience::default()).await?;
                connection.batch_execute("BEGIN").await?;
            }
        }
        let identity = identity(&mut connection).await?;
        Ok(Box::new(PostgresCopySession { connection, identity, currency: self.currency.clone() }))
    }

    async fn look_up(&self, alone: bool) -> anyhow::Result<CopyOrigin> {
        let mut connection = self.connector()?.connect().await?;
        if alone {
            lock(&mut connection).await?;
        }
        let identity = identity(&mut connection).await?;
        let copy = stored_id(&mut connection, deployment::origin_copy_id::NAME).await?;
        let begun = stored_id(&mut connection, deployment::begun_copy_id::NAME).await?;
        if alone {
            unlock(&mut connection).await?;
        }
        Ok(CopyOrigin { identity, copy, begun })
    }
}

/// A database in use by this process, with a connection in a transaction that also holds the lock of all
/// servers. The lock is lost with the connection, and then every method fails.
struct PostgresCopySession {
    connection: AsyncPgConnection,
    identity: String,
    currency: Currency,
}

/// A statement that reads the next id of a counter: greater than every id in use and, unless rows are never
/// deleted, every one that was used before.
fn next_id(Counter { sequence, counting, greatest, .. }: &Counter) -> String {
    match counting {
        Counting::Reserved | Counting::Generated => format!(
            "SELECT greatest((SELECT last_value + CASE WHEN is_called THEN seqincrement ELSE 0 END \
             FROM {sequence}, pg_sequence WHERE seqrelid = '{sequence}'::regclass), 1 + coalesce(({greatest}), 0))"
        ),
        Counting::Permanent => format!("SELECT 1 + coalesce(({greatest}), 0)"),
    }
}

#[async_trait]
impl CopySession for PostgresCopySession {
    fn identity(&self) -> &str {
        &self.identity
    }

    async fn deployment(&mut self) -> anyhow::Result<Option<Deployment>> {
        type Columns = (String, i16, OffsetDateTime, i64, i16, Option<Uuid>);
        let columns = (
            deployment::currency,
            deployment::scale,
            deployment::created_at,
            deployment::epoch,
            deployment::feature_level,
            deployment::origin_copy_id,
        );
        let row: Option<Columns> =
            deployment::table.select(columns).get_result(&mut self.connection).await.optional()?;
        let Some((currency, scale, created_at, epoch, feature_level, origin)) = row else { return Ok(None) };
        let (created_at, mark) = (Timestamp::new(created_at), mark_of(&mut self.connection).await?);
        Ok(Some(Deployment { currency, scale, created_at, epoch, feature_level, mark, origin }))
    }

    async fn begin(&mut self, copy: Uuid, copied: &Deployment) -> anyhow::Result<()> {
        let system_identifier = Node::describe(&self.connection).await?.system_identifier;
        diesel::insert_into(deployment::table)
            .values((
                deployment::currency.eq(&copied.currency),
                deployment::scale.eq(copied.scale),
                deployment::created_at.eq(copied.created_at.to_utc()),
                deployment::epoch.eq(copied.epoch),
                deployment::feature_level.eq(copied.feature_level),
                deployment::system_identifier.eq(system_identifier),
                deployment::begun_copy_id.eq(copy),
            ))
            .on_conflict(deployment::singleton)
            .do_update()
            .set(deployment::begun_copy_id.eq(copy))
            .execute(&mut self.connection)
            .await?;
        Ok(self.connection.batch_execute("COMMIT; BEGIN").await?)
    }

    async fn count(&mut self, table: &'static Table) -> anyhow::Result<u64> {
        let count = format!("SELECT count(*) FROM {}", table.name);
        let rows: i64 = diesel::dsl::sql::<BigInt>(&count).get_result(&mut self.connection).await?;
        Ok(u64::try_from(rows)?)
    }

    async fn read(
        &mut self,
        table: &'static Table,
        after: Option<&[Value]>,
        limit: i64,
    ) -> anyhow::Result<Vec<CopiedRow>> {
        let rows: Vec<PostgresCells> = ReadRows::of(table, after, limit)?.load(&mut self.connection).await?;
        let currency = &self.currency;
        Ok(rows.into_iter().map(|cells| cells.values(table, currency)).collect::<Result<_, _>>()?)
    }

    async fn next_ids(&mut self) -> anyhow::Result<Vec<i64>> {
        let mut next_ids = Vec::new();
        for counter in COUNTERS.iter() {
            let next = diesel::dsl::sql::<BigInt>(&next_id(counter)).get_result(&mut self.connection);
            next_ids.push(next.await?);
        }
        Ok(next_ids)
    }

    async fn audit(&mut self, auditor: &mut Auditor) -> anyhow::Result<()> {
        Ok(show_ledger(&mut self.connection, &self.currency, auditor).await?)
    }

    async fn insert(&mut self, table: &'static Table, rows: Vec<CopiedRow>) -> anyhow::Result<()> {
        InsertRows::of(table, rows, &self.currency)?.execute(&mut self.connection).await?;
        Ok(())
    }

    async fn complete(&mut self, next_ids: &[i64], copied: &Deployment) -> anyhow::Result<()> {
        for (Counter { sequence, .. }, next) in COUNTERS.iter().zip(next_ids) {
            // Unlike `setval`, it takes effect with the transaction.
            let restart = format!("ALTER SEQUENCE {sequence} RESTART WITH {next}");
            self.connection.batch_execute(&restart).await?;
        }
        let node = Node::describe(&self.connection).await?;
        let values = (
            deployment::created_at.eq(copied.created_at.to_utc()),
            deployment::epoch.eq(copied.epoch),
            deployment::feature_level.eq(copied.feature_level),
            deployment::system_identifier.eq(node.system_identifier),
            deployment::timeline.eq(node.stored_timeline()),
            deployment::origin_copy_id.eq(copied.origin),
        );
        diesel::insert_into(deployment::table)
            .values((deployment::currency.eq(&copied.currency), deployment::scale.eq(copied.scale), values))
            .on_conflict(deployment::singleton)
            .do_update()
            .set(values)
            .execute(&mut self.connection)
            .await?;
        // The audit's statements are planned for tables of this size.
        self.connection.batch_execute(&format!("ANALYZE {}", Table::list(TABLES))).await?;
        Ok(())
    }

    async fn commit(&mut self) -> anyhow::Result<()> {
        Ok(self.connection.batch_execute("COMMIT").await?)
    }

    async fn mark(&mut self, mark: Option<&Mark>) -> anyhow::Result<()> {
        self.connection.batch_execute("ROLLBACK").await?;
        diesel::update(deployment::table)
            .set((
                deployment::copy_state.eq(mark.map(|mark| mark.state.name())),
                deployment::copy_id.eq(mark.map(|mark| mark.copy)),
                deployment::copy_target.eq(mark.map(|mark| mark.target.as_str())),
            ))
            .execute(&mut self.connection)
            .await?;
        Ok(())
    }

    async fn close(self: Box<Self>) -> anyhow::Result<()> {
        let mut end = self;
        end.connection.batch_execute("ROLLBACK").await?;
        unlock(&mut end.connection).await
    }
}
