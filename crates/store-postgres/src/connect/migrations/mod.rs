//! Migration of the database to this version, and its currency.

mod migrator;

use std::collections::BTreeSet;

use anyhow::{Context, bail, ensure};
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use tokio_postgres::Client;

use crate::connect::connection::Connector;
use crate::connect::node::Node;
use crate::schema::deployment;
use migrator::Migrator;
pub(crate) use migrator::Patience;

/// All migrations, oldest first.
///
/// They are embedded by the build script and run by the [`Migrator`], not by `diesel_migrations`: the latter
/// sends the statements of a migration as one query, in which PostgreSQL refuses `CONCURRENTLY`, and hides
/// the SQLSTATE of a failure.
pub(crate) const MIGRATIONS: &[Migration] = include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// The stamp of the first migration of the unreleased states of 0.2.0.
const FIRST_UNRELEASED: &str = "20261122000001";
/// The stamp of the first migration of 0.2.0.
const FIRST_OF_0_2_0: &str = "20261130000001";

/// A migration of the schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Migration {
    /// The name of its folder, `<stamp>_<name>`.
    pub(crate) name: &'static str,
    /// The statements that apply it.
    pub(crate) up: &'static str,
    /// The statements that revert it.
    #[cfg(feature = "testing")]
    pub(crate) down: &'static str,
    /// Whether it runs in one transaction; otherwise each statement is sent by itself, and every `;` ends a
    /// statement.
    pub(crate) in_transaction: bool,
}

impl Migration {
    /// The version under which the database records it, as in Diesel: the stamp of its name without hyphens.
    fn version(&self) -> String {
        let stamp = self.name.split('_').next().unwrap_or_default();
        stamp.replace('-', "")
    }
}

/// Applies the missing migrations of a list in order, one migrator at a time, and returns their names.
///
/// # Errors
/// When the database cannot be reached, a migration fails, or a lock stays taken for as long as patience
/// lasts; earlier migrations stay applied.
pub(crate) async fn migrate(
    connector: &Connector,
    migrations: &[Migration],
    patience: Patience,
) -> anyhow::Result<Vec<String>> {
    let migrating = async {
        let mut migrator = Migrator::start(connector, patience).await?;
        let applied = migrator.applied().await?;
        ensure_released(&applied)?;
        let missing = pending(&applied, migrations);
        if !missing.is_empty() {
            migrator.create_table_of_versions().await?;
        }
        for migration in &missing {
            migrator.apply(migration).await?;
        }
        migrator.finish().await?;
        Ok(missing.iter().map(|migration| migration.name.to_owned()).collect())
    };
    let done: anyhow::Result<_> = migrating.await;
    done.context("the database cannot be migrated")
}

/// Reverts every applied migration of a list, newest first, which deletes all data.
#[cfg(feature = "testing")]
pub(crate) async fn revert(connector: &Connector, migrations: &[Migration]) -> anyhow::Result<()> {
    let mut migrator = Migrator::start(connector, Patience::default()).await?;
    let applied = migrator.applied().await?;
    for migration in migrations.iter().rev().filter(|migration| applied.contains(&migration.version())) {
        migrator.revert(migration).await?;
    }
    migrator.finish().await
}

/// Refuses a database that lacks migrations of this version. It only reads, so that a role that owns nothing
/// may run it.
pub(crate) async fn ensure_migrated(connector: &Connector) -> anyhow::Result<()> {
    let client = connector.client().await?;
    let applied = applied(&client).await.context("the versions of the schema cannot be read")?;
    ensure_released(&applied)?;
    ensure!(
        pending(&applied, MIGRATIONS).is_empty(),
        "the database is older than this program: run `cuepoint migrate` first"
    );
    Ok(())
}

/// Refuses a database of an unreleased state of 0.2.0. Their migrations have stamps between the last one of 0.1.0 and the
/// first one of 0.2.0. A later unknown stamp belongs to a newer version.
fn ensure_released(applied: &BTreeSet<String>) -> anyhow::Result<()> {
    let is_unreleased = |version: &&String| (FIRST_UNRELEASED..FIRST_OF_0_2_0).contains(&version.as_str());
    if let Some(version) = applied.iter().find(is_unreleased) {
        bail!(
            "an unreleased state of this program created the database (migration {version}): run the commit that created \
             it, or begin with an empty database"
        );
    }
    Ok(())
}

/// The migrations of a list without an applied version, oldest first.
fn pending(applied: &BTreeSet<String>, migrations: &[Migration]) -> Vec<Migration> {
    migrations.iter().filter(|migration| !applied.contains(&migration.version())).copied().collect()
}

/// The applied versions: none if their table does not exist yet.
async fn applied(client: &Client) -> Result<BTreeSet<String>, tokio_postgres::Error> {
    let exists = "SELECT to_regclass('__diesel_schema_migrations') IS NOT NULL";
    if !client.query_one(exists, &[]).await?.get::<_, bool>(0) {
        return Ok(BTreeSet::new());
    }
    let rows = client.query("SELECT version FROM __diesel_schema_migrations", &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Records the currency at the first start, with the newest feature level and the timeline; a later start with
/// another currency is refused.
pub(crate) async fn settle_currency(connector: &Connector, currency: &Currency) -> anyhow::Result<()> {
    let mut connection = connector.connect().await?;
    let scale = i16::from(currency.scale());
    let kept = deployment::table.select((deployment::currency, deployment::scale));
    if kept.get_result::<(String, i16)>(&mut connection).await.optional()?.is_none() {
        let node = Node::describe(&connection).await?;
        diesel::insert_into(deployment::table)
            .values((
                deployment::currency.eq(currency.code()),
                deployment::scale.eq(scale),
                deployment::feature_level.eq(FeatureLevel::NEWEST.number()),
                deployment::timeline.eq(node.stored_timeline()),
            ))
            .on_conflict_do_nothing()
            .execute(&mut connection)
            .await?;
    }
    ensure_currency(&mut connection, currency).await
}

/// Refuses a database with another currency; one that no server has used yet has none.
///
/// # Errors
/// When it has another one, or cannot be read.
pub(crate) async fn ensure_currency(
    connection: &mut AsyncPgConnection,
    currency: &Currency,
) -> anyhow::Result<()> {
    let scale = i16::from(currency.scale());
    let kept = deployment::table.select((deployment::currency, deployment::scale));
    let kept: Option<(String, i16)> = kept.get_result(connection).await.optional()?;
    let Some((code, kept_scale)) = kept else { return Ok(()) };
    ensure!(
        code == currency.code() && kept_scale == scale,
        "the database uses {code} with {kept_scale} decimals: wallet.currency and wallet.scale cannot be changed to \
         {} and {scale}",
        currency.code(),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migration_versions_are_unique_and_ordered() {
        let versions: Vec<String> = MIGRATIONS.iter().map(Migration::version).collect();
        assert!(versions.is_sorted_by(|one, next| one < next), "{versions:?}");
        assert_eq!(versions[0], "20261120000001");
    }

    #[test]
    fn versions_of_unreleased_states_are_refused_and_newer_ones_are_not() {
        let refusal = |version: &str| {
            let applied = MIGRATIONS.iter().map(Migration::version).chain([version.to_owned()]).collect();
            ensure_released(&applied).err().map(|error| error.to_string())
        };
        for version in ["20261122000001", "20261129000013"] {
            assert!(
                refusal(version).unwrap().contains(&format!("created the database (migration {version})"))
            );
        }
        for version in ["20261121000062", "29990101000001"] {
            assert_eq!(refusal(version), None);
        }
    }
}
