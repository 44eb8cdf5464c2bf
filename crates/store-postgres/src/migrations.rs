//! Bringing the database up to this version, and writing down whose money it keeps.

use anyhow::{Context, anyhow, ensure};
use cuepoint_domain::money::Currency;
use diesel::prelude::*;
use diesel_async::{AsyncMigrationHarness, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::connection::Connector;
use crate::schema::deployment;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations");

/// The advisory lock that whoever migrates holds: `cuepoint` in ASCII.
const LOCK: &str = "7166745915609935476";

/// Applies the migrations that are missing, in order, one server at a time, and returns their names.
///
/// # Errors
/// When the database cannot be reached or a migration fails; those before it stay applied.
pub(crate) async fn migrate(connector: &Connector) -> anyhow::Result<Vec<String>> {
    under_lock(connector, |harness| {
        let applied = harness.run_pending_migrations(MIGRATIONS).map_err(|error| anyhow!("{error}"))?;
        Ok(applied.iter().map(ToString::to_string).collect())
    })
    .await
    .context("the database cannot be migrated")
}

/// Undoes every migration, and with them all data.
#[cfg(feature = "testing")]
pub(crate) async fn revert(connector: &Connector) -> anyhow::Result<()> {
    under_lock(connector, |harness| {
        harness.revert_all_migrations(MIGRATIONS).map_err(|error| anyhow!("{error}"))?;
        Ok(())
    })
    .await
}

/// Refuses a database that lacks migrations of this version.
pub(crate) async fn ensure_migrated(connector: &Connector) -> anyhow::Result<()> {
    let pending = under_lock(connector, |harness| {
        harness.has_pending_migration(MIGRATIONS).map_err(|error| anyhow!("{error}"))
    })
    .await?;
    ensure!(!pending, "the database is older than this program: run `cuepoint migrate` first");
    Ok(())
}

/// Does something with the migrations while no other server does: Diesel's own bookkeeping cannot bear two at once.
async fn under_lock<T: Send + 'static>(
    connector: &Connector,
    work: impl FnOnce(&mut AsyncMigrationHarness<AsyncPgConnection>) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let mut connection = connector.connect().await?;
    connection
        .batch_execute(
            "SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0",
        )
        .await?;
    connection.batch_execute(&format!("SELECT pg_advisory_lock({LOCK})")).await?;
    // The harness blocks its thread.
    let (mut connection, done) = tokio::task::spawn_blocking(move || {
        let mut harness = AsyncMigrationHarness::new(connection);
        let done = work(&mut harness);
        (harness.into_inner(), done)
    })
    .await?;
    connection.batch_execute(&format!("SELECT pg_advisory_unlock({LOCK})")).await?;
    done
}

/// Writes the currency down at the first start; a later start with another one is refused.
pub(crate) async fn settle_currency(connector: &Connector, currency: &Currency) -> anyhow::Result<()> {
    let mut connection = connector.connect().await?;
    let scale = i16::from(currency.scale());
    diesel::insert_into(deployment::table)
        .values((deployment::currency.eq(currency.code()), deployment::scale.eq(scale)))
        .on_conflict_do_nothing()
        .execute(&mut connection)
        .await?;
    let (code, kept_scale): (String, i16) = deployment::table
        .select((deployment::currency, deployment::scale))
        .get_result(&mut connection)
        .await?;
    ensure!(
        code == currency.code() && kept_scale == scale,
        "the database keeps {code} with {kept_scale} decimals, but wallet.currency and wallet.scale say {} with \
         {scale}",
        currency.code(),
    );
    Ok(())
}
