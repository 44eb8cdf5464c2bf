//! A data directory from a backup: ids and tokens issued after the backup must not be confused with those
//! issued after the restore.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, ensure};
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::PositionGap;
use cuepoint_domain::ports::Restored;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::Purpose;
use cuepoint_store_sql::rows::known;
use cuepoint_store_sql::schema::{challenges, position_gaps, refresh_tokens, sessions};
use cuepoint_store_sql::sql_types::UtcTime;
use diesel::dsl::not;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use super::prepared_file::{PreparedFile, check};
use crate::connect::connection::{Access, open, value};
use crate::connect::data_directory::{COMPANIONS, DataDirectory, RESTORING, with_ending};
use crate::connect::migrations::{MIGRATIONS, SqliteMigration, applied, migrate};
use crate::connect::part::remove_with_companions;
use crate::connect::{application, deployment, failure::SqliteFailure};
use crate::schema;
use crate::tables::counters::{next_ids, set_next_ids};
use crate::tables::operations::newest;
use crate::tables::sessions::outlasts_restore;

/// The distance by which the ids of each kind are moved past their maximum: presumably more numbers than the
/// server used after the backup.
const AHEAD: i64 = 1_000_000;
/// The time of the database, in microseconds.
const NOW: &str = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";
/// The statements that create the tables, triggers and views, but for those of SQLite.
const OBJECTS: &str =
    "SELECT coalesce(sql, name) FROM sqlite_schema WHERE type <> 'index' AND name NOT GLOB 'sqlite_*'";
/// The beginning of every SQLite database, and the length of its header.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER: usize = 100;
/// The places of numbers in the header: the size of a page, the number of pages.
const PAGE_SIZE_AT: usize = 16;
const PAGES_AT: usize = 28;

/// Copies a backup into a data directory without a database, under a name that no server uses, and prepares
/// it for servers; `epoch` must be one that the data never had.
///
/// # Errors
/// When a server uses the directory or it has a database, or the file is not a sound backup of this version
/// or an earlier one, in the same currency. The directory has no database then.
pub(crate) fn restore(
    directory: &Path,
    file: &Path,
    currency: &Currency,
    epoch: i64,
) -> anyhow::Result<Restored> {
    let (data, (sessions_ended, cookies_kept)) = prepared(directory, file, currency, epoch, MIGRATIONS)?;
    Ok(Restored { epoch, sessions_ended, cookies_kept, data: Box::new(data) })
}

fn prepared(
    directory: &Path,
    file: &Path,
    currency: &Currency,
    epoch: i64,
    migrations: &[SqliteMigration],
) -> anyhow::Result<(PreparedFile, (usize, usize))> {
    let unusable = || format!("{} is not a usable backup", file.display());
    // Before the directory is created.
    ensure_backup(file).with_context(unusable)?;
    let directory = DataDirectory::open(directory)?;
    let database = directory.database();
    ensure!(
        !database.exists(),
        "the data directory {} has a database: restore into an empty directory",
        directory.path().display()
    );
    for ending in COMPANIONS {
        let left = with_ending(&database, ending);
        // SQLite would apply them to the restored database.
        ensure!(!left.exists(), "{} belongs to another database: move it away", left.display());
    }
    let temporary = with_ending(&database, RESTORING);
    remove_with_companions(&temporary)
        .with_context(|| format!("{} cannot be removed", temporary.display()))?;
    let data = PreparedFile::create(temporary.clone(), database, currency, Some(directory))?;
    copy(file, &temporary).with_context(|| format!("{} cannot be copied", file.display()))?;
    check(&temporary).with_context(unusable)?;
    let mut connection = open(&temporary, Access::Writer)?;
    ensure_own_schema(&mut connection, migrations).with_context(unusable)?;
    migrate(&mut connection, migrations).with_context(unusable)?;
    deployment::ensure_currency(&mut connection, currency).with_context(unusable)?;
    deployment::settle(&mut connection, currency).with_context(unusable)?;
    let sessions = connection
        .immediate_transaction(|connection| prepare(connection, epoch))
        .context("the database could not be prepared")?;
    application::mark(&mut connection).context("the database could not be prepared")?;
    // Everything is in one file from here on.
    let mode = value(&mut connection, "PRAGMA journal_mode = DELETE")?;
    ensure!(mode == "delete", "the database could not be prepared: its journal is {mode}");
    Ok((data, sessions))
}

/// Refuses a file that is not the database of this program, or not all of it.
fn ensure_backup(file: &Path) -> anyhow::Result<()> {
    let (mut header, opened) = (Vec::new(), File::open(file)?);
    let length = opened.metadata()?.len();
    opened.take(u64::try_from(HEADER)?).read_to_end(&mut header)?;
    ensure!(header.starts_with(MAGIC) && header.len() == HEADER, "it is not a SQLite database");
    let number = |at| header.get(at..).and_then(|rest| rest.first_chunk()).copied().map(u32::from_be_bytes);
    let found = number(application::PLACE).map(i64::from);
    let own = [application::ID, application::BACKUP_ID];
    ensure!(found.is_some_and(|found| own.contains(&found)), "it belongs to another program");
    for ending in ["-wal", "-journal"] {
        let beside = with_ending(file, ending);
        ensure!(
            beside.metadata().map_or(0, |found| found.len()) == 0,
            "it is incomplete, because {} exists: make the backup with `cuepoint backup`",
            beside.display()
        );
    }
    // SQLite reads what is missing of the last page as zeros.
    let page =
        header.get(PAGE_SIZE_AT..).and_then(|rest| rest.first_chunk()).copied().map(u16::from_be_bytes);
    let page = page.map(|size| if size == 1 { 65_536 } else { u64::from(size) });
    let whole = page.zip(number(PAGES_AT)).and_then(|(page, pages)| page.checked_mul(u64::from(pages)));
    ensure!(
        whole == Some(length),
        "it is damaged: it has {length} bytes instead of {}",
        whole.unwrap_or_default()
    );
    Ok(())
}

/// Refuses tables, triggers and views other than those of the applied migrations: a trigger that is missing lets
/// entries be changed, and one that was added can change balances after the audit.
///
/// # Errors
/// When there is a difference, with the first line of an object that differs, or the schema cannot be read.
pub(crate) fn ensure_own_schema(
    connection: &mut SqliteConnection,
    migrations: &[SqliteMigration],
) -> anyhow::Result<()> {
    let mut own = SqliteConnection::establish(":memory:")?;
    migrate(&mut own, &applied(connection, migrations)?)?;
    let objects = |connection: &mut SqliteConnection| -> QueryResult<BTreeSet<String>> {
        let statements: Vec<String> =
            diesel::dsl::sql::<diesel::sql_types::Text>(OBJECTS).load(connection)?;
        Ok(statements.into_iter().collect())
    };
    let (found, own) = (objects(connection)?, objects(&mut own)?);
    let differs = found.symmetric_difference(&own).next().map(|object| object.lines().next());
    ensure!(
        differs.is_none(),
        "its schema was changed: {}; remove tables, views and triggers of other programs, or restore a backup",
        differs.flatten().unwrap_or_default()
    );
    Ok(())
}

/// Copies the content of a file into an empty one.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut to = OpenOptions::new().write(true).open(to)?;
    io::copy(&mut File::open(from)?, &mut to)?;
    Ok(())
}

/// Leaves a gap after the newest position: clients may have seen later ones.
fn leave_gap(connection: &mut SqliteConnection) -> Result<(), SqliteFailure> {
    let (newest, gap) = newest(connection)?;
    let now =
        Timestamp::from_unix_micros(diesel::select(diesel::dsl::sql::<BigInt>(NOW)).get_result(connection)?);
    let PositionGap { last, next } = known("operations.position", PositionGap::after(newest, gap, now))?;
    diesel::replace_into(position_gaps::table)
        .values((position_gaps::last.eq(last.get()), position_gaps::next.eq(next.get())))
        .execute(connection)?;
    Ok(())
}

/// Begins the epoch, moves the ids and positions, and ends all sessions but the cookies of guest accounts, all refresh
/// tokens and challenges, and returns the numbers of ended sessions and kept cookies. Tokens that restore an address stay
/// valid, so that a restore helps no thief of a login.
fn prepare(connection: &mut SqliteConnection, epoch: i64) -> Result<(usize, usize), SqliteFailure> {
    diesel::update(schema::deployment::table).set(schema::deployment::epoch.eq(epoch)).execute(connection)?;
    let moved: Vec<i64> = next_ids(connection)?.into_iter().map(|next| next.saturating_add(AHEAD)).collect();
    set_next_ids(connection, &moved)?;
    leave_gap(connection)?;
    diesel::delete(refresh_tokens::table).execute(connection)?;
    let now = || diesel::dsl::sql::<UtcTime>(NOW);
    let restores = challenges::purpose.eq(Purpose::EmailRestore.name());
    diesel::update(challenges::table.filter(challenges::ended_at.is_null().and(not(restores))))
        .set(challenges::ended_at.eq(now().nullable()))
        .execute(connection)?;
    let ended = diesel::update(sessions::table)
        .filter(sessions::ended_at.is_null().and(not(outlasts_restore())))
        .set(sessions::ended_at.eq(now().nullable()))
        .execute(connection)?;
    let live = sessions::table.filter(sessions::ended_at.is_null()).filter(sessions::expires_at.gt(now()));
    let kept: i64 = live.count().get_result(connection)?;
    Ok((ended, usize::try_from(kept).unwrap_or(usize::MAX)))
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection;

    use super::*;
    use crate::connect::data_directory::database_in;
    use crate::testing::TestDirectory;

    const LATER: SqliteMigration = SqliteMigration {
        name: "2999-01-01-000001_later",
        up: "CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT;",
        down: "DROP TABLE later;",
    };

    #[test]
    fn a_backup_of_an_earlier_version_is_migrated() {
        let (source, folder) = (TestDirectory::create(), TestDirectory::create());
        let (usd, file) = (Currency::new("USD", 2).unwrap(), folder.path().join("backup.db"));
        let mut database = source.migrated();
        deployment::settle(&mut database, &usd).unwrap();
        database.batch_execute(&format!("VACUUM INTO '{}'", file.display())).unwrap();
        let later: Vec<SqliteMigration> = MIGRATIONS.iter().copied().chain([LATER]).collect();
        let data = folder.path().join("data");
        let (restored, sessions) = prepared(&data, &file, &usd, 7, &later).unwrap();
        assert_eq!(sessions, (0, 0));
        let mut found = open(restored.temporary().unwrap(), Access::Archive).unwrap();
        assert_eq!(value(&mut found, "SELECT count(*) FROM later").unwrap(), "0");
        assert_eq!(value(&mut found, "SELECT epoch FROM deployment").unwrap(), "7");
        drop((found, restored));
        assert!(!database_in(&data).exists() && !data.join("cuepoint.db.restoring").exists());
    }

    #[test]
    fn a_database_with_an_unknown_view_is_not_migrated() {
        let directory = TestDirectory::create();
        let database = database_in(directory.path());
        let later: Vec<SqliteMigration> = MIGRATIONS.iter().copied().chain([LATER]).collect();
        let mut connection = open(&database, Access::Creator).unwrap();
        migrate(&mut connection, MIGRATIONS).unwrap();
        connection.batch_execute("CREATE VIEW report AS SELECT 1").unwrap();
        for refused in
            [ensure_own_schema(&mut connection, &later), crate::migrate(directory.path()).map(drop)]
        {
            let message = format!("{:#}", refused.unwrap_err());
            assert!(message.contains("VIEW report") && message.contains("remove"), "{message}");
        }
        connection.batch_execute("DROP VIEW report").unwrap();
        ensure_own_schema(&mut connection, &later).unwrap();
        assert_eq!(crate::migrate(directory.path()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_backup_with_a_different_schema_is_refused() {
        let usd = Currency::new("USD", 2).unwrap();
        for (change, part) in [
            ("DROP TRIGGER ledger_entries_are_never_changed", "ledger_entries_are_never_changed"),
            (
                "CREATE TRIGGER added AFTER INSERT ON ledger_entries BEGIN UPDATE wallets SET held = '1'; END",
                "TRIGGER added",
            ),
            ("CREATE TABLE added (id INTEGER)", "TABLE added"),
        ] {
            let (source, folder) = (TestDirectory::create(), TestDirectory::create());
            let file = folder.path().join("backup.db");
            let mut database = source.migrated();
            deployment::settle(&mut database, &usd).unwrap();
            database.batch_execute(&format!("{change}; VACUUM INTO '{}'", file.display())).unwrap();
            let data = folder.path().join("data");
            let message = format!("{:#}", prepared(&data, &file, &usd, 7, MIGRATIONS).unwrap_err());
            assert!(message.contains("its schema was changed") && message.contains(part), "{message}");
            assert!(!database_in(&data).exists());
        }
    }
}
