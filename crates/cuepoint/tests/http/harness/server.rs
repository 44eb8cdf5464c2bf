//! The server binary as a separate process.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{env, thread};

use nix::pty::{OpenptyResult, openpty};

use super::{Client, Database, Store, eventually};

/// The configured key of servers that accept each other's tokens, and those of an earlier start.
pub(crate) const SHARED_KEY: (&str, &str) =
    ("auth.signing_keys", "shared:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");

/// The webhook keys of servers on PostgreSQL, unless a test configures others: data directories have their own.
const WEBHOOK_KEYS: &str = "shared:HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// The time limit of a command.
const RUN_WITHIN: Duration = Duration::from_secs(120);

/// The text before the listening address.
pub(crate) const LISTENING: &str = "listening on ";

/// The listening address in a line of text or JSON.
pub(super) fn listening_address(line: &str) -> Option<&str> {
    let (_, after) = line.split_once(LISTENING)?;
    after.split('"').next().map(str::trim)
}

/// The memory and iterations of a password hash by default, for tests of times that depend on them.
pub(crate) fn default_hash_cost() -> [(&'static str, &'static str); 2] {
    let default = include_str!("../../../../../config/default.toml");
    ["auth.argon2_memory_kib", "auth.argon2_iterations"].map(|key| {
        let assignment = format!("{} = ", key.trim_start_matches("auth."));
        (key, default.lines().find_map(|line| line.strip_prefix(&assignment)).unwrap())
    })
}

/// The place of a server's data.
pub(crate) enum Place {
    Memory,
    /// A data directory.
    Sqlite(PathBuf),
    /// A database at a URL.
    Postgres(String),
}

/// A running server, killed on drop.
pub(crate) struct Server {
    child: Child,
    client: Client,
    log: Log,
    /// Standard error while it is not read.
    unread: Option<ChildStderr>,
    /// Declared last, so that the database is dropped after the process.
    database: Option<Arc<Database>>,
}

/// The output of a process so far.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Log {
    fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }

    /// Collects the output line by line, and sends the address once it appears.
    fn follow(&self, output: impl Read + Send + 'static, told: Option<Sender<String>>) {
        let log = self.clone();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let (Some(told), Some(address)) = (&told, listening_address(&line)) {
                    // The receiver is gone after the first address.
                    let _ = told.send(address.to_owned());
                }
                let mut text = log.0.lock().unwrap();
                text.push_str(&line);
                text.push('\n');
            }
        });
    }
}

/// What a server shows on its terminal.
#[derive(Clone, Default)]
pub(crate) struct Shown(Log);

impl Shown {
    /// The text so far.
    pub(crate) fn text(&self) -> String {
        self.0.text()
    }
}

impl Server {
    /// A server on a fresh store.
    pub(crate) fn start(store: Store) -> Self {
        Self::configured(store, &[])
    }

    /// A server in memory with rate limits, which trusts each call's forwarded address.
    pub(crate) fn counting(keys: &[(&str, &str)]) -> Self {
        let counting = [("rate_limits.enabled", "true"), ("server.trusted_proxies", "127.0.0.1")];
        Self::configured(Store::Memory, &[&counting[..], keys].concat())
    }

    /// A server on a fresh store with this configuration on top of the test defaults.
    pub(crate) fn configured(store: Store, keys: &[(&str, &str)]) -> Self {
        match store {
            Store::Memory => Self::spawn(None, &Place::Memory, keys),
            Store::Sqlite | Store::Postgres => Self::on(&Arc::new(Database::of(store)), keys),
        }
    }

    /// A server on an existing database; on SQLite the only one.
    pub(crate) fn on(database: &Arc<Database>, keys: &[(&str, &str)]) -> Self {
        Self::spawn(Some(Arc::clone(database)), &database.place(), keys)
    }

    /// Two servers on an existing database, or the only one that SQLite allows.
    pub(crate) fn as_many_as_may(database: &Arc<Database>, keys: &[(&str, &str)]) -> Vec<Self> {
        let count = if database.store() == Store::Sqlite { 1 } else { 2 };
        (0..count).map(|_| Self::on(database, keys)).collect()
    }

    /// A server that reaches a PostgreSQL database at another address.
    pub(crate) fn through(database: &Arc<Database>, url: &str, keys: &[(&str, &str)]) -> Self {
        let mut server = Self::reaching(url, keys);
        server.database = Some(Arc::clone(database));
        server
    }

    /// A server on the PostgreSQL database at this address, which outlives it.
    pub(crate) fn reaching(url: &str, keys: &[(&str, &str)]) -> Self {
        Self::spawn(None, &Place::Postgres(url.to_owned()), keys)
    }

    /// A server with this configuration, including its store.
    pub(crate) fn start_with(keys: &[(&str, &str)]) -> Self {
        Self::spawn(None, &Place::Memory, keys)
    }

    /// A server with an in-memory store, whose standard error is a pipe that is not read.
    pub(crate) fn with_unread_log() -> Self {
        Self::spawn_unread(None, &Place::Memory, &["serve"], &[])
    }

    /// A server on an existing database, started with these arguments.
    pub(crate) fn running(database: &Arc<Database>, arguments: &[&str], keys: &[(&str, &str)]) -> Self {
        let mut server = Self::spawn_unread(Some(Arc::clone(database)), &database.place(), arguments, keys);
        server.read_log();
        server
    }

    /// A server on a fresh store with these arguments, whose standard output is a terminal, and what it shows there.
    pub(crate) fn on_terminal(store: Store, arguments: &[&str]) -> (Self, Shown) {
        let database = (store != Store::Memory).then(|| Arc::new(Database::of(store)));
        let place = database.as_ref().map_or(Place::Memory, |database| database.place());
        let OpenptyResult { master, slave } = openpty(None, None).unwrap();
        let terminal = (Stdio::from(slave), Some(File::from(master)));
        let shown = Shown::default();
        let mut server =
            Self::spawn_saying(database, &place, arguments, &[], terminal, &shown.0, Log::default());
        server.read_log();
        (server, shown)
    }

    fn spawn(database: Option<Arc<Database>>, place: &Place, keys: &[(&str, &str)]) -> Self {
        let mut server = Self::spawn_unread(database, place, &["serve"], keys);
        server.read_log();
        server
    }

    fn spawn_unread(
        database: Option<Arc<Database>>,
        place: &Place,
        arguments: &[&str],
        keys: &[(&str, &str)],
    ) -> Self {
        let log = Log::default();
        Self::spawn_saying(database, place, arguments, keys, (Stdio::piped(), None), &log.clone(), log)
    }

    /// A server with this standard output, whose other end, or pipe, is read into `said`; `log` is for standard error.
    fn spawn_saying(
        database: Option<Arc<Database>>,
        place: &Place,
        arguments: &[&str],
        keys: &[(&str, &str)],
        (stdout, other_end): (Stdio, Option<File>),
        said: &Log,
        log: Log,
    ) -> Self {
        let mut command = configured(place, arguments, &[&[("server.workers", "2")], keys].concat());
        let mut child = command.stdout(stdout).stderr(Stdio::piped()).spawn().unwrap();
        let (told, address) = mpsc::channel();
        match other_end {
            Some(end) => said.follow(end, Some(told)),
            None => said.follow(child.stdout.take().unwrap(), Some(told)),
        }
        let mut unread = child.stderr.take();
        match address.recv_timeout(Duration::from_secs(60)) {
            Ok(address) => Self { child, client: Client::new(&address), log, unread, database },
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                let (mut said, stderr) = (said.text(), unread.take());
                let _ = stderr.unwrap().read_to_string(&mut said);
                panic!("the server does not say where it listens ({error}):\n{said}");
            }
        }
    }

    /// Reads standard error from now on.
    pub(crate) fn read_log(&mut self) {
        self.log.follow(self.unread.take().unwrap(), None);
    }

    /// Closes the unread pipe.
    pub(crate) fn close_log(&mut self) {
        drop(self.unread.take().unwrap());
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// The database of the server, if it is durable.
    pub(crate) fn database(&self) -> Option<Arc<Database>> {
        self.database.clone()
    }

    /// Its standard output and standard error so far.
    pub(crate) fn log(&self) -> String {
        self.log.text()
    }

    /// The messages to this address in its log, as lines, oldest first.
    pub(crate) fn messages(&self, address: &str) -> Vec<String> {
        let mark = format!("message to {address}: ");
        self.log().lines().filter(|line| line.contains(&mark)).map(str::to_owned).collect()
    }

    /// The message to this address that is this many after the first; waits for it.
    pub(crate) fn message(&self, address: &str, number: usize) -> String {
        eventually("the message is in the log", || self.messages(address).into_iter().nth(number))
    }

    /// The id of the process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until the process has exited.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        eventually("the server ends", || self.child.try_wait().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            let log = self.log();
            let lines: Vec<&str> = log.lines().collect();
            eprintln!("the server's last lines:\n{}", lines[lines.len().saturating_sub(20)..].join("\n"));
        }
        drop(self.database.take());
    }
}

/// Runs the binary to completion in memory, or on the PostgreSQL database at a URL, and returns its exit
/// status with standard output and standard error.
pub(crate) fn run(arguments: &[&str], url: Option<&str>, keys: &[(&str, &str)]) -> (ExitStatus, String) {
    let place = url.map_or(Place::Memory, |url| Place::Postgres(url.to_owned()));
    run_at(&place, arguments, keys)
}

/// Runs the binary to completion, and returns its exit status with standard output and standard error.
pub(crate) fn run_at(place: &Place, arguments: &[&str], keys: &[(&str, &str)]) -> (ExitStatus, String) {
    completed(configured(place, arguments, keys))
}

/// The binary with these arguments and this configuration.
fn configured(place: &Place, arguments: &[&str], keys: &[(&str, &str)]) -> Command {
    let mut command = command(arguments);
    place.configure(&mut command);
    for (key, value) in keys {
        command.env(variable(key), value);
    }
    command
}

/// Like [`run_at`], with this text as standard input.
pub(crate) fn run_with_input(
    place: &Place,
    arguments: &[&str],
    keys: &[(&str, &str)],
    input: &str,
) -> (ExitStatus, String) {
    let mut command = configured(place, arguments, keys);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input.as_bytes()).unwrap();
    file.rewind().unwrap();
    command.stdin(file);
    completed(command)
}

/// Runs a command to completion, and returns its exit status with standard output and standard error. A server that
/// starts although the test expects a refusal is killed, and fails the test.
pub(crate) fn completed(mut command: Command) -> (ExitStatus, String) {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (stdout, stderr) = (whole(child.stdout.take().unwrap()), whole(child.stderr.take().unwrap()));
    let end = Instant::now() + RUN_WITHIN;
    let mut status = child.try_wait().unwrap();
    while status.is_none() && Instant::now() < end {
        thread::sleep(Duration::from_millis(5));
        status = child.try_wait().unwrap();
    }
    if status.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let text = [stdout.join().unwrap(), stderr.join().unwrap()].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let status = status.unwrap_or_else(|| panic!("{command:?} did not end within {RUN_WITHIN:?}: {text}"));
    (status, text)
}

/// Repeats a command that no server may disturb until PostgreSQL has noticed that an ended server is gone. Returns whether
/// the command succeeded, and its output.
pub(crate) fn once_servers_are_gone(mut run: impl FnMut() -> (ExitStatus, String)) -> (bool, String) {
    eventually("the server's connections are gone", || {
        let (status, said) = run();
        (!said.contains("a server is connected")).then_some((status.success(), said))
    })
}

/// Reads an output to its end.
fn whole(mut output: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        output.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

/// The binary in the test environment, without the configuration of this process.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuepoint"));
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("CUEPOINT") {
            command.env_remove(name);
        }
    }
    command
        .args(arguments)
        .env("CUEPOINT_ENV", "test")
        .env("CUEPOINT__SERVER__PORT", "0")
        .stdin(Stdio::null());
    command
}

impl Place {
    /// Sets the configuration that leads there.
    fn configure(&self, command: &mut Command) {
        let (backend, key, value) = match self {
            Self::Memory => ("memory", None, None),
            Self::Sqlite(directory) => ("sqlite", Some("storage.dir"), Some(directory.as_os_str())),
            Self::Postgres(url) => ("postgres", Some("storage.postgres.url"), Some(url.as_ref())),
        };
        command.env(variable("storage.backend"), backend);
        if matches!(self, Self::Postgres(_)) {
            command.env(variable("webhooks.keys"), WEBHOOK_KEYS);
        }
        if let (Some(key), Some(value)) = (key, value) {
            command.env(variable(key), value);
        }
    }
}

/// The environment variable of a configuration key; the name of a variable stays as it is.
fn variable(key: &str) -> String {
    if !key.contains(char::is_lowercase) {
        return key.to_owned();
    }
    format!("CUEPOINT__{}", key.replace('.', "__").to_uppercase())
}
