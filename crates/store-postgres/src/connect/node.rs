//! The description of a node by itself, and the locks of servers: one excludes a restore, one shows the
//! feature levels that they know.

use cuepoint_domain::operation::feature_level::FeatureLevel;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use tokio_postgres::Client;

use crate::connect::failure::{DatabaseFailure, Refusal};
use crate::schema::deployment;

/// The advisory lock that every connection of a server shares and a restore holds exclusively: `restore!` in
/// ASCII.
pub(crate) const RESTORE_LOCK: i64 = 0x7265_7374_6f72_6521;

/// The first key of the advisory lock that every connection of a server has shared since the first version:
/// `levl` in ASCII. The second key is the newest feature level that the server knows.
pub(crate) const LEVEL_LOCKS: i32 = 0x6c65_766c;

/// Shares both locks for the lifetime of the session; false while a restore holds its own.
pub(crate) const SHARE_LOCKS: &str =
    "SELECT pg_try_advisory_lock_shared($1) AND pg_try_advisory_lock_shared($2, $3) AS shared";

/// The setting that each connection sends as a startup option; if it is missing, so are the time limits.
pub(crate) const OPTIONS_ARRIVED: &str = "cuepoint.options";

/// Describes a node.
const DESCRIBE: &str = "SELECT \
    NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' AS writable, \
    CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_walfile_name(pg_current_wal_insert_lsn()) END AS wal_file, \
    (SELECT system_identifier FROM pg_control_system()) AS system_identifier, \
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS clock_micros, \
    pg_backend_pid() AS backend, \
    current_setting('cuepoint.options', true) IS NOT DISTINCT FROM 'arrived' AS options_arrived";

/// The description of a node.
#[derive(QueryableByName, Debug)]
pub(crate) struct Node {
    #[diesel(sql_type = Bool)]
    pub(crate) writable: bool,
    /// The WAL file that it writes, whose name begins with the timeline; `None` on a standby.
    #[diesel(sql_type = Nullable<Text>)]
    pub(crate) wal_file: Option<String>,
    #[diesel(sql_type = BigInt)]
    pub(crate) system_identifier: i64,
    /// Its clock, in microseconds since 1970.
    #[diesel(sql_type = BigInt)]
    pub(crate) clock_micros: i64,
    /// The process id of the connection's backend.
    #[diesel(sql_type = Integer)]
    pub(crate) backend: i32,
    /// Whether the startup options arrived, including the time limits.
    #[diesel(sql_type = Bool)]
    pub(crate) options_arrived: bool,
}

impl Node {
    /// Queries the node behind a connection.
    pub(crate) async fn describe(mut connection: &AsyncPgConnection) -> Result<Self, DatabaseFailure> {
        Ok(diesel::sql_query(DESCRIBE).get_result(&mut connection).await?)
    }

    /// Queries the node behind a connection of the driver itself.
    pub(crate) async fn describe_to(client: &Client) -> Result<Self, tokio_postgres::Error> {
        let row = client.query_one(DESCRIBE, &[]).await?;
        Ok(Self {
            writable: row.try_get("writable")?,
            wal_file: row.try_get("wal_file")?,
            system_identifier: row.try_get("system_identifier")?,
            clock_micros: row.try_get("clock_micros")?,
            backend: row.try_get("backend")?,
            options_arrived: row.try_get("options_arrived")?,
        })
    }

    /// The timeline that it writes, as the deployment stores it; `None` on a standby.
    pub(crate) fn stored_timeline(&self) -> Option<i64> {
        self.timeline().map(i64::from)
    }

    /// The timeline that it writes; `None` on a standby.
    pub(crate) fn timeline(&self) -> Option<u32> {
        u32::from_str_radix(self.wal_file.as_deref()?.get(..8)?, 16).ok()
    }
}

/// Shares the locks of a server for the lifetime of the connection.
pub(crate) async fn share_locks(mut connection: &AsyncPgConnection) -> Result<(), DatabaseFailure> {
    let Shared { shared } = diesel::sql_query(SHARE_LOCKS)
        .bind::<BigInt, _>(RESTORE_LOCK)
        .bind::<Integer, _>(LEVEL_LOCKS)
        .bind::<Integer, _>(i32::from(FeatureLevel::NEWEST.number()))
        .get_result(&mut connection)
        .await?;
    if shared { Ok(()) } else { Err(Refusal::Restoring.into()) }
}

/// Refuses a database that was copied to another store. The mark is set under the lock that servers share.
pub(crate) async fn ensure_unmarked(mut connection: &AsyncPgConnection) -> Result<(), DatabaseFailure> {
    let marked = deployment::table.filter(deployment::copy_state.is_not_null()).count();
    let marked: i64 = marked.get_result(&mut connection).await?;
    if marked == 0 { Ok(()) } else { Err(Refusal::Copied.into()) }
}

/// Whether the locks are shared now.
#[derive(QueryableByName)]
struct Shared {
    #[diesel(sql_type = Bool)]
    shared: bool,
}
