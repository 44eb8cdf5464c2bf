//! Preparation of a database restored from a backup: ids and tokens issued after the backup must not be
//! confused with those issued after the restore.

use anyhow::{Context, anyhow, ensure};
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::Restored;
use cuepoint_domain::user::challenge::Purpose;
use cuepoint_store_sql::schema::{challenges, refresh_tokens, sessions};
use cuepoint_store_sql::sql_types::UtcTime;
use diesel::dsl::{not, sql};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};

use crate::PostgresOptions;
use crate::connect::connection::Connector;
use crate::connect::deployment::ensure_name;
use crate::connect::failure::DatabaseFailure;
use crate::connect::migrations::{self, MIGRATIONS, Patience};
use crate::connect::node::{Node, RESTORE_LOCK};
use crate::maintenance::prepared_database::PreparedDatabase;
use crate::schema::deployment;
use crate::statement::query;
use crate::tables::positions;
use crate::tables::sessions::outlasts_restore;

/// The distance by which each sequence is moved past its maximum: presumably more numbers than servers used
/// after the backup.
const AHEAD: i64 = 1_000_000;

/// Prepares a restored database for servers; `epoch` must be one that it has never had.
///
/// # Errors
/// When the database has another name, a server is connected to it, or it cannot be migrated. No error
/// repeats the URL.
pub(crate) async fn restore(
    options: &PostgresOptions,
    currency: &Currency,
    database_name: &str,
    epoch: i64,
) -> anyhow::Result<Restored> {
    let connector = Connector::new(&options.url)?.for_restore();
    let mut connection = connector.connect().await?;
    ensure_name(&mut connection, database_name).await?;
    let alone: bool = diesel::dsl::sql::<Bool>("SELECT pg_try_advisory_lock(")
        .bind::<BigInt, _>(RESTORE_LOCK)
        .sql(")")
        .get_result(&mut connection)
        .await?;
    ensure!(alone, "a server is connected to this database: stop all servers first");
    if options.migrate_on_start {
        migrations::migrate(&connector, MIGRATIONS, Patience::default()).await?;
    } else {
        migrations::ensure_migrated(&connector).await?;
    }
    migrations::settle_currency(&connector, currency).await?;
    connection.batch_execute("SET statement_timeout = 0").await?;
    let (sessions_ended, cookies_kept) = connection
        .transaction(async |connection| prepare(connection, epoch).await)
        .await
        .map_err(|failure| anyhow!(failure))
        .context("the database could not be prepared")?;
    // Explicitly, since the server notices the end of the connection a little later.
    connection.batch_execute(&format!("SELECT pg_advisory_unlock({RESTORE_LOCK})")).await?;
    let data = PreparedDatabase { options: options.clone(), currency: currency.clone() };
    Ok(Restored { epoch, sessions_ended, cookies_kept, data: Box::new(data) })
}

/// Leaves a gap after the newest position, because clients may have seen later ones, and notes the timeline of the
/// node, unless servers of an earlier version may use the data.
async fn leave_gap(connection: &mut AsyncPgConnection, timeline: Option<i64>) -> Result<(), DatabaseFailure> {
    let level: i16 = deployment::table.select(deployment::feature_level).get_result(connection).await?;
    if FeatureLevel::numbered(level).leaves_position_gaps() {
        positions::leave_gap(connection).await?;
        diesel::update(deployment::table).set(deployment::timeline.eq(timeline)).execute(connection).await?;
    }
    Ok(())
}

/// Begins the epoch, moves the sequences and positions, ends all sessions but the cookies of guest accounts, all refresh
/// tokens and challenges, and returns the numbers of ended sessions and kept cookies. Tokens that restore an address
/// stay valid, so that a restore helps no thief of a login.
async fn prepare(connection: &mut AsyncPgConnection, epoch: i64) -> Result<(usize, usize), DatabaseFailure> {
    let node = Node::describe(connection).await?;
    let system_identifier = node.system_identifier;
    diesel::update(deployment::table)
        .set((deployment::epoch.eq(epoch), deployment::system_identifier.eq(system_identifier)))
        .execute(connection)
        .await?;
    leave_gap(connection, node.stored_timeline()).await?;
    query(include_str!("advance_sequences.sql")).bind::<BigInt, _>(AHEAD).execute(connection).await?;
    diesel::delete(refresh_tokens::table).execute(connection).await?;
    let restores = challenges::purpose.eq(Purpose::EmailRestore.name());
    diesel::update(challenges::table.filter(challenges::ended_at.is_null().and(not(restores))))
        .set(challenges::ended_at.eq(sql::<Nullable<UtcTime>>("CURRENT_TIMESTAMP")))
        .execute(connection)
        .await?;
    let ended = diesel::update(sessions::table)
        .filter(sessions::ended_at.is_null().and(not(outlasts_restore())))
        .set(sessions::ended_at.eq(sql::<Nullable<UtcTime>>("CURRENT_TIMESTAMP")))
        .execute(connection)
        .await?;
    let live =
        sessions::table
            .filter(sessions::ended_at.is_null())
            .filter(sessions::expires_at.gt(sql::<UtcTime>("CURRENT_TIMESTAMP")));
    let kept: i64 = live.count().get_result(connection).await?;
    Ok((ended, usize::try_from(kept).unwrap_or(usize::MAX)))
}
