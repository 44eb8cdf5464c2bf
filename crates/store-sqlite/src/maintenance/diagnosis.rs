//! The checks of a data directory, while a server may use it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::Context;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Diagnosis, Thoroughness};
use cuepoint_domain::timestamp::Timestamp;
use diesel::prelude::*;
use time::Duration;

use super::prepared_file::on_own_thread;
use super::restore::ensure_own_schema;
use crate::connect::connection::{Access, open};
use crate::connect::data_directory::{SHARED, ensure_not_linked, existing_database};
use crate::connect::file_system::{FileSystem, type_of};
use crate::connect::integrity::{CHECKED_AT_START, Check};
use crate::connect::migrations::{self, MIGRATIONS};
use crate::connect::{application, deployment, in_use, last_backup};
use crate::schema;

/// The checks.
const DIRECTORY: &str = "storage.directory";
const DATABASE: &str = "storage.database";
const PAGES: &str = "storage.pages";
const BACKUP: &str = "backup";

/// The age from which a backup is overdue: the daily one, with two hours for a slow one.
const BACKUP_WITHIN: Duration = Duration::hours(26);
/// How far a clock may have been set back since the last backup.
const SET_BACK: Duration = Duration::minutes(1);

/// Checks the data directory, its database, and the age of the last backup.
pub(crate) async fn diagnose(
    directory: &Path,
    currency: &Currency,
    thoroughness: Thoroughness,
    now: Timestamp,
) -> Vec<Diagnosis> {
    let mut found = vec![of_directory(directory)];
    if !directory.is_dir() {
        return found;
    }
    let (owned, currency) = (directory.to_owned(), currency.clone());
    let read = on_own_thread(move || Ok(of_database(&owned, &currency, thoroughness))).await;
    match read {
        Ok((diagnoses, created_at)) => {
            found.extend(diagnoses);
            found.extend(created_at.map(|created_at| of_backup(directory, created_at, now)));
        }
        Err(error) => found.push(unusable(&error)),
    }
    found
}

/// Checks where the directory is, and who may read it.
fn of_directory(directory: &Path) -> Diagnosis {
    let shown = directory.display();
    let found = fs::metadata(directory).with_context(|| format!("{shown} cannot be read"));
    let (metadata, kind) = match found.and_then(|metadata| Ok((metadata, type_of(directory)?))) {
        Ok(found) => found,
        Err(error) => {
            let remedy = "check storage.dir and --data, and run the command as the user of the service";
            return Diagnosis::fail(DIRECTORY, format!("{error:#}"), remedy);
        }
    };
    if !metadata.is_dir() {
        return Diagnosis::fail(
            DIRECTORY,
            format!("{shown} is not a directory"),
            "set storage.dir to a directory",
        );
    }
    match kind.map(FileSystem::of_type) {
        Some(FileSystem::Network(name)) => {
            let found = format!("{shown} is on a network file system ({name})");
            return Diagnosis::fail(DIRECTORY, found, "move it to a local disk, or use PostgreSQL");
        }
        Some(FileSystem::Uncertain(name)) => {
            let found = format!("{shown} is on a {name} file system, which may be on another machine");
            return Diagnosis::warn(DIRECTORY, found, "move it to a local disk");
        }
        Some(FileSystem::Local) | None => {}
    }
    let mode = metadata.mode() & 0o777;
    if mode & SHARED != 0 {
        let found = format!("{shown} has the mode {mode:04o}: other users of this machine may read it");
        return Diagnosis::warn(DIRECTORY, found, format!("run `chmod 700 {shown}`"));
    }
    Diagnosis::ok(DIRECTORY, shown.to_string())
}

/// Checks the database, and returns the time of its creation.
fn of_database(
    directory: &Path,
    currency: &Currency,
    thoroughness: Thoroughness,
) -> (Vec<Diagnosis>, Option<Timestamp>) {
    let opened = in_use::ensure_database(directory).and_then(|()| {
        let path = existing_database(directory)?;
        ensure_not_linked(&path)?;
        application::ensure_no_backup(&path)?;
        let connection = open(&path, Access::Reader)?;
        Ok((path, connection))
    });
    let (path, mut connection) = match opened {
        Ok(opened) => opened,
        Err(error) => return (vec![unusable(&error)], None),
    };
    let mut found = vec![of_schema(&mut connection, currency).unwrap_or_else(|diagnosis| *diagnosis)];
    found.push(of_pages(&path, &mut connection, thoroughness));
    let created_at = schema::deployment::table.select(schema::deployment::created_at);
    let created_at: Option<i64> = created_at.get_result(&mut connection).ok();
    (found, created_at.map(Timestamp::from_unix_micros))
}

fn unusable(error: &anyhow::Error) -> Diagnosis {
    let remedy =
        "put the right file there or restore a backup; a new directory gets its database at the first start";
    Diagnosis::fail(DATABASE, format!("{error:#}"), remedy)
}

/// Checks that this version can use the database.
fn of_schema(connection: &mut SqliteConnection, currency: &Currency) -> Result<Diagnosis, Box<Diagnosis>> {
    let refused = |remedy: &'static str| {
        move |error: anyhow::Error| Box::new(Diagnosis::fail(DATABASE, format!("{error:#}"), remedy))
    };
    migrations::ensure_migrated(connection, MIGRATIONS)
        .and_then(|()| ensure_own_schema(connection, MIGRATIONS))
        .map_err(refused("install the version that the database has, or run `cuepoint migrate`"))?;
    deployment::ensure_currency(connection, currency)
        .map_err(refused("set wallet.currency and wallet.scale to those of the database"))?;
    deployment::ensure_unmarked(connection)
        .and_then(|()| deployment::ensure_copy_completed(connection))
        .map_err(refused("use the store that has the data, or finish the copy"))?;
    let version = diesel::dsl::sql::<diesel::sql_types::Text>("SELECT sqlite_version()");
    let version: String = version.get_result(connection).unwrap_or_default();
    Ok(Diagnosis::ok(DATABASE, format!("SQLite {version}, with every migration of this version")))
}

/// Reads the whole file, unless that takes long.
fn of_pages(path: &Path, connection: &mut SqliteConnection, thoroughness: Thoroughness) -> Diagnosis {
    let size = fs::metadata(path).map_or(0, |found| found.len());
    if size >= CHECKED_AT_START && thoroughness == Thoroughness::Usual {
        return Diagnosis::ok(PAGES, format!("{size} bytes, which only --full reads"));
    }
    let remedy = "restore a backup: see the guide for operators";
    match Check::Quick.run(connection) {
        Ok(None) => Diagnosis::ok(PAGES, format!("{size} bytes, without a damaged page")),
        Ok(Some(defect)) => Diagnosis::fail(PAGES, format!("the file is damaged: {defect}"), remedy),
        Err(failure) => Diagnosis::fail(PAGES, format!("the file cannot be read: {failure}"), remedy),
    }
}

/// An age in hours.
fn shown(age: Duration) -> String {
    match age.whole_hours() {
        ..=0 => "less than an hour".to_owned(),
        1 => "an hour".to_owned(),
        hours => format!("{hours} hours"),
    }
}

/// Checks the age of the last backup. A new database may have none.
fn of_backup(directory: &Path, created_at: Timestamp, now: Timestamp) -> Diagnosis {
    let remedy = "run `cuepoint backup` daily, as cuepoint-backup.timer does";
    let is_new = now.since(created_at) <= BACKUP_WITHIN;
    match last_backup::read(directory) {
        Err(error) => {
            Diagnosis::fail(BACKUP, format!("{error:#}"), "run `cuepoint backup` as the user of the service")
        }
        Ok(None) if is_new => Diagnosis::warn(BACKUP, "none yet; the database is new", remedy),
        Ok(None) => Diagnosis::fail(BACKUP, "there is none", remedy),
        Ok(Some(at)) => {
            let age = now.since(at);
            if age < -SET_BACK {
                let found = format!("the last one is of {}, in the future", at.to_utc());
                return Diagnosis::warn(BACKUP, found, "check the clock of this machine, and make a backup");
            }
            let found = format!("the last one is {} old", shown(age));
            if age > BACKUP_WITHIN {
                Diagnosis::warn(BACKUP, found, remedy)
            } else {
                Diagnosis::ok(BACKUP, found)
            }
        }
    }
}
