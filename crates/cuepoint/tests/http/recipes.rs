//! The units, the crontab and the shell commands that the documents print, run as systemd, cron and a shell run them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use cuepoint_store_sqlite::testing;

use super::data_directory::Folder;
use crate::harness::{Client, Database};

/// The documents whose shell commands are run here.
const OPERATIONS: &str = include_str!("../../../../docs/operations.md");
const STORAGE: &str = include_str!("../../../../docs/storage.md");
/// The files that the documents name, and the folders of a test that stand for theirs.
const ENVIRONMENT: &str = "/etc/cuepoint/environment";
const SERVER: &str = "/etc/systemd/system/cuepoint.service";
const BACKUP: &str = "/etc/systemd/system/cuepoint-backup.service";
const TIMER: &str = "/etc/systemd/system/cuepoint-backup.timer";
const FOLDERS: [&str; 3] = ["/etc/cuepoint", "/var/lib/cuepoint", "/var/backups/cuepoint"];
const BINARY: &str = "/usr/local/bin/cuepoint";

/// The blocks of a document in a language.
fn blocks_of(document: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    let blocks = document.split(&begin).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// The blocks of all documents in a language.
fn blocks(language: &str) -> Vec<String> {
    let (mut documents, mut folders) =
        (Vec::new(), vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                documents.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    documents.iter().flat_map(|document| blocks_of(document, language)).collect()
}

/// The files that the blocks of configuration contain, by path. Each begins with a line that names it.
fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::<String, String>::new();
    // The configuration of PostgreSQL is no recipe of the service.
    for block in blocks("ini").iter().filter(|block| !block.starts_with("# postgresql.conf")) {
        let mut file = None;
        for line in block.lines() {
            if let Some(path) = line.strip_prefix("# /") {
                file = Some(files.entry(format!("/{path}")).or_default());
            } else {
                let text = file.as_mut().unwrap_or_else(|| panic!("the file of {line:?} has no name"));
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    files
}

/// The command lines that the crontabs contain, without their times.
fn cron_lines() -> Vec<String> {
    let blocks = blocks("crontab");
    let command = |line: &str| line.splitn(6, ' ').nth(5).unwrap().to_owned();
    blocks.iter().flat_map(|block| block.lines()).map(command).collect()
}

/// The values of a key in a unit or an environment file.
fn values<'a>(file: &'a str, key: &str) -> Vec<&'a str> {
    file.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect()
}

/// The words of a command line of a unit, as systemd splits and expands it.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    for word in &mut words {
        let literal = word.replace("$$", "").replace("%%", "");
        assert!(!literal.contains(['$', '%', '\\', '"']), "systemd would expand {word:?}");
        *word = word.replace("$$", "$").replace("%%", "%");
    }
    words
}

/// A machine: the files of the documents under the folder of a test.
struct Machine {
    folder: Folder,
    files: BTreeMap<String, String>,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { folder: Folder::new(), files: files() };
        for folder in FOLDERS {
            fs::create_dir_all(machine.here(folder)).unwrap();
        }
        fs::write(machine.here(ENVIRONMENT), machine.here(&machine.files[ENVIRONMENT])).unwrap();
        machine
    }

    /// A machine with key files.
    fn with_keys() -> Self {
        let machine = Self::new();
        for arguments in [&["keys", "rotate"][..], &["keys", "rotate", "--webhooks"]] {
            let mut keys = machine.unit_command(&machine.files[SERVER], BINARY);
            keys.args(arguments);
            succeeds(keys);
        }
        machine
    }

    /// A machine with key files and the data of a user.
    fn with_user() -> Self {
        let machine = Self::with_keys();
        let (_running, client) = Running::start(machine.unit_command(&machine.files[SERVER], BINARY));
        client.person(false);
        machine
    }

    /// Lines of a shell in the environment of the server, whose binary is on the path.
    fn shell(&self, lines: &str) -> Command {
        let programs = self.folder.path().join("bin");
        fs::create_dir_all(&programs).unwrap();
        let program = programs.join("cuepoint");
        if !program.exists() {
            symlink(env!("CARGO_BIN_EXE_cuepoint"), program).unwrap();
        }
        let mut shell = self.unit_command(&self.files[SERVER], "/bin/sh -e -c");
        shell.arg(self.here(lines)).current_dir(self.folder.path());
        shell.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
        shell
    }

    /// A text with the paths of this machine.
    fn here(&self, text: &str) -> String {
        let root = self.folder.path().to_str().unwrap();
        let text = FOLDERS.iter().fold(text.replace(BINARY, "@binary@"), |text, folder| {
            text.replace(folder, &format!("{root}{folder}"))
        });
        text.replace("@binary@", env!("CARGO_BIN_EXE_cuepoint"))
    }

    /// A command of a unit, in the environment that systemd sets.
    fn unit_command(&self, unit: &str, line: &str) -> Command {
        let words = words(&self.here(line));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.current_dir("/").stdin(Stdio::null());
        for file in values(unit, "EnvironmentFile") {
            for line in self.files[file].lines() {
                let (name, value) = line.split_once('=').unwrap();
                command.env(name, self.here(value));
            }
        }
        for name in values(unit, "StateDirectory") {
            command.env("STATE_DIRECTORY", self.here(&format!("/var/lib/{name}")));
        }
        command
    }

    /// Writes an old and a young backup.
    fn earlier_backups(&self) {
        for (name, age) in [("old.db", "20 days ago"), ("young.db", "3 days ago")] {
            let path = self.here(&format!("/var/backups/cuepoint/{name}"));
            File::create(&path).unwrap();
            assert!(Command::new("touch").args(["-d", age, &path]).status().unwrap().success());
        }
    }

    /// Takes the backup that a recipe made, provided that it has this many users, and that the old one is gone.
    fn ensure_backup(&self, users: &str) {
        let folder = self.here("/var/backups/cuepoint");
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        names.sort();
        let [made, young] = &names[..] else { panic!("{names:?}") };
        assert!(young.ends_with("young.db"), "{names:?}");
        let found = testing::rows(made, "SELECT CAST(count(*) AS TEXT) FROM users");
        assert_eq!(found, [[Some(users.to_owned())]]);
        fs::remove_file(made).unwrap();
    }
}

/// A server, killed on drop.
struct Running(Child);

impl Running {
    /// Starts a server on a free port.
    fn start(mut command: Command) -> (Self, Client) {
        command.env("CUEPOINT__SERVER__PORT", "0").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut running = Self(command.spawn().unwrap());
        let mut lines = BufReader::new(running.0.stdout.take().unwrap()).lines().map(Result::unwrap);
        let address = lines.find_map(|line| line.strip_prefix("listening on ").map(str::to_owned));
        (running, Client::new(&address.expect("the server starts")))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn succeeds(mut command: Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
}

#[test]
fn the_printed_units_and_the_crontab_back_up_the_data_of_the_printed_server() {
    let machine = Machine::with_keys();
    let known = [ENVIRONMENT, SERVER, BACKUP, TIMER];
    assert!(machine.files.keys().all(|path| known.contains(&path.as_str())), "a recipe is not run here");
    let [server, backup, timer] = [SERVER, BACKUP, TIMER].map(|path| machine.files[path].as_str());
    assert!(server.contains("[Install]") && timer.contains("[Install]"));

    let (_running, client) = Running::start(machine.unit_command(server, values(server, "ExecStart")[0]));
    client.person(false);

    machine.earlier_backups();
    for line in [values(backup, "ExecStart"), values(backup, "ExecStartPost")].concat() {
        succeeds(machine.unit_command(backup, line));
    }
    machine.ensure_backup("1");

    for line in cron_lines() {
        machine.earlier_backups();
        assert!(!line.replace("\\%", "").contains('%'), "cron ends a command at %: {line}");
        let mut cron = Command::new("/bin/sh");
        cron.arg("-c").arg(machine.here(&line.replace("\\%", "%")));
        cron.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/").current_dir("/");
        succeeds(cron);
        machine.ensure_backup("1");
    }
}

/// A part of a block of shell commands by which it is known, and how it is run.
type ShellRun = (&'static str, fn(&str));

const SHELL_RUNS: &[ShellRun] = &[
    ("keys rotate --webhooks", creates_key_files),
    ("CUEPOINT__STORAGE__POSTGRES__URL=", serves_on_postgres),
    ("cuepoint backup ", backs_up),
    ("--dry-run", copies_to_postgres),
    ("--abort", resolves_interrupted_copies),
];

#[test]
fn every_shell_block_of_operations_and_storage_runs() {
    let blocks = [OPERATIONS, STORAGE].map(|document| blocks_of(document, "sh")).concat();
    for (part, _) in SHELL_RUNS {
        let count = blocks.iter().filter(|block| block.contains(part)).count();
        assert_eq!(count, 1, "{count} blocks have {part:?}");
    }
    for block in &blocks {
        let run = SHELL_RUNS.iter().find(|(part, _)| block.contains(part));
        let (_, run) = run.unwrap_or_else(|| panic!("a block is not run here: {block}"));
        run(block);
    }
}

/// A block with another URL of a PostgreSQL database.
fn at_database(block: &str, written: &str, database: &Database) -> String {
    assert!(block.contains(written), "{written} is not in {block}");
    block.replace(written, database.url())
}

fn built(block: &str) -> String {
    block.replace("target/release/cuepoint", "cuepoint")
}

fn creates_key_files(block: &str) {
    let machine = Machine::new();
    succeeds(machine.shell(&built(block)));
    for name in ["signing-keys", "webhook-keys"] {
        let file = fs::metadata(machine.folder.path().join(name)).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600, "{name} can be read by others");
    }
}

fn serves_on_postgres(block: &str) {
    let (machine, database) = (Machine::new(), Database::postgres());
    let [keys, _] = &blocks_of(OPERATIONS, "sh")[..] else { panic!("the key files have no block") };
    succeeds(machine.shell(&built(keys)));
    // The cluster of the tests has no TLS.
    let written = "postgres://cuepoint:…@db.example.com/cuepoint?sslmode=require";
    let mut start = machine.shell(&format!("exec env {}", at_database(&built(block), written, &database)));
    start.env_remove("CUEPOINT__STORAGE__BACKEND").env_remove("CUEPOINT__STORAGE__DIR");
    let (_running, client) = Running::start(start);
    client.person(false);
    assert_eq!(database.rows("SELECT count(*) FROM users"), [[Some("1".to_owned())]]);
}

fn backs_up(block: &str) {
    let machine = Machine::with_user();
    succeeds(machine.shell(block));
    let path = block.trim().strip_prefix("cuepoint backup ").unwrap();
    let made = Path::new(&machine.here(path)).to_owned();
    assert_eq!(testing::rows(&made, "SELECT CAST(count(*) AS TEXT) FROM users"), [[Some("1".to_owned())]]);
}

fn copies_to_postgres(block: &str) {
    let (machine, database) = (Machine::with_user(), Database::postgres());
    let written = "postgres://cuepoint@db.example.com/cuepoint";
    succeeds(machine.shell(&at_database(block, written, &database)));
    let mut verify = machine.shell("cuepoint ledger verify");
    assert!(!verify.status().unwrap().success(), "the data directory has been moved");
}

fn resolves_interrupted_copies(block: &str) {
    let lines: Vec<&str> = block.lines().collect();
    let [finish, abort] = lines[..] else { panic!("{block}") };
    for (line, part, step) in [(finish, "--finish", "copy_committed"), (abort, "--abort", "copy_marked")] {
        assert!(line.contains(part), "{line}");
        let (machine, database) = (Machine::with_user(), Database::postgres());
        let mut copy = machine.shell(&format!("cuepoint storage copy --to {}", database.url()));
        copy.env("CUEPOINT_CRASH_AT", step);
        assert!(!copy.status().unwrap().success(), "the copy ends at {step}");
        succeeds(machine.shell(&at_database(line, "URL", &database)));
        let serves = machine.shell("cuepoint ledger verify").status().unwrap().success();
        assert_eq!(serves, part == "--abort", "{line}");
    }
}
