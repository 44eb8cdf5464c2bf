//! The end of an upgrade: from then on, servers write values that earlier versions cannot read.

use anyhow::{Context, ensure};
use cuepoint_domain::operation::feature_level::FeatureLevel;
use diesel::QueryableByName;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};

use crate::connect::connection::Connector;
use crate::connect::deployment::ensure_name;
use crate::connect::migrations;
use crate::connect::node::{LEVEL_LOCKS, Node, RESTORE_LOCK};
use crate::schema::deployment;
use crate::statement::query;

/// Counts the sessions of servers that do not know a feature level.
const OLDER_SESSIONS: &str = include_str!("older_sessions.sql");

/// Marks the erasures by servers of the first version for completion.
const COMPLETE_ERASURES: &str = include_str!("complete_erasures.sql");

#[derive(QueryableByName)]
struct Older {
    #[diesel(sql_type = BigInt)]
    sessions: i64,
}

/// Raises the feature level of a deployment to the newest one, and returns the previous one. Running servers
/// follow within seconds.
///
/// # Errors
/// When the database has another name, lacks migrations, has never been started on, or a server of an earlier
/// version is connected to it. No error repeats the URL.
pub async fn finalize_upgrade(url: &str, database_name: &str) -> anyhow::Result<FeatureLevel> {
    let connector = Connector::new(url)?.named("cuepoint finalize-upgrade");
    migrations::ensure_migrated(&connector).await?;
    let mut connection = connector.connect().await?;
    ensure_name(&mut connection, database_name).await?;
    let newest = FeatureLevel::NEWEST.number();
    let older: Older = query(OLDER_SESSIONS)
        .bind::<BigInt, _>(RESTORE_LOCK)
        .bind::<Integer, _>(LEVEL_LOCKS)
        .bind::<Integer, _>(i32::from(newest))
        .get_result(&mut connection)
        .await?;
    ensure!(
        older.sessions == 0,
        "servers of an earlier version have {} connections to this database: stop all of them first",
        older.sessions
    );
    let before: Option<i16> =
        deployment::table.select(deployment::feature_level).get_result(&mut connection).await.optional()?;
    let before =
        before.context("no server was ever started on this database: it will begin at the newest level")?;
    connection.batch_execute("SET statement_timeout = 0").await?;
    query(COMPLETE_ERASURES).execute(&mut connection).await?;
    let timeline = Node::describe(&connection).await?.stored_timeline();
    // In one transaction, since a failover can lose the last commits.
    let raise = async |connection: &mut AsyncPgConnection| {
        let unnoted = deployment::table.filter(deployment::timeline.is_null());
        diesel::update(unnoted).set(deployment::timeline.eq(timeline)).execute(connection).await?;
        let below = deployment::table.filter(deployment::feature_level.lt(newest));
        diesel::update(below).set(deployment::feature_level.eq(newest)).execute(connection).await
    };
    connection.transaction(raise).await?;
    Ok(FeatureLevel::numbered(before))
}
