//! `cuepoint backup` and `cuepoint restore FILE` with the data directory of a server.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cuepoint_store_sqlite::testing::TestDirectory;
use serde_json::{Value, json};

use crate::events::lost_events;
use crate::harness::{Database, PASSWORD, Person, Server, Store, operator_keys, run};

/// A folder with a data directory, a key file, and room for backups.
struct Scene {
    folder: TestDirectory,
    keys: String,
}

impl Scene {
    fn new() -> Self {
        let folder = TestDirectory::create();
        let keys = folder.path().join("keys").to_str().unwrap().to_owned();
        let scene = Self { folder, keys };
        scene.run(&["keys", "rotate"], "data");
        scene
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Calls `with` with the configuration for the data directory with this name.
    fn configured<T>(&self, data: &str, with: impl FnOnce(&[(&str, &str)]) -> T) -> T {
        let data = self.path(data);
        with(&[("storage.backend", "sqlite"), ("storage.dir", &data), ("auth.signing_key_file", &self.keys)])
    }

    /// A server on a data directory, with the first operator.
    fn server(&self, data: &str) -> Server {
        self.configured(data, |keys| {
            Server::configured(Store::Memory, &[keys, &operator_keys("operator@example.com")].concat())
        })
    }

    fn try_run(&self, arguments: &[&str], data: &str) -> (Option<i32>, String) {
        let (status, said) = self.configured(data, |keys| run(arguments, None, keys));
        (status.code(), said)
    }

    fn run(&self, arguments: &[&str], data: &str) -> String {
        let (code, said) = self.try_run(arguments, data);
        assert_eq!(code, Some(0), "{said}");
        said
    }

    /// The command, not started, for a data directory.
    fn command(&self, arguments: &[&str], data: &str) -> Command {
        let mut command = Command::new(arguments[0]);
        command
            .args(&arguments[1..])
            .env("CUEPOINT_ENV", "test")
            .env("CUEPOINT__STORAGE__BACKEND", "sqlite")
            .env("CUEPOINT__STORAGE__DIR", self.path(data))
            .env("CUEPOINT__AUTH__SIGNING_KEY_FILE", &self.keys)
            .stdin(Stdio::null());
        command
    }

    fn names(&self, folder: &str) -> Vec<String> {
        names(&self.folder.path().join(folder))
    }
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The withdrawals as an operator sees them.
fn withdrawals(operator: &Person) -> Value {
    operator.get("/operator/withdrawals").data(200)["data"].clone()
}

#[test]
fn the_newest_backups_of_a_directory_are_kept() {
    let scene = Scene::new();
    drop(scene.server("data"));
    let directory = scene.path("backups");
    fs::create_dir(&directory).unwrap();
    let named = |name: &str| format!("{directory}/{name}");
    let older = ["2026-01-02T030405.db", "2026-01-01T000000.db", "2025-12-31T235959.db"];
    let others = ["2026-01-01.db", "+2026-01-01T000000.db", "notes.txt", "2024-01-01T000000.db.inconsistent"];
    for name in older.iter().chain(&others) {
        fs::write(named(name), "").unwrap();
    }
    fs::create_dir(named("2023-01-01T000000.db")).unwrap();
    let dated = || {
        let names =
            fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut dated: Vec<String> = names.filter(|name| !others.contains(&name.as_str())).collect();
        dated.sort();
        dated
    };
    scene.run(&["backup", "--keep", "2", &directory], "data");
    let left = dated();
    assert_eq!(left[..2], ["2023-01-01T000000.db", older[0]], "a folder is no backup: {left:?}");
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(others.iter().all(|name| Path::new(&named(name)).exists()));

    // Backups named after a future time by a wrong clock do not count, and stay.
    let future = ["2098-12-31T000000.db", "2099-01-01T000000.db"];
    for name in future {
        fs::write(named(name), "").unwrap();
    }
    let before = dated();
    scene.run(&["backup", "--keep", "2", &directory], "data");
    let left = dated();
    assert_eq!((left.len(), &left[1]), (5, &before[2]), "yesterday's backup is kept: {left:?}");
    assert_eq!(left[3..], future);
    fs::write(named(older[0]), "").unwrap();

    // A failed backup removes nothing.
    let (code, said) = scene.try_run(&["backup", "--keep", "1", &directory], "nowhere");
    assert_eq!(code, Some(1), "{said}");
    assert!(Path::new(&named(older[0])).exists());
    let (code, said) = scene.try_run(&["backup", "--keep", "0", &directory], "data");
    assert!(code == Some(2) && said.contains("--keep"), "{said}");
}

#[test]
fn a_restore_invalidates_tokens_and_reuses_no_ids_from_after_the_backup() {
    let scene = Scene::new();
    let server = scene.server("data");
    let operator = server.client().login("operator@example.com");
    let early = server.payer("100");
    let (held, approved) = (early.withdrawal("10"), early.withdrawal("20"));
    let review = json!({"reason": "checked"});
    operator.post(&format!("/operator/withdrawals/{approved}/approve"), &review).data(200);
    let before = withdrawals(&operator);
    let last = lost_events::head(&early);
    let file = scene.path("backup.db");
    // The server goes on.
    let said = scene.run(&["backup", &file], "data");
    assert!(said.contains("the ledger is consistent"), "{said}");
    assert!(said.contains(" bytes, newest operation: 20"), "{said}");
    let late = server.payer("400");
    let withdrawn = late.withdrawal("50");
    assert_eq!(early.wallet(), ("70.00".into(), "30.00".into()));
    let seen = lost_events::head(&late);
    drop(server);

    let keys = fs::read_to_string(&scene.keys).unwrap();
    let said = scene.run(&["restore", &file], "restored");
    let reference = before[0]["reference"].as_str().unwrap();
    assert!(
        said.contains(&format!("withdrawal {approved}: approved, 20.00 USD, reference {reference}")),
        "{said}"
    );
    assert!(said.contains("in flight: 1 withdrawals, 0 top-ups"), "{said}");
    assert!(said.contains("the ledger is consistent"), "{said}");
    let new = fs::read_to_string(&scene.keys).unwrap();
    assert!(keys.lines().all(|key| !new.contains(key)), "the old keys are gone");

    let server = scene.server("restored");
    lost_events::are_noticed(&server, &early.at(&server.client()), last, seen);
    for token in [&late.token, &early.token, &operator.token] {
        server.client().call("GET", "/user/personal-info").bearer(token).send().refused(401, "invalid_token");
    }
    for token in [&late.refresh_token, &early.refresh_token] {
        let refresh = json!({"refresh_token": token});
        server.client().post("/auth/refresh", &refresh).refused(401, "invalid_refresh_token");
    }
    let login = json!({"email": late.email, "password": PASSWORD});
    server.client().post("/auth/login", &login).refused(401, "invalid_credentials");
    let other = server.payer("300");
    let others = other.withdrawal("300");
    assert!(other.id > late.id + 990_000 && others > withdrawn + 990_000, "{} {others}", other.id);
    let early = early.at(&server.client());
    assert_eq!(early.wallet(), ("73.00".into(), "30.00".into()));
    assert_eq!(early.get(&format!("/withdrawals/{held}")).data(200)["status"], "pending");
    let operator = server.client().login("operator@example.com");
    let after = withdrawals(&operator);
    assert_eq!(after[0]["id"], others);
    assert_eq!([&after[1], &after[2]], [&before[0], &before[1]], "references included");
    drop(server);
    let said = scene.run(&["ledger", "verify"], "restored");
    assert!(said.contains("the ledger is consistent"), "{said}");
}

#[test]
fn a_second_restore_reuses_no_positions() {
    let scene = Scene::new();
    let server = scene.server("data");
    let early = server.payer("100");
    let last = lost_events::head(&early);
    let file = scene.path("backup.db");
    scene.run(&["backup", &file], "data");
    early.topup("1");
    let mut seen = lost_events::head(&early);
    drop(server);
    for restored in ["restored", "restored-again"] {
        scene.run(&["restore", &file], restored);
        let server = scene.server(restored);
        seen = lost_events::are_noticed(&server, &early.at(&server.client()), last, seen);
    }
}

#[test]
fn a_backup_under_load_contains_all_changes_acknowledged_before_it() {
    let scene = Scene::new();
    let server = scene.server("data");
    let guests: Vec<Person> = (0..4).map(|_| server.payer("5")).collect();
    let stop = AtomicBool::new(false);
    let (counts, files) = thread::scope(|scope| {
        for guest in &guests {
            let stop = &stop;
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    guest.topup("1");
                }
            });
        }
        let taken = (0..2).map(|round| {
            thread::sleep(Duration::from_millis(200));
            let before: Vec<usize> = guests.iter().map(Person::entry_count).collect();
            let file = scene.path(&format!("{round}.db"));
            scene.run(&["backup", &file], "data");
            (before, file)
        });
        let taken: Vec<_> = taken.collect();
        stop.store(true, Ordering::Relaxed);
        taken.into_iter().unzip::<_, _, Vec<_>, Vec<_>>()
    });
    let last: Vec<Vec<Value>> = guests.iter().map(Person::entries).collect();
    drop(server);
    for (round, (before, file)) in counts.iter().zip(&files).enumerate() {
        let data = format!("restored-{round}");
        scene.run(&["restore", file], &data);
        let server = scene.server(&data);
        for ((guest, before), last) in guests.iter().zip(before).zip(&last) {
            let entries = server.client().login(&guest.email).entries();
            assert!(entries.len() >= *before && entries.len() <= last.len());
            // Each entry raises the balance.
            let oldest_first = |entries: &[Value]| {
                let mut entries = entries.to_vec();
                entries.sort_by_key(|entry| entry["available_after"].as_f64().map(f64::to_bits));
                entries
            };
            assert_eq!(oldest_first(&entries)[..], oldest_first(last)[..entries.len()]);
        }
    }
}

/// The id of a process does not tell whether it is alive, because in containers every process has the same id.
#[test]
fn the_next_backup_removes_the_part_of_a_killed_one() {
    let scene = Scene::new();
    drop(scene.server("data"));
    fs::create_dir(scene.path("backups")).unwrap();
    let part = |name: &str| scene.path(&format!("backups/{name}.partial"));
    for name in ["backup.db", "2026-01-01T000000.db", "other.db"] {
        fs::write(part(name), "half").unwrap();
    }
    // The part of a running backup is locked.
    let living = fs::File::create(part("2026-01-02T000000.db")).unwrap();
    living.lock().unwrap();
    scene.run(&["backup", "--keep", "2", &scene.path("backups")], "data");
    let left = scene.names("backups");
    assert_eq!(left.len(), 4, "{left:?}");
    assert_eq!(left[0], "2026-01-02T000000.db.partial");
    scene.run(&["backup", &scene.path("backups/backup.db")], "data");
    assert!(!Path::new(&part("backup.db")).exists() && Path::new(&part("other.db")).exists());
    fs::remove_file(scene.path("backups/backup.db")).unwrap();
    let living = fs::File::create(part("backup.db")).unwrap();
    living.lock().unwrap();
    let (code, said) = scene.try_run(&["backup", &scene.path("backups/backup.db")], "data");
    assert!(code == Some(1) && said.contains("another process writes it"), "{said}");
}

#[test]
fn a_failed_backup_leaves_no_file() {
    let scene = Scene::new();
    let server = scene.server("data");
    server.payer("10");
    fs::create_dir(scene.path("backups")).unwrap();
    let file = scene.path("backups/backup.db");
    // Files of this process end at 64 KiB, as on a full disk.
    let limited = "trap '' XFSZ; ulimit -f 128; exec \"$0\" \"$@\"";
    let binary = env!("CARGO_BIN_EXE_cuepoint");
    let output = scene.command(&["sh", "-c", limited, binary, "backup", &file], "data").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("backup.db cannot be written: ") && said.lines().count() == 1, "{said}");
    assert_eq!(scene.names("backups"), Vec::<String>::new());

    // Interrupted at any moment, it leaves the whole file or none.
    let mut finished = false;
    for delay in (0..).map(|step| Duration::from_millis(step * 8)) {
        let mut child = scene
            .command(&[binary, "backup", &file], "data")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        thread::sleep(delay);
        let pid = child.id().to_string();
        let signal = if delay.as_millis() % 16 == 0 { "INT" } else { "TERM" };
        if child.try_wait().unwrap().is_some() {
            finished = true;
        } else {
            Command::new("kill").args(["-s", signal, &pid]).stderr(Stdio::null()).status().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        let left = scene.names("backups");
        if output.status.success() {
            assert_eq!(left, ["backup.db"]);
            fs::remove_file(&file).unwrap();
        } else {
            assert_eq!(left, Vec::<String>::new(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        if finished {
            break;
        }
    }
    // A file that exists is not replaced.
    fs::write(&file, "mine").unwrap();
    let (code, said) = scene.try_run(&["backup", &file], "data");
    assert!(code == Some(1) && said.contains("already exists"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    server.guest();
}

#[test]
fn a_killed_restore_can_be_repeated() {
    let scene = Scene::new();
    let server = scene.server("data");
    let guest = server.payer("10");
    drop(server);
    let file = scene.path("backup.db");
    scene.run(&["backup", &file], "data");
    let binary = env!("CARGO_BIN_EXE_cuepoint");
    for delay in (0..).map(|step| Duration::from_millis(step * 8)) {
        let mut child = scene
            .command(&[binary, "restore", &file], "restored")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(delay);
        let ended = child.try_wait().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let left =
            if Path::new(&scene.path("restored")).exists() { scene.names("restored") } else { Vec::new() };
        if left.iter().any(|name| name == "cuepoint.db") {
            break;
        }
        assert_eq!(ended, None, "a restore that nothing interrupts succeeds");
        if left.iter().any(|name| name == "cuepoint.db.restoring") {
            let (code, said) = scene.try_run(&["migrate"], "restored");
            assert!(code == Some(1) && said.contains("restore into the data directory"), "{said}");
        }
    }
    let server = scene.server("restored");
    server
        .client()
        .call("GET", "/user/personal-info")
        .bearer(&guest.token)
        .send()
        .refused(401, "invalid_token");
    let guest = guest.at(&server.client());
    assert_eq!(guest.wallet().0, "10.00");
}

#[test]
fn restore_requires_an_empty_unused_directory() {
    let scene = Scene::new();
    let server = scene.server("data");
    let guest = server.payer("10");
    let file = scene.path("backup.db");
    scene.run(&["backup", &file], "data");
    let (code, said) = scene.try_run(&["restore", &file], "data");
    assert!(code == Some(1) && said.contains("is in use by pid"), "{said}");
    assert_eq!(guest.wallet().0, "10.00", "its token is as good as before");
    drop(server);
    let (code, said) = scene.try_run(&["restore", &file], "data");
    assert!(code == Some(1) && said.contains("restore into an empty directory"), "{said}");
    let server = scene.server("data");
    assert_eq!(guest.at(&server.client()).wallet().0, "10.00");
}

#[test]
fn an_unusable_backup_is_reported_on_one_line() {
    let scene = Scene::new();
    drop(scene.server("data"));
    let file = scene.path("backup.db");
    scene.run(&["backup", &file], "data");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let keys = fs::read(&scene.keys).unwrap();
    for (path, part) in [(file, "it is damaged"), (scene.path("keys"), "it is not a SQLite database")] {
        let (code, said) = scene.try_run(&["restore", &path], "restored");
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("is not a usable backup") && said.contains(part), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    assert_eq!(fs::read(&scene.keys).unwrap(), keys, "no key is replaced for a refused file");
}

#[test]
fn backup_and_restore_suggest_the_commands_of_the_configured_store() {
    let scene = Scene::new();
    drop(scene.server("data"));
    let file = scene.path("backup.db");
    let (code, said) = scene.try_run(&["restore", "--database-name", "x"], "data");
    assert!(code == Some(1) && said.contains("run `cuepoint restore FILE`"), "{said}");
    for arguments in [&["restore"][..], &["restore", &file, "--database-name", "x"], &["backup"]] {
        assert_eq!(scene.try_run(arguments, "data").0, Some(2));
    }
    for (arguments, part) in [
        (["backup", &file], "there is nothing to back up"),
        (["restore", &file], "there is nothing to restore"),
    ] {
        let (status, said) = run(&arguments, None, &[]);
        assert!(status.code() == Some(1) && said.contains(part), "{said}");
    }
    let database = Arc::new(Database::postgres());
    let (status, said) = run(&["backup", &file], Some(database.url()), &[]);
    let name = database.url().rsplit_once('/').unwrap().1;
    assert!(status.code() == Some(1) && said.contains("pg_dump --format=custom --file="), "{said}");
    assert!(said.contains(name) && said.contains("`cuepoint ledger verify`"), "{said}");
    let (status, said) = run(&["restore", &file], Some(database.url()), &[]);
    assert!(status.code() == Some(1) && said.contains("`cuepoint restore --database-name NAME`"), "{said}");
    assert!(!Path::new(&file).exists());
}
