//! `cuepoint storage copy`: data moves to the other store and back, and an interrupted copy never leaves two
//! stores that serve.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;

use cuepoint_store_sqlite::testing as sqlite;
use tempfile::TempDir;

use crate::harness::{Database, Server, eventually, once_servers_are_gone, run};

/// The variable that names the step at which the process ends.
const CRASH_AT: &str = "CUEPOINT_CRASH_AT";

/// A data directory, deleted on drop.
struct Directory(TempDir);

impl Directory {
    fn new() -> Self {
        Self(TempDir::with_prefix("cuepoint-copy-").unwrap())
    }

    fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }
}

/// The store of a command: the configured one, or its target.
enum CopyStore {
    Sqlite(Directory),
    Postgres(Arc<Database>),
}

impl CopyStore {
    fn sqlite() -> Self {
        Self::Sqlite(Directory::new())
    }

    fn postgres() -> Self {
        Self::Postgres(Arc::new(Database::postgres()))
    }

    fn url(&self) -> String {
        match self {
            Self::Sqlite(directory) => format!("sqlite:{}", directory.path()),
            Self::Postgres(database) => database.url().to_owned(),
        }
    }

    /// The configuration of this store, on top of that of the harness.
    fn keys(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Sqlite(directory) => {
                vec![("storage.backend", "sqlite"), ("storage.dir", directory.path())]
            }
            Self::Postgres(database) => {
                vec![("storage.backend", "postgres"), ("storage.postgres.url", database.url())]
            }
        }
    }

    /// A server on this store, with signing keys that outlive it.
    fn server(&self) -> Server {
        Server::start_with(&self.keys())
    }

    /// Whether a server starts, and what the command says otherwise.
    fn serves(&self) -> Result<(), String> {
        // The lock of a process that was killed lasts until the database notices.
        eventually("the lock is free", || {
            let (status, said) = run(&["ledger", "verify"], None, &self.keys());
            let served = if status.success() { Ok(()) } else { Err(said) };
            served
                .as_ref()
                .err()
                .is_none_or(|said| !said.contains("is running on this database"))
                .then_some(served)
        })
    }

    /// Runs the command on this store. A server that has just ended may still hold the lock of its store.
    fn copy(&self, to: &Self, options: &[&str], crash_at: Option<&str>) -> (bool, String) {
        let url = to.url();
        let arguments = [&["storage", "copy", "--to", &url], options].concat();
        let mut keys = self.keys();
        keys.extend(crash_at.map(|step| (CRASH_AT, step)));
        once_servers_are_gone(|| run(&arguments, None, &keys))
    }
}

/// Declares a test in each direction.
macro_rules! in_both_directions {
    ($($test:ident),+ $(,)?) => {
        mod to_postgres {
            $(#[test]
            fn $test() {
                super::$test(&super::CopyStore::sqlite(), &super::CopyStore::postgres());
            })+
        }

        mod to_sqlite {
            $(#[test]
            fn $test() {
                super::$test(&super::CopyStore::postgres(), &super::CopyStore::sqlite());
            })+
        }
    };
}

in_both_directions!(
    only_the_target_serves_after_a_copy,
    a_dry_run_changes_nothing,
    a_copy_killed_before_it_marks_the_source_leaves_the_source_in_use,
    a_copy_killed_before_its_commit_can_only_be_aborted,
    a_copy_killed_after_its_commit_can_only_be_finished,
    an_interrupted_copy_stays_interrupted_while_the_target_is_unreachable,
    a_copy_is_refused_while_the_source_or_the_target_is_in_use,
);

/// The digests that a copy printed.
fn digests(said: &str) -> Vec<&str> {
    said.lines().filter(|line| line.contains("SHA-256")).collect()
}

/// Fills the source.
fn fill(from: &CopyStore) {
    let server = from.server();
    let (guest, dj) = (server.payer("20"), server.dj());
    dj.answer(guest.request_song(&dj), "played").data(200);
    guest.request_song(&dj);
}

fn only_the_target_serves_after_a_copy(from: &CopyStore, to: &CopyStore) {
    let server = from.server();
    let (guest, dj) = (server.payer("20"), server.dj());
    dj.answer(guest.request_song(&dj), "played").data(200);
    let (wallet, entries) = (guest.wallet(), guest.entries());
    drop(server);
    let (done, said) = from.copy(to, &[], None);
    assert!(done && said.contains("the ledger is consistent") && digests(&said).len() > 10, "{said}");
    let refused = from.serves().unwrap_err();
    assert!(refused.contains("in use instead"), "{refused}");
    let (done, again) = from.copy(to, &[], None);
    assert!(!done && again.contains("in use instead"), "{again}");

    let server = to.server();
    let moved = server.client().login(&guest.email);
    assert_eq!((moved.id, moved.wallet(), moved.entries()), (guest.id, wallet, entries));
    let other = server.payer("5");
    assert!(other.id > dj.id.max(guest.id), "an id is used twice");
    drop(server);
    let last = match from {
        CopyStore::Sqlite(_) => CopyStore::sqlite(),
        CopyStore::Postgres(_) => CopyStore::postgres(),
    };
    let (done, back) = to.copy(&last, &[], None);
    assert!(done && digests(&back).len() == digests(&said).len(), "{back}");
    last.serves().unwrap();
    assert_eq!(last.server().client().login(&guest.email).id, guest.id);
}

fn a_dry_run_changes_nothing(from: &CopyStore, to: &CopyStore) {
    fill(from);
    let (done, dry) = from.copy(to, &["--dry-run"], None);
    assert!(done && dry.contains("nothing has changed"), "{dry}");
    from.serves().unwrap();
    let (done, said) = from.copy(to, &[], None);
    assert!(done, "{said}");
    assert_eq!(digests(&dry), digests(&said));
}

fn a_copy_killed_before_it_marks_the_source_leaves_the_source_in_use(from: &CopyStore, to: &CopyStore) {
    fill(from);
    for step in ["copy_written", "copy_verified"] {
        let (done, said) = from.copy(to, &[], Some(step));
        assert!(!done, "{step}: {said}");
        from.serves().unwrap();
        for flag in ["--finish", "--abort"] {
            let (done, said) = from.copy(to, &[flag], None);
            assert!(!done && said.contains("no copy of the source was interrupted"), "{step} {flag}: {said}");
        }
        let refused = to.serves().unwrap_err();
        assert!(
            refused.contains("was begun and not completed: run `cuepoint storage copy` again"),
            "{refused}"
        );
    }
    // The target is still empty.
    let (done, said) = from.copy(to, &[], None);
    assert!(done, "{said}");
}

fn a_copy_killed_before_its_commit_can_only_be_aborted(from: &CopyStore, to: &CopyStore) {
    fill(from);
    let (done, said) = from.copy(to, &[], Some("copy_marked"));
    assert!(!done, "{said}");
    let refused = from.serves().unwrap_err();
    assert!(refused.contains("storage copy --finish") && refused.contains("--abort"), "{refused}");
    let (done, said) = from.copy(to, &[], None);
    assert!(!done && said.contains("storage copy --finish"), "{said}");
    let (done, said) = from.copy(to, &["--finish"], None);
    assert!(!done && said.contains("does not have the copy"), "{said}");
    let elsewhere = match to {
        CopyStore::Sqlite(_) => CopyStore::sqlite(),
        CopyStore::Postgres(_) => CopyStore::postgres(),
    };
    let (done, said) = run(&["migrate"], None, &elsewhere.keys());
    assert!(done.success(), "{said}");
    let (done, said) = from.copy(&elsewhere, &["--abort"], None);
    assert!(!done && said.contains("the interrupted copy went to"), "{said}");
    from.serves().unwrap_err();
    let (done, said) = from.copy(to, &["--abort"], None);
    assert!(done && said.contains("serves again"), "{said}");
    from.serves().unwrap();
    let (done, said) = from.copy(to, &[], None);
    assert!(done, "{said}");
}

fn a_copy_killed_after_its_commit_can_only_be_finished(from: &CopyStore, to: &CopyStore) {
    fill(from);
    let (done, said) = from.copy(to, &[], Some("copy_committed"));
    assert!(!done, "{said}");
    from.serves().unwrap_err();
    let (done, said) = from.copy(to, &["--abort"], None);
    assert!(!done && said.contains("has the copy"), "{said}");
    from.serves().unwrap_err();
    // The target already serves.
    let server = to.server();
    let (done, said) = from.copy(to, &["--finish"], None);
    assert!(done && said.contains("in use instead"), "{said}");
    server.payer("5");
    for flag in ["--finish", "--abort"] {
        let (done, said) = from.copy(to, &[flag], None);
        assert!(!done && said.contains("in use instead"), "{flag}: {said}");
    }
}

fn an_interrupted_copy_stays_interrupted_while_the_target_is_unreachable(from: &CopyStore, to: &CopyStore) {
    fill(from);
    let (done, said) = from.copy(to, &[], Some("copy_marked"));
    assert!(!done, "{said}");
    for url in ["sqlite:/nonexistent/data", "postgres://nobody@127.0.0.1:1/nothing"] {
        for flag in ["--finish", "--abort"] {
            let (status, said) = run(&["storage", "copy", "--to", url, flag], None, &from.keys());
            assert!(!status.success() && said.contains("the target"), "{flag} {url}: {said}");
            from.serves().unwrap_err();
        }
    }
    let (done, said) = from.copy(to, &["--abort"], None);
    assert!(done, "{said}");
    from.serves().unwrap();
}

fn a_copy_is_refused_while_the_source_or_the_target_is_in_use(from: &CopyStore, to: &CopyStore) {
    let in_use = |said: &str| said.contains("in use by pid") || said.contains("a server is connected");
    let server = from.server();
    server.payer("20");
    let copy = |options: &[&str]| {
        let url = to.url();
        let (status, said) = run(&[&["storage", "copy", "--to", &url], options].concat(), None, &from.keys());
        (status.success(), said)
    };
    let (done, said) = copy(&[]);
    assert!(!done && said.contains("the source") && in_use(&said), "{said}");
    drop(server);
    let server = to.server();
    let refused = eventually("the source is unused", || {
        let (done, said) = copy(&[]);
        (!said.contains("the source:")).then_some((done, said))
    });
    assert!(!refused.0 && refused.1.contains("the target") && in_use(&refused.1), "{}", refused.1);
    server.guest();
    drop(server);
    let (done, said) = from.copy(to, &[], None);
    assert!(!done && said.contains("is not empty: users has 1 rows"), "{said}");
    from.serves().unwrap();
}

#[test]
fn an_interrupted_copy_is_aborted_only_with_its_own_target() {
    let (from, to) = (CopyStore::postgres(), Directory::new());
    fill(&from);
    let to_url = format!("sqlite:{}", to.path());
    let copy = |url: &str, options: &[&str], crash_at: Option<&str>| {
        let mut keys = from.keys();
        keys.extend(crash_at.map(|step| (CRASH_AT, step)));
        let arguments = [&["storage", "copy", "--to", url], options].concat();
        once_servers_are_gone(|| run(&arguments, None, &keys))
    };
    let (done, said) = copy(&to_url, &[], Some("copy_marked"));
    assert!(!done, "{said}");
    let moved = Directory::new();
    fs::remove_dir(moved.path()).unwrap();
    fs::rename(to.path(), moved.path()).unwrap();
    let at_its_place = [("storage.backend", "sqlite"), ("storage.dir", to.path())];
    let (status, said) = run(&["migrate"], None, &at_its_place);
    assert!(status.success(), "{said}");
    let (done, said) = copy(&to_url, &["--abort"], None);
    assert!(!done && said.contains("which has no record of its beginning"), "{said}");
    from.serves().unwrap_err();
    let (done, said) = copy(&format!("sqlite:{}", moved.path()), &["--abort"], None);
    assert!(done && said.contains("serves again"), "{said}");
    from.serves().unwrap();
}

#[test]
fn an_interrupted_copy_without_a_record_is_resolved_with_the_printed_statement() {
    let (database, target) = (Arc::new(Database::postgres()), Directory::new());
    let file = target.0.path().join("cuepoint.db");
    let (from, to) = (CopyStore::Postgres(Arc::clone(&database)), CopyStore::Sqlite(target));
    fill(&from);
    let (done, said) = from.copy(&to, &[], Some("copy_marked"));
    assert!(!done, "{said}");
    // As a version before these records left it.
    sqlite::execute(&file, "UPDATE deployment SET begun_copy_id = NULL");
    let (done, said) = from.copy(&to, &["--abort"], None);
    assert!(!done && said.contains("docs/storage.md"), "{said}");
    from.serves().unwrap_err();
    let statement = said.split('`').find(|text| text.starts_with("UPDATE "));
    database.execute(statement.unwrap());
    from.serves().unwrap();
    let (done, said) = from.copy(&to, &[], None);
    assert!(done, "{said}");
}

#[test]
fn a_copy_succeeds_even_if_stdout_cannot_be_written() {
    let (from, to) = (CopyStore::sqlite(), CopyStore::postgres());
    fill(&from);
    let CopyStore::Sqlite(directory) = &from else { panic!("the source is a directory") };
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuepoint"));
    command
        .args(["storage", "copy", "--data", directory.path(), "--to", &to.url()])
        .env("CUEPOINT_ENV", "test");
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(from.serves().unwrap_err().contains("in use instead"));
    to.serves().unwrap();
}

#[test]
fn a_copy_of_a_backup_can_be_served_after_a_restore() {
    let (from, backup, to) = (CopyStore::sqlite(), CopyStore::sqlite(), CopyStore::postgres());
    fill(&from);
    let CopyStore::Sqlite(directory) = &backup else { panic!("the backup is in a directory") };
    let file = format!("{}/cuepoint.db", directory.path());
    let (status, said) = run(&["backup", &file], None, &from.keys());
    assert!(status.success(), "{said}");
    let (done, said) = backup.copy(&to, &[], None);
    let command = "cuepoint restore --database-name NAME";
    assert!(done && said.contains("the source is a backup") && said.contains(command), "{said}");
    let (_, name) =
        to.url().rsplit_once('/').map(|(server, name)| (server.to_owned(), name.to_owned())).unwrap();
    let (status, said) = run(&["restore", "--database-name", &name], None, &to.keys());
    assert!(status.success(), "{said}");
    to.serves().unwrap();
}

#[test]
fn an_unusable_copy_target_is_reported_as_an_error_of_the_to_option() {
    let from = CopyStore::sqlite();
    drop(from.server());
    for url in ["postgres://cuepoint@host:port/x", "postgres://cuepoint@db.example.com/x?sslmode=disable"] {
        let (status, said) = run(&["storage", "copy", "--to", url], None, &from.keys());
        assert!(!status.success() && said.contains("the target: --to "), "{said}");
        assert!(!said.contains("storage.postgres.url"), "{said}");
    }
}

#[test]
fn contradictory_or_invalid_copy_options_are_refused() {
    let from = CopyStore::sqlite();
    for arguments in [
        &["--dry-run"][..],
        &["--to", "sqlite:/x", "--finish", "--abort"],
        &["--to", "sqlite:/x", "--dry-run", "--finish"],
        &["--to", "mysql://user:secret@host/x"],
        &["--to", "sqlite:"],
    ] {
        let (status, said) = run(&[&["storage", "copy"], arguments].concat(), None, &from.keys());
        assert!(!status.success() && !said.contains("secret"), "{arguments:?}: {said}");
    }
    let (status, said) =
        run(&["storage", "copy", "--to", "sqlite:/x"], None, &[("storage.backend", "memory")]);
    assert!(!status.success() && said.contains("nothing to copy"), "{said}");
    let (status, said) = run(&["storage", "copy", "--to", &from.url()], None, &CopyStore::sqlite().keys());
    assert!(!status.success() && said.contains("another kind of store"), "{said}");
}
