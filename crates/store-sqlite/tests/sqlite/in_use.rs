//! A data directory that was in use never begins an empty ledger, and an interrupted first start is repeated.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::{Maintenance, RestoreSource};
use cuepoint_store_sql::copy::{CopyEndpoint, CopyRole};
use cuepoint_store_sqlite::testing::TestDirectory;
use cuepoint_store_sqlite::{SqliteBackend, SqliteCopyEndpoint, SqliteStore, migrate};
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};

use crate::child;
use crate::fixtures::{audit, available, guest, open, refusal, usd};

const DATABASE: &str = "cuepoint.db";
const LOG: &str = "cuepoint.db-wal";
const IN_USE: &str = "in-use";

fn backend(directory: &Path) -> SqliteBackend {
    SqliteBackend::new(directory.to_owned(), usd())
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A directory as a killed server leaves it, with commits in the log.
async fn killed() -> TestDirectory {
    let (directory, left) = (TestDirectory::create(), TestDirectory::create());
    let store = open(directory.path()).unwrap();
    guest(&store, 10_00).await;
    for name in names(directory.path()) {
        fs::copy(directory.path().join(&name), left.path().join(&name)).unwrap();
    }
    assert!(fs::metadata(left.path().join(LOG)).unwrap().len() > 4096);
    store.close().await;
    left
}

/// A directory as a stopped server leaves it.
async fn stopped() -> TestDirectory {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    guest(&store, 10_00).await;
    store.close().await;
    directory
}

/// The messages of all commands that open the database of a directory.
async fn refusals(directory: &Path) -> Vec<String> {
    let file = TestDirectory::create();
    let endpoint = SqliteCopyEndpoint::new(directory.to_owned(), usd());
    let boxed = |refused| format!("{:#}", anyhow::Error::from_boxed(refused));
    vec![
        refusal(directory),
        format!("{:#}", migrate(directory).unwrap_err()),
        format!("{:#}", SqliteStore::open_to_read(directory, usd()).unwrap_err()),
        boxed(Maintenance::backup(&backend(directory), &file.path().join("b.db")).await.err().unwrap()),
        format!("{:#}", endpoint.open(CopyRole::Source).await.err().unwrap()),
        format!("{:#}", endpoint.open(CopyRole::Target).await.err().unwrap()),
        format!("{:#}", endpoint.look_up(false).await.err().unwrap()),
    ]
}

#[tokio::test]
async fn an_emptied_database_is_refused_and_its_log_kept() {
    for is_recorded in [true, false] {
        let directory = killed().await;
        let path = directory.path();
        if !is_recorded {
            fs::remove_file(path.join(IN_USE)).unwrap();
        }
        let sound = fs::read(path.join(DATABASE)).unwrap();
        let log = fs::read(path.join(LOG)).unwrap();
        File::create(path.join(DATABASE)).unwrap();
        for message in refusals(path).await {
            let defect = format!("{} was in use, but its database file cuepoint.db is empty", path.display());
            assert!(message.contains(&defect), "{message}");
            let remedy =
                "move cuepoint.db, cuepoint.db-wal, cuepoint.db-shm away and run `cuepoint restore FILE`";
            assert!(message.contains(remedy), "{message}");
        }
        assert_eq!(fs::read(path.join(LOG)).unwrap(), log);
        assert_eq!(fs::metadata(path.join(DATABASE)).unwrap().len(), 0);
        fs::write(path.join(DATABASE), sound).unwrap();
        let store = open(path).unwrap();
        audit(&store).await;
        assert_eq!(available(&store, UserId::new(1).unwrap()).await, 10_00);
        store.close().await;
    }
}

#[tokio::test]
async fn a_backup_beside_the_log_of_another_database_is_refused_and_unchanged() {
    let directory = killed().await;
    let (path, log) = (directory.path(), fs::read(directory.path().join(LOG)).unwrap());
    let source = stopped().await;
    Maintenance::backup(&backend(source.path()), &source.path().join("b.db"))
        .await
        .unwrap()
        .accept()
        .await
        .unwrap();
    let backup = fs::read(source.path().join("b.db")).unwrap();
    fs::write(path.join(DATABASE), &backup).unwrap();
    let endpoint = SqliteCopyEndpoint::new(path.to_owned(), usd());
    for message in [
        refusal(path),
        format!("{:#}", migrate(path).unwrap_err()),
        format!("{:#}", endpoint.open(CopyRole::Target).await.err().unwrap()),
    ] {
        let sentence = "cuepoint.db is a copy that `cuepoint backup` made";
        assert!(message.contains(sentence) && message.contains("`cuepoint restore FILE`"), "{message}");
    }
    assert_eq!(fs::read(path.join(DATABASE)).unwrap(), backup);
    assert_eq!(fs::read(path.join(LOG)).unwrap(), log);
}

#[tokio::test]
async fn a_used_directory_without_its_database_is_refused() {
    let directory = stopped().await;
    let path = directory.path();
    assert_eq!(names(path), [DATABASE, IN_USE, "lock"]);
    fs::remove_file(path.join(DATABASE)).unwrap();
    let message = refusal(path);
    let remedy = "is missing: put the file back, or run `cuepoint restore FILE`; to begin an empty ledger instead, \
        move in-use away";
    assert!(message.ends_with(remedy), "{message}");
    File::create(path.join(DATABASE)).unwrap();
    assert!(refusal(path).contains("is empty"));
    fs::remove_file(path.join(DATABASE)).unwrap();
    let mut other = SqliteConnection::establish(path.join(DATABASE).to_str().unwrap()).unwrap();
    other.batch_execute("CREATE TABLE t (id); DROP TABLE t").unwrap();
    drop(other);
    for message in [refusal(path), format!("{:#}", migrate(path).unwrap_err())] {
        assert!(message.contains("cuepoint.db has no tables"), "{message}");
    }
    fs::remove_file(path.join(DATABASE)).unwrap();
    fs::remove_file(path.join(IN_USE)).unwrap();
    open(path).unwrap().close().await;
}

#[tokio::test]
async fn directories_of_older_versions_are_marked_as_used() {
    let directory = stopped().await;
    let path = directory.path();
    fs::remove_file(path.join(IN_USE)).unwrap();
    open(path).unwrap().close().await;
    fs::remove_file(path.join(DATABASE)).unwrap();
    assert!(refusal(path).contains("cuepoint.db is missing"));
}

#[tokio::test]
async fn migrated_and_restored_directories_are_marked_as_used() {
    let (migrated, source, folder) = (TestDirectory::create(), stopped().await, TestDirectory::create());
    migrate(migrated.path()).unwrap();
    assert!(migrated.path().join(IN_USE).exists());
    let (file, data) = (folder.path().join("b.db"), folder.path().join("data"));
    Maintenance::backup(&backend(source.path()), &file).await.unwrap().accept().await.unwrap();
    let restore = async || {
        let restored =
            Maintenance::restore(&backend(&data), RestoreSource::File(&file), 7).await.unwrap().data;
        restored.accept().await.unwrap();
    };
    restore().await;
    assert_eq!(names(&data), [DATABASE, IN_USE, "lock"]);
    // A restore is the remedy, and needs no other.
    fs::remove_file(data.join(DATABASE)).unwrap();
    assert!(refusal(&data).contains("cuepoint restore FILE"));
    restore().await;
    open(&data).unwrap().close().await;
}

#[tokio::test]
async fn a_restore_that_cannot_mark_the_directory_as_used_can_be_repeated() {
    let (source, folder) = (stopped().await, TestDirectory::create());
    let (file, data) = (folder.path().join("b.db"), folder.path().join("data"));
    Maintenance::backup(&backend(source.path()), &file).await.unwrap().accept().await.unwrap();
    fs::create_dir(&data).unwrap();
    // A file that cannot be created.
    symlink(data.join("missing").join("file"), data.join(IN_USE)).unwrap();
    let restore = async || {
        let restored = Maintenance::restore(&backend(&data), RestoreSource::File(&file), 7).await.unwrap();
        restored.data.accept().await
    };
    let message = format!("{:#}", restore().await.unwrap_err());
    assert!(message.contains("in-use cannot be written"), "{message}");
    assert_eq!(names(&data), [IN_USE, "lock"]);
    // As after a crash that follows the record.
    fs::remove_file(data.join(IN_USE)).unwrap();
    fs::write(data.join(IN_USE), "").unwrap();
    fs::copy(&file, data.join("cuepoint.db.restoring")).unwrap();
    let message = refusal(&data);
    assert!(message.contains("was interrupted: run `cuepoint restore` again"), "{message}");
    restore().await.unwrap();
    assert_eq!(names(&data), [DATABASE, IN_USE, "lock"]);
    open(&data).unwrap().close().await;
}

#[tokio::test]
async fn copy_targets_are_marked_as_used() {
    let target = TestDirectory::create();
    let endpoint = SqliteCopyEndpoint::new(target.path().to_owned(), usd());
    endpoint.open(CopyRole::Target).await.unwrap().close().await.unwrap();
    assert!(target.path().join(IN_USE).exists());
    fs::remove_file(target.path().join(DATABASE)).unwrap();
    let message = format!("{:#}", endpoint.open(CopyRole::Target).await.err().unwrap());
    assert!(message.contains("cuepoint.db is missing"), "{message}");
}

#[tokio::test]
async fn a_directory_with_only_key_files_is_opened_as_new() {
    let directory = TestDirectory::create();
    fs::write(directory.path().join("signing-keys"), "a key").unwrap();
    open(directory.path()).unwrap().close().await;
}

#[tokio::test]
async fn a_store_opens_after_a_kill_at_each_step_of_the_first_start() {
    for step in [
        "start_directory_created",
        "start_locked",
        "start_database_created",
        "start_opened",
        "start_migration_applied",
        "start_migrated",
        "start_recording",
        "start_recorded",
        "start_settled",
    ] {
        let folder = TestDirectory::create();
        let data = folder.path().join("data");
        let mut killed = child::command(&[], "", "first_start", &data);
        let output = killed.env("CUEPOINT_CRASH_AT", step).output().unwrap();
        assert!(!output.status.success() && data.exists(), "{step}: {}", child::text(&output));
        let store = open(&data).unwrap_or_else(|error| panic!("{step}: {error:#}"));
        guest(&store, 10_00).await;
        audit(&store).await;
        store.close().await;
        assert!(data.join(IN_USE).exists(), "{step}");
    }
}
