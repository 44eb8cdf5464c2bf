//! Data directories and databases that are refused at the start, and the ways to open one.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use cuepoint_domain::ports::{ApplyError, Backend, Ledger, Maintenance, Opening, Store};
use cuepoint_store_sql::copy::{CopyEndpoint, CopyRole};
use cuepoint_store_sqlite::testing::TestDirectory;
use cuepoint_store_sqlite::{SqliteBackend, SqliteCopyEndpoint, SqliteStore, migrate};
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};

use crate::child;
use crate::fixtures::{audit, available, guest, open, refusal, topup, usd};

/// Runs statements in the database of a directory, which no store uses.
fn change(directory: &TestDirectory, statements: &str) {
    let path = directory.path().join("cuepoint.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute(statements).unwrap();
}

fn backend(directory: &TestDirectory) -> SqliteBackend {
    SqliteBackend::new(directory.path().to_owned(), usd())
}

async fn refusal_to_read(directory: &TestDirectory) -> String {
    backend(directory).open(Opening::WithoutMigrations).await.err().unwrap().to_string()
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let directory = TestDirectory::create();
    migrate(directory.path()).unwrap();
    change(&directory, "INSERT INTO __diesel_schema_migrations (version) VALUES ('29990101000001')");
    let told =
        "was migrated by a newer version of this program (migration 29990101000001): start that version";
    for message in [
        refusal(directory.path()),
        format!("{:#}", migrate(directory.path()).unwrap_err()),
        refusal_to_read(&directory).await,
    ] {
        assert!(message.contains(told), "{message}");
    }
}

#[tokio::test]
async fn the_database_of_another_program_is_refused() {
    let directory = TestDirectory::create();
    change(&directory, "CREATE TABLE unrelated (id INTEGER)");
    let path = directory.path().join("cuepoint.db");
    let before = fs::read(&path).unwrap();
    let message = refusal(directory.path());
    assert!(
        message.ends_with("cuepoint.db cannot be opened: the database belongs to another program"),
        "{message}"
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    fs::write(&path, "a text of another program, which is no database").unwrap();
    let message = refusal(directory.path());
    assert!(
        message.ends_with("cuepoint.db is damaged: restore a backup (file is not a database)"),
        "{message}"
    );
}

/// A process whose user owns the files of a directory, and is not the superuser.
fn ordinary_user(directory: &Path) -> Vec<&'static str> {
    if fs::metadata(directory).unwrap().uid() != 0 {
        return Vec::new();
    }
    for path in [
        directory.to_owned(),
        directory.join("cuepoint.db"),
        directory.join("lock"),
        directory.join("in-use"),
    ] {
        chown(path, Some(65_534), Some(65_534)).unwrap();
    }
    vec!["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
}

#[tokio::test]
async fn a_failed_start_on_a_read_only_database_does_not_prevent_later_starts() {
    let directory = TestDirectory::create();
    open(directory.path()).unwrap().close().await;
    let database = directory.path().join("cuepoint.db");
    let user = ordinary_user(directory.path());
    fs::set_permissions(&database, Permissions::from_mode(0o400)).unwrap();
    let mut start = child::command(&user, "", "read_only_database", directory.path());
    let output = start.output().unwrap();
    assert!(output.status.success(), "{}", child::text(&output));
    for ending in ["-wal", "-shm", "-journal"] {
        assert!(!directory.path().join(format!("cuepoint.db{ending}")).exists(), "{ending}");
    }
    fs::set_permissions(&database, Permissions::from_mode(0o600)).unwrap();
    open(directory.path()).unwrap().close().await;
}

#[tokio::test]
async fn a_database_with_a_different_schema_is_refused() {
    for (statement, part) in [
        ("DROP TRIGGER ledger_entries_are_never_changed", "ledger_entries_are_never_changed"),
        ("CREATE TABLE added (id INTEGER)", "TABLE added"),
    ] {
        let (directory, folder) = (TestDirectory::create(), TestDirectory::create());
        open(directory.path()).unwrap().close().await;
        change(&directory, statement);
        let endpoint = SqliteCopyEndpoint::new(directory.path().to_owned(), usd());
        let backup =
            Maintenance::backup(&backend(&directory), &folder.path().join("b.db")).await.err().unwrap();
        for message in [
            refusal(directory.path()),
            backup.to_string(),
            format!("{:#}", endpoint.open(CopyRole::Source).await.err().unwrap()),
            format!("{:#}", endpoint.open(CopyRole::Target).await.err().unwrap()),
        ] {
            assert!(message.contains("its schema was changed") && message.contains(part), "{message}");
        }
    }
}

#[test]
fn a_directory_that_cannot_be_written_to_is_refused() {
    // Not even the superuser creates files there.
    let message = format!("{:#}", SqliteStore::open("/proc/self".as_ref(), usd()).unwrap_err());
    assert!(
        message.starts_with("the lock file /proc/") && message.contains(" cannot be used: "),
        "{message}"
    );
    let message = format!("{:#}", SqliteStore::open("/proc/self/data".as_ref(), usd()).unwrap_err());
    assert!(message.starts_with("the data directory /proc/self/data cannot be used: "), "{message}");
}

#[tokio::test]
async fn migrations_are_applied_only_while_no_server_runs() {
    let directory = TestDirectory::create();
    let applied = backend(&directory).migrate().await.unwrap().unwrap();
    assert!(applied.contains(&"2026-11-30-000001_initial".to_owned()), "{applied:?}");
    assert_eq!(backend(&directory).migrate().await.unwrap(), Some(Vec::new()));
    let store = open(directory.path()).unwrap();
    let refused = backend(&directory).migrate().await.unwrap_err().to_string();
    assert!(refused.contains("is in use by pid"), "{refused}");
    store.close().await;
}

#[tokio::test]
async fn opening_to_read_neither_creates_nor_migrates_a_database() {
    let parent = TestDirectory::create();
    let absent = parent.path().join("absent");
    let message = SqliteStore::open_to_read(&absent, usd()).unwrap_err().to_string();
    assert!(
        message.starts_with("there is no database in ")
            && message.ends_with(": check --data and storage.dir, or run `cuepoint migrate` first")
    );
    assert!(!absent.exists());

    let directory = TestDirectory::create();
    migrate(directory.path()).unwrap();
    backend(&directory).open(Opening::WithoutMigrations).await.unwrap().close().await;
    change(&directory, "DELETE FROM __diesel_schema_migrations");
    let message = refusal_to_read(&directory).await;
    assert_eq!(message, "the database is older than this program: run `cuepoint migrate` first");
}

#[tokio::test]
async fn a_store_can_be_read_while_its_server_runs() {
    let directory = TestDirectory::create();
    let server = open(directory.path()).unwrap();
    let user = guest(&server, 10_00).await;
    let reading = SqliteStore::open_to_read(directory.path(), usd()).unwrap();
    audit(&reading).await;
    for more in 1..=3 {
        server.apply(topup(&server, user, 1_00).await).await.unwrap();
        assert_eq!(available(&reading, user).await, 10_00 + more * 1_00);
    }
    let plan = topup(&server, user, 1_00).await;
    let Err(ApplyError::Unavailable(cause)) = reading.apply(plan.clone()).await else { panic!("applied") };
    assert!(cause.to_string().contains("accepts no changes"), "{cause}");
    reading.ready().await.unwrap_err();
    reading.close().await;
    server.apply(plan).await.unwrap();
    server.close().await;
    let reading = SqliteStore::open_to_read(directory.path(), usd()).unwrap();
    assert_eq!(available(&reading, user).await, 14_00);
    audit(&reading).await;
    reading.close().await;
}

#[tokio::test]
async fn opening_to_read_checks_the_currency() {
    let directory = TestDirectory::create();
    open(directory.path()).unwrap().close().await;
    let euro = cuepoint_domain::money::Currency::new("EUR", 2).unwrap();
    let message = SqliteStore::open_to_read(directory.path(), euro).unwrap_err().to_string();
    assert!(message.contains("uses USD"), "{message}");
}
