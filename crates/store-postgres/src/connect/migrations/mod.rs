//! Bringing the database up to this version, and writing down whose money it keeps.

mod migrator;

use std::collections::BTreeSet;

use anyhow::{Context, ensure};
use cuepoint_domain::ledger::feature_level::FeatureLevel;
use cuepoint_domain::money::Currency;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use tokio_postgres::Client;

use crate::connect::connection::Connector;
use crate::schema::deployment;
use migrator::Migrator;
pub(crate) use migrator::Patience;

/// Every migration, oldest first, as the build script found them.
///
/// They are embedded by the build script and run by the [`Migrator`], not by `diesel_migrations`: that one sends the
/// statements of a migration as one query, in which PostgreSQL refuses `CONCURRENTLY`, and hides the SQLSTATE of a failure.
pub(crate) const MIGRATIONS: &[Migration] = include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// One step of the schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Migration {
    /// The name of its folder, `<stamp>_<name>`.
    pub(crate) name: &'static str,
    /// The statements that apply it.
    pub(crate) up: &'static str,
    /// The statements that undo it.
    #[cfg(feature = "testing")]
    pub(crate) down: &'static str,
    /// Whether it is one transaction; otherwise each of its statements is sent by itself, and `;` ends a statement wherever
    /// it stands.
    pub(crate) in_transaction: bool,
}

impl Migration {
    /// The stamp of its name without hyphens, by which the database knows it, as Diesel has it.
    fn version(&self) -> String {
        let stamp = self.name.split('_').next().unwrap_or_default();
        stamp.replace('-', "")
    }
}

/// Applies the migrations of a list that are missing, in order, one migrator at a time, and returns their versions.
///
/// # Errors
/// When the database cannot be reached, a migration fails, or a lock stays taken for as long as there is patience; those
/// before it stay applied.
pub(crate) async fn migrate(
    connector: &Connector,
    migrations: &[Migration],
    patience: Patience,
) -> anyhow::Result<Vec<String>> {
    let migrating = async {
        let mut migrator = Migrator::start(connector, patience).await?;
        let missing = pending(&migrator.applied().await?, migrations);
        if !missing.is_empty() {
            migrator.create_table_of_versions().await?;
        }
        for migration in &missing {
            migrator.apply(migration).await?;
        }
        migrator.finish().await?;
        Ok(missing.iter().map(Migration::version).collect())
    };
    let done: anyhow::Result<_> = migrating.await;
    done.context("the database cannot be migrated")
}

/// Undoes every migration of a list that was applied, the newest first, and with them all data.
#[cfg(feature = "testing")]
pub(crate) async fn revert(connector: &Connector, migrations: &[Migration]) -> anyhow::Result<()> {
    let mut migrator = Migrator::start(connector, Patience::default()).await?;
    let applied = migrator.applied().await?;
    for migration in migrations.iter().rev().filter(|migration| applied.contains(&migration.version())) {
        migrator.revert(migration).await?;
    }
    migrator.finish().await
}

/// Refuses a database that lacks migrations of this version. It only reads, as a role may that owns nothing.
pub(crate) async fn ensure_migrated(connector: &Connector) -> anyhow::Result<()> {
    let client = connector.client().await?;
    let applied = applied(&client).await.context("the versions of the schema cannot be read")?;
    ensure!(
        pending(&applied, MIGRATIONS).is_empty(),
        "the database is older than this program: run `cuepoint migrate` first"
    );
    Ok(())
}

/// The migrations of a list that are not among the applied versions, oldest first.
fn pending(applied: &BTreeSet<String>, migrations: &[Migration]) -> Vec<Migration> {
    migrations.iter().filter(|migration| !applied.contains(&migration.version())).copied().collect()
}

/// The versions that were applied: none where there is no table of them yet.
async fn applied(client: &Client) -> Result<BTreeSet<String>, tokio_postgres::Error> {
    let exists = "SELECT to_regclass('__diesel_schema_migrations') IS NOT NULL";
    if !client.query_one(exists, &[]).await?.get::<_, bool>(0) {
        return Ok(BTreeSet::new());
    }
    let rows = client.query("SELECT version FROM __diesel_schema_migrations", &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Writes the currency down at the first start, with the newest feature level; a later start with another currency is refused.
pub(crate) async fn settle_currency(connector: &Connector, currency: &Currency) -> anyhow::Result<()> {
    let mut connection = connector.connect().await?;
    let scale = i16::from(currency.scale());
    let kept = deployment::table.select((deployment::currency, deployment::scale));
    if kept.get_result::<(String, i16)>(&mut connection).await.optional()?.is_none() {
        diesel::insert_into(deployment::table)
            .values((
                deployment::currency.eq(currency.code()),
                deployment::scale.eq(scale),
                deployment::feature_level.eq(FeatureLevel::NEWEST.number()),
            ))
            .on_conflict_do_nothing()
            .execute(&mut connection)
            .await?;
    }
    let (code, kept_scale): (String, i16) = kept.get_result(&mut connection).await?;
    ensure!(
        code == currency.code() && kept_scale == scale,
        "the database keeps {code} with {kept_scale} decimals, but wallet.currency and wallet.scale say {} with \
         {scale}",
        currency.code(),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_have_one_version_each_in_the_order_of_their_names() {
        let versions: Vec<String> = MIGRATIONS.iter().map(Migration::version).collect();
        assert!(versions.is_sorted_by(|one, next| one < next), "{versions:?}");
        assert_eq!(versions[0], "20261120000001");
    }
}
