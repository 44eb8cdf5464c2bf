//! Migration of the database to this version.

use std::collections::BTreeSet;

use anyhow::{Context, anyhow, ensure};
use cuepoint_store_sql::crash_points::{self, StartStep};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;

use super::application;
use super::connection::value;

/// All migrations, oldest first.
pub(crate) const MIGRATIONS: &[SqliteMigration] = include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// The table of applied versions, named as on other databases.
const CREATE_VERSIONS: &str = "CREATE TABLE IF NOT EXISTS __diesel_schema_migrations \
    (version TEXT PRIMARY KEY NOT NULL, run_on INTEGER NOT NULL DEFAULT (unixepoch())) STRICT";
const VERSIONS: &str = "SELECT version FROM __diesel_schema_migrations";
const ADD_VERSION: &str = "INSERT INTO __diesel_schema_migrations (version) VALUES (?)";
#[cfg(test)]
const REMOVE_VERSION: &str = "DELETE FROM __diesel_schema_migrations WHERE version = ?";

/// A migration of the schema. Foreign keys are not enforced while it runs, so that it may rebuild a table;
/// they are checked before its commit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SqliteMigration {
    /// The name of its folder, `<stamp>_<name>`.
    pub(crate) name: &'static str,
    /// The statements that apply it.
    pub(crate) up: &'static str,
    /// The statements that revert it.
    #[cfg(test)]
    pub(crate) down: &'static str,
}

impl SqliteMigration {
    /// The version under which the database records it: the stamp of its name without hyphens.
    fn version(&self) -> String {
        let stamp = self.name.split('_').next().unwrap_or_default();
        stamp.replace('-', "")
    }
}

/// Applies the missing migrations of a list in order, and returns their names.
///
/// # Errors
/// When the database belongs to another program or to a newer version of this one, or a migration fails;
/// earlier migrations stay applied.
pub(crate) fn migrate(
    connection: &mut SqliteConnection,
    migrations: &[SqliteMigration],
) -> anyhow::Result<Vec<String>> {
    let missing = pending(connection, migrations)?;
    let run = |connection: &mut _, migration: &SqliteMigration| {
        let failed = || format!("the migration {} failed", migration.name);
        run(connection, migration, migration.up, ADD_VERSION).with_context(failed)
    };
    for migration in &missing {
        run(connection, migration)?;
        crash_points::at_start(StartStep::MigrationApplied);
    }
    Ok(missing.iter().map(|migration| migration.name.to_owned()).collect())
}

/// Refuses a database that lacks migrations of a list.
///
/// # Errors
/// As for [`migrate`], and when migrations are missing.
pub(crate) fn ensure_migrated(
    connection: &mut SqliteConnection,
    migrations: &[SqliteMigration],
) -> anyhow::Result<()> {
    let missing = pending(connection, migrations)?;
    ensure!(missing.is_empty(), "the database is older than this program: run `cuepoint migrate` first");
    Ok(())
}

/// Reverts every applied migration of a list, newest first, which deletes all data.
#[cfg(test)]
pub(crate) fn revert(
    connection: &mut SqliteConnection,
    migrations: &[SqliteMigration],
) -> anyhow::Result<()> {
    for migration in migrations.iter().rev() {
        run(connection, migration, migration.down, REMOVE_VERSION)?;
    }
    Ok(())
}

/// The migrations of a list that are applied, oldest first.
///
/// # Errors
/// As for [`migrate`].
pub(crate) fn applied(
    connection: &mut SqliteConnection,
    migrations: &[SqliteMigration],
) -> anyhow::Result<Vec<SqliteMigration>> {
    let missing: BTreeSet<&str> =
        pending(connection, migrations)?.iter().map(|migration| migration.name).collect();
    Ok(migrations.iter().filter(|migration| !missing.contains(migration.name)).copied().collect())
}

/// The migrations of a list that are not applied, oldest first.
fn pending(
    connection: &mut SqliteConnection,
    migrations: &[SqliteMigration],
) -> anyhow::Result<Vec<SqliteMigration>> {
    if application::is_new(connection)? {
        return Ok(migrations.to_vec());
    }
    let applied: Vec<String> = diesel::dsl::sql::<Text>(VERSIONS).load(connection)?;
    let applied: BTreeSet<String> = applied.into_iter().collect();
    let known: BTreeSet<String> = migrations.iter().map(SqliteMigration::version).collect();
    // Migrations before the first one were part of states of 0.2.0 that were never released.
    if let Some(version) = applied.iter().find(|version| known.first().is_some_and(|first| *version < first))
    {
        return Err(anyhow!(
            "an unreleased state of this program created the database (migration {version}): run the commit that created \
             it, or begin with an empty data directory"
        ));
    }
    if let Some(newest) = applied.difference(&known).last() {
        return Err(anyhow!(
            "the database was migrated by a newer version of this program (migration {newest}): start that version"
        ));
    }
    Ok(migrations.iter().filter(|migration| !applied.contains(&migration.version())).copied().collect())
}

/// Runs the statements of a migration in one transaction, and records it.
fn run(
    connection: &mut SqliteConnection,
    migration: &SqliteMigration,
    statements: &str,
    record: &str,
) -> anyhow::Result<()> {
    // Inside a transaction this setting has no effect.
    connection.batch_execute("PRAGMA foreign_keys = OFF")?;
    let done = connection.exclusive_transaction(|connection| {
        application::mark(connection)?;
        connection.batch_execute(CREATE_VERSIONS)?;
        connection.batch_execute(statements)?;
        diesel::sql_query(record).bind::<Text, _>(migration.version()).execute(connection)?;
        let violations = value(connection, "SELECT count(*) FROM pragma_foreign_key_check")?;
        ensure!(violations == "0", "{violations} rows violate a foreign key");
        Ok(())
    });
    connection.batch_execute("PRAGMA foreign_keys = ON")?;
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::connection::{Access, open};
    use crate::testing::TestDirectory;

    const OWN: SqliteMigration = SqliteMigration {
        name: "2999-01-01-000001_more",
        up: "CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT; INSERT INTO more VALUES (1);",
        down: "DROP TABLE more;",
    };

    fn empty() -> (TestDirectory, SqliteConnection) {
        let directory = TestDirectory::create();
        let connection = open(&directory.path().join("test.db"), Access::Creator).unwrap();
        (directory, connection)
    }

    /// Every table, index and trigger but those of the versions and of SQLite.
    fn schema(connection: &mut SqliteConnection) -> Vec<String> {
        let all = "SELECT coalesce(sql, name) FROM sqlite_schema WHERE name NOT LIKE '%schema_migrations%' \
            AND name <> 'sqlite_sequence' ORDER BY name";
        diesel::dsl::sql::<Text>(all).load(connection).unwrap()
    }

    /// An instruction of a statement.
    #[derive(QueryableByName)]
    struct Instruction {
        #[diesel(sql_type = Text)]
        opcode: String,
    }

    /// The tables whose inserts build temporary B-trees. An update checks no more than an insert.
    fn tables_with_temporary_trees(connection: &mut SqliteConnection) -> Vec<String> {
        let all = "SELECT name FROM sqlite_schema WHERE type = 'table'";
        let mut tables: Vec<String> = diesel::dsl::sql::<Text>(all).load(connection).unwrap();
        tables.retain(|table| {
            let places = format!("SELECT group_concat('?') FROM pragma_table_info('{table}')");
            let places = value(connection, &places).unwrap();
            let insert = diesel::sql_query(format!("EXPLAIN INSERT INTO {table} VALUES ({places})"));
            let program: Vec<Instruction> = insert.load(connection).unwrap();
            program.iter().any(|instruction| instruction.opcode == "OpenEphemeral")
        });
        tables
    }

    #[test]
    fn missing_migrations_are_applied_once() {
        let (_directory, mut connection) = empty();
        let applied = migrate(&mut connection, MIGRATIONS).unwrap();
        assert_eq!(applied.len(), MIGRATIONS.len());
        assert_eq!(migrate(&mut connection, MIGRATIONS).unwrap(), Vec::<String>::new());
        let more: Vec<SqliteMigration> = MIGRATIONS.iter().copied().chain([OWN]).collect();
        assert!(ensure_migrated(&mut connection, &more).is_err());
        assert_eq!(migrate(&mut connection, &more).unwrap(), [OWN.name]);
        ensure_migrated(&mut connection, &more).unwrap();
        assert_eq!(value(&mut connection, "PRAGMA foreign_keys").unwrap(), "1");
    }

    #[test]
    fn migrations_are_reverted_completely() {
        let (_directory, mut connection) = empty();
        migrate(&mut connection, MIGRATIONS).unwrap();
        let before = schema(&mut connection);
        assert!(before.len() > 20);
        revert(&mut connection, MIGRATIONS).unwrap();
        assert_eq!(schema(&mut connection), Vec::<String>::new());
        migrate(&mut connection, MIGRATIONS).unwrap();
        assert_eq!(schema(&mut connection), before);
    }

    #[test]
    fn a_failed_migration_changes_nothing() {
        let (_directory, mut connection) = empty();
        migrate(&mut connection, MIGRATIONS).unwrap();
        let before = schema(&mut connection);
        for (up, cause) in [
            ("CREATE TABLE more (id INTEGER); SELECT absent();", "no such function"),
            (
                "DELETE FROM ids; INSERT INTO wallets VALUES (1, '0', '0', '0', 0, 0, zeroblob(32));",
                "foreign key",
            ),
        ] {
            let broken: Vec<SqliteMigration> =
                MIGRATIONS.iter().copied().chain([SqliteMigration { up, ..OWN }]).collect();
            let message = format!("{:#}", migrate(&mut connection, &broken).unwrap_err());
            assert!(message.contains(OWN.name) && message.contains(cause), "{message}");
            assert_eq!(schema(&mut connection), before);
            assert_eq!(value(&mut connection, "SELECT count(*) FROM ids").unwrap(), "8");
            assert_eq!(value(&mut connection, "PRAGMA foreign_keys").unwrap(), "1");
        }
        ensure_migrated(&mut connection, MIGRATIONS).unwrap();
    }

    #[test]
    fn no_check_constraint_builds_a_temporary_tree_for_each_row() {
        let (_directory, mut connection) = empty();
        migrate(&mut connection, MIGRATIONS).unwrap();
        let found = tables_with_temporary_trees(&mut connection);
        assert!(
            found.is_empty(),
            "checks of {found:?}: write an IN list of more than two values as = with OR"
        );
    }

    #[test]
    fn a_database_of_a_newer_version_is_refused() {
        let (_directory, mut connection) = empty();
        let newer: Vec<SqliteMigration> = MIGRATIONS.iter().copied().chain([OWN]).collect();
        migrate(&mut connection, &newer).unwrap();
        for refused in
            [migrate(&mut connection, MIGRATIONS).err(), ensure_migrated(&mut connection, MIGRATIONS).err()]
        {
            let message = refused.unwrap().to_string();
            assert!(message.contains("newer version") && message.contains("29990101000001"), "{message}");
        }
    }

    #[test]
    fn a_database_of_an_unreleased_state_is_refused_and_not_changed() {
        let (_directory, mut connection) = empty();
        let earlier = SqliteMigration { name: "2026-11-22-000001_initial", ..OWN };
        migrate(&mut connection, &[earlier]).unwrap();
        let before = schema(&mut connection);
        for refused in
            [migrate(&mut connection, MIGRATIONS).err(), ensure_migrated(&mut connection, MIGRATIONS).err()]
        {
            let message = refused.unwrap().to_string();
            assert!(message.contains("unreleased state") && message.contains("20261122000001"), "{message}");
        }
        assert_eq!(schema(&mut connection), before);
    }

    #[test]
    fn a_database_of_another_program_is_refused() {
        let (_directory, mut connection) = empty();
        connection.batch_execute("CREATE TABLE unrelated (id INTEGER)").unwrap();
        let message = migrate(&mut connection, MIGRATIONS).unwrap_err().to_string();
        assert!(message.contains("another program"), "{message}");
        assert_eq!(schema(&mut connection), ["CREATE TABLE unrelated (id INTEGER)"]);
    }
}
