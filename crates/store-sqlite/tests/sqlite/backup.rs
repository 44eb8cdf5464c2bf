//! Backups while the store is written to, and data directories restored from them.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cuepoint_domain::audit::Auditor;
use cuepoint_domain::ids::{OperationId, UserId};
use cuepoint_domain::money::{Amount, Currency, Money};
use cuepoint_domain::operation::{Actor, OperationMetadata, plans};
use cuepoint_domain::ports::{
    Applied, Audit, Backend, BackendError, Ids, Ledger, Maintenance, PasswordHash, People, PreparedData,
    Registered, RestoreSource, Restored,
};
use cuepoint_domain::text::{Email, Line};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::Charge;
use cuepoint_domain::user::User;
use cuepoint_store_sql::copy::{CopyEndpoint, CopyRole};
use cuepoint_store_sqlite::testing::TestDirectory;
use cuepoint_store_sqlite::{SqliteBackend, SqliteCopyEndpoint, SqliteStore, migrate};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary};
use tokio::sync::Mutex;
use uuid::Uuid;

/// The number of tasks that write at once.
const WRITERS: usize = 8;
/// The number of operations before the first backup, between two, and after the last one.
const OPERATIONS: usize = 200;

fn usd() -> Currency {
    Currency::new("USD", 2).unwrap()
}

fn backend(directory: &Path) -> SqliteBackend {
    SqliteBackend::new(directory.to_owned(), usd())
}

fn open(directory: &Path) -> anyhow::Result<SqliteStore> {
    SqliteStore::open(directory, usd())
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_micros(1_767_225_600_000_000 + seconds * 1_000_000)
}

async fn guest(store: &SqliteStore) -> UserId {
    let id = store.next_user().await.unwrap();
    let (name, email) = (Line::new("Ada").unwrap(), Email::new(&format!("ada{id}@example.com")).unwrap());
    let user = User::registered(id, name, email, None, false, at(0));
    assert_eq!(
        store.register(&user, &PasswordHash("hash".to_owned()), None).await.unwrap(),
        Registered::Done
    );
    id
}

async fn topup(store: &SqliteStore, user: UserId, charge: Charge, seconds: i64) -> OperationId {
    let operation = store.operation();
    let metadata = OperationMetadata::of(Actor::User(user), operation, at(seconds));
    let id = store.next_topup().await.unwrap();
    let amount = Amount::new(Money::from_minor(100)).unwrap();
    let applied = store.apply(plans::open_topup(metadata, id, user, amount, charge)).await;
    assert!(matches!(applied, Ok(Applied::Fresh(_))), "{applied:?}");
    operation
}

/// A change that needs new ids and writes money.
async fn change(store: &SqliteStore) {
    let user = guest(store).await;
    topup(store, user, Charge::Confirmed, 3).await;
}

/// A directory whose store had a guest with money and a pending top-up.
async fn used() -> TestDirectory {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let user = guest(&store).await;
    topup(&store, user, Charge::Confirmed, 1).await;
    topup(&store, user, Charge::Pending, 2).await;
    store.close().await;
    directory
}

async fn backup(directory: &Path, file: &Path) -> Result<Box<dyn PreparedData>, BackendError> {
    backend(directory).maintenance().unwrap().backup(file).await
}

async fn restore(directory: &Path, file: &Path) -> Result<Restored, BackendError> {
    Maintenance::restore(&backend(directory), RestoreSource::File(file), 7).await
}

async fn is_consistent(data: &dyn PreparedData) -> bool {
    let mut auditor = Auditor::new();
    data.show(&mut auditor).await.unwrap();
    assert!(auditor.seen().entries > 0);
    auditor.finish().is_ok()
}

/// An accepted backup of a directory.
async fn backed_up(directory: &Path, file: &Path) {
    let copy = backup(directory, file).await.unwrap();
    assert!(is_consistent(&*copy).await);
    copy.accept().await.unwrap();
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn connection(path: &Path) -> SqliteConnection {
    SqliteConnection::establish(path.to_str().unwrap()).unwrap()
}

fn number(connection: &mut SqliteConnection, statement: &str) -> i64 {
    diesel::dsl::sql::<BigInt>(statement).get_result(connection).unwrap()
}

fn has_operation(connection: &mut SqliteConnection, operation: OperationId) -> bool {
    let count = diesel::dsl::sql::<BigInt>("SELECT count(*) FROM backup.operations WHERE id = ")
        .bind::<Binary, _>(Uuid::from_u128(operation.0).as_bytes().to_vec());
    count.get_result::<i64>(connection).unwrap() == 1
}

/// Compares an attached backup with its source: what it has, the source has too, and it has every commit up
/// to some moment and none after it. Returns the number of its operations.
fn ensure_prefix(source: &mut SqliteConnection, backup: &Path, acknowledged: &[OperationId]) -> i64 {
    source.batch_execute(&format!("ATTACH '{}' AS backup", backup.display())).unwrap();
    for table in ["operations", "ledger_entries", "postings"] {
        let strange =
            format!("SELECT count(*) FROM (SELECT * FROM backup.{table} EXCEPT SELECT * FROM main.{table})");
        assert_eq!(number(source, &strange), 0, "rows of {table} that the source lacks");
    }
    // Rows are numbered in the order of their commits, and never deleted.
    let (count, newest) = (
        number(source, "SELECT count(*) FROM backup.operations"),
        number(
            source,
            "SELECT max(o.rowid) FROM main.operations AS o JOIN backup.operations AS b USING (id)",
        ),
    );
    assert_eq!(count, newest, "the operations are a prefix of the history");
    let gaps = "SELECT count(*) FROM (SELECT count(*) AS n, max(seq) AS newest FROM backup.ledger_entries \
        GROUP BY wallet_id) WHERE n <> newest";
    assert_eq!(number(source, gaps), 0, "entries without their predecessors");
    let foreign = "SELECT count(*) FROM backup.operations AS o WHERE NOT EXISTS (SELECT 1 FROM \
        backup.ledger_entries AS e WHERE e.operation_id = o.id)";
    assert_eq!(number(source, foreign), 0, "operations without their entries");
    for operation in acknowledged {
        assert!(has_operation(source, *operation), "{operation:?} was acknowledged before the backup");
    }
    source.batch_execute("DETACH backup").unwrap();
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_load_is_a_prefix_of_the_history() {
    let (directory, folder) = (TestDirectory::create(), TestDirectory::create());
    let store = Arc::new(open(directory.path()).unwrap());
    let acknowledged = Arc::new(Mutex::new(Vec::new()));
    let stop = Arc::new(AtomicBool::new(false));
    let mut writers = Vec::new();
    for _ in 0..WRITERS {
        let (store, acknowledged, stop) = (Arc::clone(&store), Arc::clone(&acknowledged), Arc::clone(&stop));
        writers.push(tokio::spawn(async move {
            let user = guest(&store).await;
            let mut seconds = 0;
            while !stop.load(Ordering::Relaxed) {
                seconds += 1;
                let operation = topup(&store, user, Charge::Confirmed, seconds).await;
                acknowledged.lock().await.push(operation);
            }
        }));
    }
    let beyond = async |count: usize| {
        while acknowledged.lock().await.len() < count {
            tokio::task::yield_now().await;
        }
    };
    beyond(OPERATIONS).await;
    let mut backups: Vec<(PathBuf, Vec<OperationId>)> = Vec::new();
    for round in 0..3 {
        let before = acknowledged.lock().await.clone();
        let file = folder.path().join(format!("{round}.db"));
        backed_up(directory.path(), &file).await;
        beyond(before.len() + OPERATIONS).await;
        backups.push((file, before));
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    store.close().await;
    assert_eq!(names(folder.path()), ["0.db", "1.db", "2.db"]);
    let mut source = connection(&directory.path().join("cuepoint.db"));
    let mut counts = Vec::new();
    for (file, before) in &backups {
        counts.push(ensure_prefix(&mut source, file, before));
    }
    let all = i64::try_from(acknowledged.lock().await.len()).unwrap();
    assert!(counts.is_sorted() && *counts.last().unwrap() < all, "{counts:?} of {all}");
}

#[tokio::test]
async fn a_backup_is_one_private_file_and_replaces_no_existing_file() {
    let (directory, folder) = (used().await, TestDirectory::create());
    let file = folder.path().join("it's 100% ä.db");
    let store = open(directory.path()).unwrap();
    backed_up(directory.path(), &file).await;
    change(&store).await;
    assert_eq!(names(folder.path()), ["it's 100% ä.db"]);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let refused = backup(directory.path(), &file).await.err().unwrap().to_string();
    assert!(refused.ends_with("already exists"), "{refused}");
    // A backup that another one overtakes replaces nothing.
    let other = folder.path().join("other.db");
    let late = backup(directory.path(), &other).await.unwrap();
    fs::write(&other, "other").unwrap();
    assert!(late.accept().await.unwrap_err().to_string().ends_with("already exists"));
    assert_eq!(fs::read_to_string(&other).unwrap(), "other");
    assert_eq!(names(folder.path()), ["it's 100% ä.db", "other.db"]);
    store.close().await;
}

#[tokio::test]
async fn a_failed_backup_leaves_no_file() {
    let (directory, empty, folder) = (used().await, TestDirectory::create(), TestDirectory::create());
    let file = folder.path().join("backup.db");
    let message = |error: Option<BackendError>| format!("{:#}", anyhow::Error::from_boxed(error.unwrap()));
    let refused = message(backup(empty.path(), &file).await.err());
    assert!(refused.contains("has no database"), "{refused}");
    assert_eq!(names(empty.path()), Vec::<String>::new());
    let eur = SqliteBackend::new(directory.path().to_owned(), Currency::new("EUR", 2).unwrap());
    let refused = message(Maintenance::backup(&eur, &file).await.err());
    assert!(refused.contains("uses USD"), "{refused}");
    let refused = message(backup(directory.path(), &folder.path().join("absent/backup.db")).await.err());
    assert!(refused.contains("cannot be created"), "{refused}");
    // Dropped before it was accepted.
    drop(backup(directory.path(), &file).await.unwrap());
    // A page of a table has another content.
    let database = directory.path().join("cuepoint.db");
    let pages = fs::metadata(&database).unwrap().len() / 4096;
    let written = fs::OpenOptions::new().write(true).open(&database).unwrap();
    for page in 1..pages {
        written.write_all_at(&[0xAA; 100], page * 4096).unwrap();
    }
    drop(written);
    let refused = message(backup(directory.path(), &file).await.err());
    assert!(refused.contains("malformed"), "{refused}");
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[tokio::test]
async fn a_restored_directory_has_a_new_epoch_and_higher_ids() {
    let (directory, folder) = (used().await, TestDirectory::create());
    let (file, data) = (folder.path().join("backup.db"), folder.path().join("data"));
    backed_up(directory.path(), &file).await;
    let unchanged = fs::read(&file).unwrap();
    // After the backup, at most this many ids are assigned.
    let store = open(directory.path()).unwrap();
    let (user, top) = (store.next_user().await.unwrap(), store.next_topup().await.unwrap());
    store.close().await;

    let Restored { epoch, data: restored, .. } = restore(&data, &file).await.unwrap();
    assert_eq!(epoch, 7);
    assert_eq!(names(&data), ["cuepoint.db.restoring", "lock"]);
    assert!(open(&data).unwrap_err().to_string().contains("in use by pid"));
    let open_transfers = restored.open_transfers().await.unwrap();
    assert_eq!((open_transfers.withdrawals.len(), open_transfers.topups.len()), (0, 1));
    assert_eq!(open_transfers.newest_operation, Some(at(2)));
    assert!(is_consistent(&*restored).await);
    restored.accept().await.unwrap();
    assert_eq!(names(&data), ["cuepoint.db", "in-use", "lock"]);
    assert_eq!(fs::metadata(data.join("cuepoint.db")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read(&file).unwrap(), unchanged);
    assert_eq!(names(folder.path()), ["backup.db", "data"]);

    let store = open(&data).unwrap();
    assert!(store.next_user().await.unwrap().get() >= user.get() + 999_000);
    assert!(store.next_topup().await.unwrap().get() >= top.get() + 999_000);
    store.close().await;
    let mut restored = connection(&data.join("cuepoint.db"));
    assert_eq!(number(&mut restored, "SELECT epoch FROM deployment"), 7);
    assert_eq!(number(&mut restored, "SELECT count(*) FROM ids WHERE next > 1000000"), 8);
    assert_eq!(number(&mut restored, "SELECT count(*) FROM sqlite_sequence WHERE seq >= 1000000"), 6);
    let numbered = "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%AUTOINCREMENT%'";
    assert_eq!(number(&mut restored, numbered), 6, "every numbered table is moved ahead");
    drop(restored);

    let refused = restore(&data, &file).await.err().unwrap().to_string();
    assert!(refused.contains("has a database"), "{refused}");
}

#[tokio::test]
async fn a_backup_in_a_data_directory_can_be_read_but_is_not_served() {
    let (directory, folder) = (used().await, TestDirectory::create());
    let (file, by_hand) = (folder.path().join("backup.db"), TestDirectory::create());
    backed_up(directory.path(), &file).await;
    let database = by_hand.path().join("cuepoint.db");
    fs::copy(&file, &database).unwrap();
    let served = open(by_hand.path()).unwrap_err();
    for refused in [served, migrate(by_hand.path()).unwrap_err()] {
        let message = format!("{refused:#}");
        assert!(message.contains("a copy that `cuepoint backup` made"), "{message}");
        assert!(message.contains("`cuepoint restore FILE`"), "{message}");
    }
    assert_eq!(fs::read(&database).unwrap(), fs::read(&file).unwrap(), "a refusal changes nothing");

    let store = SqliteStore::open_to_read(by_hand.path(), usd()).unwrap();
    let mut auditor = Auditor::new();
    store.show(&mut auditor).await.unwrap();
    auditor.finish().unwrap();
    store.close().await;
    let endpoint = SqliteCopyEndpoint::new(by_hand.path().to_owned(), usd());
    let mut source = endpoint.open(CopyRole::Source).await.unwrap();
    assert!(source.deployment().await.unwrap().is_some());
    source.close().await.unwrap();
    assert!(open(by_hand.path()).is_err());

    // A restore removes the mark, also after these commands, and accepts a copy without one.
    let earlier = folder.path().join("earlier.db");
    let unmarked = format!("VACUUM INTO '{}'", earlier.display());
    directory.connection().batch_execute(&unmarked).unwrap();
    for (name, backup) in [("marked", &database), ("unmarked", &earlier)] {
        let data = folder.path().join(name);
        restore(&data, backup).await.unwrap().data.accept().await.unwrap();
        open(&data).unwrap().close().await;
    }
}

#[tokio::test]
async fn a_restore_ends_the_sessions_and_verification_codes_of_the_backup() {
    let (directory, folder) = (used().await, TestDirectory::create());
    let (file, data) = (folder.path().join("backup.db"), folder.path().join("data"));
    let mut source = connection(&directory.path().join("cuepoint.db"));
    source
        .batch_execute(
            "INSERT INTO sessions (id, user_id, began_at, used_at, expires_at, ended_at) VALUES (1, 1, 5, 5, 9, NULL), \
             (2, 1, 5, 5, 9, NULL), (3, 1, 5, 5, 9, 6); \
             INSERT INTO refresh_tokens (hash, session_id, issued_at, expires_at) VALUES (zeroblob(32), 1, 5, 9); \
             INSERT INTO challenges (user_id, purpose, target, hash, issued_at, attempts, ended_at) VALUES \
             (1, 'email', 'a', zeroblob(32), 5, 0, NULL), (1, 'phone', 'b', zeroblob(32), 5, 0, 6); \
             INSERT INTO challenges (user_id, purpose, target, hash, issued_at, attempts, address) VALUES \
             (1, 'email_change', 'c', zeroblob(32), 5, 0, 'c'), (1, 'email_restore', 'd', zeroblob(32), 5, 0, 'd');",
        )
        .unwrap();
    drop(source);
    backed_up(directory.path(), &file).await;
    let restored = restore(&data, &file).await.unwrap();
    assert_eq!(restored.sessions_ended, 2);
    restored.data.accept().await.unwrap();
    let mut restored = connection(&data.join("cuepoint.db"));
    assert_eq!(number(&mut restored, "SELECT count(*) FROM refresh_tokens"), 0);
    // Those that had ended keep their time.
    for table in ["sessions", "challenges"] {
        let ended = format!("SELECT count(*) FROM {table} WHERE ended_at = 6");
        assert_eq!(number(&mut restored, &ended), 1, "{table}");
        let recent = format!("SELECT count(*) FROM {table} WHERE ended_at BETWEEN 7 AND 1000000");
        assert_eq!(number(&mut restored, &recent), 0, "{table}");
    }
    assert_eq!(number(&mut restored, "SELECT count(*) FROM sessions WHERE ended_at IS NULL"), 0);
    // The owner of a previous address can restore it even after a restore of the database.
    let open = "SELECT count(*) FROM challenges WHERE ended_at IS NULL AND purpose";
    assert_eq!(number(&mut restored, &format!("{open} = 'email_restore'")), 1);
    assert_eq!(number(&mut restored, &format!("{open} <> 'email_restore'")), 0);
}

#[tokio::test]
async fn an_unusable_backup_is_refused() {
    let (directory, folder) = (used().await, TestDirectory::create());
    let path = |name: &str| folder.path().join(name);
    let good = path("good.db");
    backed_up(directory.path(), &good).await;
    let whole = fs::read(&good).unwrap();

    fs::write(path("text.db"), "not a database".repeat(20)).unwrap();
    fs::write(path("empty.db"), "").unwrap();
    fs::write(path("half.db"), &whole[..whole.len() / 2 / 4096 * 4096]).unwrap();
    fs::write(path("torn.db"), &whole[..whole.len() - 100]).unwrap();
    fs::write(path("logged.db"), &whole).unwrap();
    fs::write(path("logged.db-wal"), "frames").unwrap();
    let mut foreign = connection(&path("foreign.db"));
    foreign.batch_execute("CREATE TABLE users (id INTEGER); INSERT INTO users VALUES (1)").unwrap();
    let mut nothing = connection(&path("nothing.db"));
    nothing.batch_execute("CREATE TABLE t (id); DROP TABLE t").unwrap();
    fs::write(path("page.db"), &whole).unwrap();
    let corrupted = File::options().write(true).open(path("page.db")).unwrap();
    for page in 2..whole.len() / 4096 {
        corrupted.write_all_at(&[0xAA; 200], u64::try_from(page * 4096).unwrap()).unwrap();
    }
    fs::write(path("newer.db"), &whole).unwrap();
    let newer = "INSERT INTO __diesel_schema_migrations (version) VALUES ('29990101000001')";
    connection(&path("newer.db")).batch_execute(newer).unwrap();
    fs::write(path("moved.db"), &whole).unwrap();
    let moved = "UPDATE deployment SET copy_state = 'moved', copy_id = zeroblob(16), \
        copy_target = 'another store'";
    connection(&path("moved.db")).batch_execute(moved).unwrap();
    fs::write(path("euro.db"), &whole).unwrap();
    connection(&path("euro.db")).batch_execute("UPDATE deployment SET currency = 'EUR'").unwrap();

    let data = path("data");
    for (name, part) in [
        ("absent.db", "No such file"),
        ("text.db", "it is not a SQLite database"),
        ("empty.db", "it is not a SQLite database"),
        ("half.db", "it is damaged"),
        ("torn.db", "it is damaged"),
        ("page.db", "it is damaged"),
        ("logged.db", "it is incomplete"),
        ("foreign.db", "it belongs to another program"),
        ("nothing.db", "it belongs to another program"),
        ("newer.db", "newer version"),
        ("moved.db", "was copied to another store"),
        ("euro.db", "uses EUR"),
    ] {
        let error = restore(&data, &path(name)).await.err().expect(name);
        let message = format!("{:#}", anyhow::Error::from_boxed(error));
        assert!(message.contains(part) && message.contains(name), "{name}: {message}");
        assert!(!data.exists() || names(&data) == ["lock"], "{name} leaves {:?}", names(&data));
    }
    restore(&data, &good).await.unwrap().data.accept().await.unwrap();
    open(&data).unwrap().close().await;
}

#[tokio::test]
async fn leftover_database_files_prevent_a_restore() {
    let (directory, folder) = (used().await, TestDirectory::create());
    let (file, data) = (folder.path().join("backup.db"), folder.path().join("data"));
    backed_up(directory.path(), &file).await;
    fs::create_dir(&data).unwrap();
    for name in ["cuepoint.db-wal", "cuepoint.db-shm", "cuepoint.db-journal"] {
        fs::write(data.join(name), "left").unwrap();
        let refused = restore(&data, &file).await.err().unwrap().to_string();
        assert!(refused.contains(name) && refused.contains("move it away"), "{refused}");
        fs::remove_file(data.join(name)).unwrap();
    }
    restore(&data, &file).await.unwrap().data.accept().await.unwrap();
}

#[tokio::test]
async fn servers_refuse_an_unfinished_restore() {
    let (directory, folder) = (used().await, TestDirectory::create());
    let (file, data) = (folder.path().join("backup.db"), folder.path().join("data"));
    backed_up(directory.path(), &file).await;
    // As a killed restore leaves it.
    fs::create_dir(&data).unwrap();
    for name in ["cuepoint.db.restoring", "cuepoint.db.restoring-wal"] {
        fs::write(data.join(name), "left").unwrap();
    }
    let refused = open(&data).unwrap_err().to_string();
    assert!(refused.contains("was interrupted: run `cuepoint restore` again"), "{refused}");
    restore(&data, &file).await.unwrap().data.accept().await.unwrap();
    assert_eq!(names(&data), ["cuepoint.db", "in-use", "lock"]);
    let store = open(&data).unwrap();
    change(&store).await;
    store.close().await;
}

#[tokio::test]
async fn an_inconsistent_backup_or_restore_is_kept_under_another_name() {
    let (directory, folder) = (used().await, TestDirectory::create());
    let (good, bad) = (folder.path().join("good.db"), folder.path().join("bad.db"));
    let data = folder.path().join("data");
    backed_up(directory.path(), &good).await;
    let tamper = "UPDATE wallets SET available = '999'";
    connection(&directory.path().join("cuepoint.db")).batch_execute(tamper).unwrap();
    let copy = backup(directory.path(), &bad).await.unwrap();
    assert!(!is_consistent(&*copy).await);
    let kept = copy.reject().await.unwrap().unwrap();
    assert_eq!(kept, folder.path().join("bad.db.inconsistent"));
    assert_eq!(names(folder.path()), ["bad.db.inconsistent", "good.db"]);

    let restored = restore(&data, &kept).await.unwrap().data;
    assert!(!is_consistent(&*restored).await);
    let aside = restored.reject().await.unwrap().unwrap();
    assert_eq!(aside, fs::canonicalize(&data).unwrap().join("cuepoint.db.inconsistent"));
    let refused = open(&data).unwrap_err().to_string();
    assert!(refused.contains("inconsistent ledger: restore another backup"), "{refused}");
    restore(&data, &good).await.unwrap().data.accept().await.unwrap();
    open(&data).unwrap().close().await;
}
