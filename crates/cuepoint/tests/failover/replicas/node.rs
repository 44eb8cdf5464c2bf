//! One PostgreSQL server.

use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use super::Session;
use super::supervisor::{Programs, Supervisor};
use crate::harness::eventually;

/// Ports below those that systems give to outgoing connections, so that a node that is down does not lose its own.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// The ports that were given to nodes: a node listens at its port only once it runs.
static GIVEN_PORTS: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// A node, running or not.
pub(crate) struct Node {
    name: String,
    address: SocketAddr,
    data: PathBuf,
    log: PathBuf,
    programs: Programs,
    process: Option<Child>,
    /// Its processes that are stopped.
    stopped: Vec<String>,
}

impl Node {
    pub(super) fn new(number: usize, supervisor: &Supervisor) -> Self {
        let name = format!("node{number}");
        Self {
            address: free_address(),
            data: supervisor.folder().join(&name),
            log: supervisor.folder().join(format!("{name}.log")),
            programs: supervisor.programs().clone(),
            process: None,
            stopped: Vec::new(),
            name,
        }
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) const fn is_running(&self) -> bool {
        self.process.is_some()
    }

    /// The address of its database, with this node as the only host.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.address)
    }

    /// A connection of the test's own.
    pub(crate) fn session(&self) -> Session {
        Session::open(self.address).unwrap_or_else(|| panic!("{} takes no connection", self.name))
    }

    /// The first value that a statement answers with on this node.
    pub(crate) fn value(&self, statement: &str) -> Option<String> {
        self.session().value(statement)
    }

    /// Makes a new cluster with these settings.
    pub(super) fn initialize(&self, settings: &str) {
        let mut initdb = self.programs.command("initdb");
        initdb.args(["--no-sync", "-A", "trust", "-U", "postgres", "--no-locale", "-E", "UTF8"]);
        succeeds(initdb.args(["--wal-segsize", "4", "-D"]).arg(&self.data));
        let file = self.data.join("postgresql.conf");
        let defaults = fs::read_to_string(&file).unwrap();
        fs::write(file, format!("{defaults}\n{settings}")).unwrap();
    }

    /// Replaces the data by a copy of a running primary's, and starts as its standby.
    pub(super) fn start_as_copy_of(&mut self, primary: SocketAddr) {
        if self.data.exists() {
            fs::remove_dir_all(&self.data).unwrap();
        }
        let mut backup = self.programs.command("pg_basebackup");
        backup
            .args(["--no-sync", "--checkpoint=fast", "--write-recovery-conf", "-U", "postgres", "-D"])
            .arg(&self.data);
        backup.args(["-h", &primary.ip().to_string(), "-p", &primary.port().to_string()]);
        succeeds(&mut backup);
        // The copy of the primary's own settings would name the primary that it followed once.
        fs::write(
            self.data.join("postgresql.auto.conf"),
            format!("primary_conninfo = '{}'\n", self.conninfo(primary)),
        )
        .unwrap();
        self.start(&[]);
    }

    /// Starts the server on the data that it has, and waits until it takes connections.
    pub(super) fn start(&mut self, arguments: &[&str]) {
        let log = File::options().create(true).append(true).open(&self.log).unwrap();
        let process = eventually(&format!("{} starts", self.name), || {
            let mut server = self.programs.command("postgres");
            server.arg("-D").arg(&self.data).args(["-p", &self.address.port().to_string()]).args(arguments);
            server.stdout(log.try_clone().unwrap()).stderr(log.try_clone().unwrap());
            let mut process = server.spawn().unwrap();
            // It ends at once while processes of its killed predecessor are still there.
            let starts = eventually(&format!("{} starts or ends", self.name), || {
                if process.try_wait().unwrap().is_some() {
                    return Some(false);
                }
                Session::open(self.address).map(|_| true)
            });
            starts.then_some(process)
        });
        self.process = Some(process);
    }

    /// Sends SIGKILL to every process.
    pub(super) fn kill(&mut self) {
        let pids = self.stop_all_processes();
        signal("KILL", &pids);
        self.stopped.clear();
        self.reap();
    }

    /// Stops every process.
    pub(super) fn freeze(&mut self, supervisor: &mut Supervisor) {
        self.stopped = self.stop_all_processes();
        supervisor.note_stopped(&self.stopped);
    }

    /// Stops the postmaster first, so that no process comes while the others are listed, and then these.
    fn stop_all_processes(&self) -> Vec<String> {
        let postmaster = self.process.as_ref().expect("the node runs").id().to_string();
        if self.stopped.contains(&postmaster) {
            return self.stopped.clone();
        }
        let session = self.session();
        signal("STOP", std::slice::from_ref(&postmaster));
        let mut pids = session.column("SELECT pid FROM pg_stat_activity");
        pids.push(postmaster);
        signal("STOP", &pids);
        pids
    }

    pub(super) fn stop_wal_senders(&mut self, supervisor: &mut Supervisor) {
        self.stop_processes("SELECT pid FROM pg_stat_replication", supervisor);
    }

    pub(super) fn stop_wal_receiver(&mut self, supervisor: &mut Supervisor) {
        self.stop_processes("SELECT pid FROM pg_stat_wal_receiver", supervisor);
    }

    fn stop_processes(&mut self, query: &str, supervisor: &mut Supervisor) {
        let pids = self.session().column(query);
        assert!(!pids.is_empty(), "{} replicates", self.name);
        signal("STOP", &pids);
        supervisor.note_stopped(&pids);
        self.stopped.extend(pids);
    }

    /// Lets the stopped processes go on.
    pub(super) fn resume(&mut self) {
        signal("CONT", &std::mem::take(&mut self.stopped));
    }

    /// Waits until a standby receives nothing from the killed primary any more.
    pub(super) fn wait_for_end_of_stream(&self) {
        let session = self.session();
        eventually("the stream from the killed primary has ended", || {
            session.column("SELECT pid FROM pg_stat_wal_receiver").is_empty().then_some(())
        });
    }

    /// The last position in the WAL that a standby has received.
    pub(super) fn last_received(&self) -> u64 {
        let session = self.session();
        // A stream that has just begun counts from the start of a file that may have been replayed further.
        let position = session.value(
            "SELECT pg_wal_lsn_diff(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')",
        );
        position.expect("a standby has received something").parse().unwrap()
    }

    /// Makes a standby the primary.
    pub(super) fn promote(&self) {
        assert_eq!(self.value("SELECT pg_promote(true, 30)").as_deref(), Some("t"), "{}", self.name);
    }

    /// Has a standby follow another primary.
    pub(super) fn follow(&self, primary: SocketAddr) {
        let session = self.session();
        session.rows(&format!("ALTER SYSTEM SET primary_conninfo = '{}'", self.conninfo(primary)));
        session.rows("SELECT pg_reload_conf()");
    }

    fn conninfo(&self, primary: SocketAddr) -> String {
        let (host, port) = (primary.ip(), primary.port());
        format!("host={host} port={port} user=postgres application_name={}", self.name)
    }

    /// Waits for the ended process.
    pub(super) fn reap(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.wait().unwrap();
        }
    }

    /// Shows the last lines of its log.
    pub(super) fn print_log(&self) {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        eprintln!("the last lines of {}:\n{}", self.name, lines[lines.len().saturating_sub(12)..].join("\n"));
    }
}

/// Runs a program to its end.
fn succeeds(command: &mut Command) {
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&printed));
}

/// Sends a signal to processes, some of which may have ended.
fn signal(name: &str, pids: &[String]) {
    if !pids.is_empty() {
        let mut kill = Command::new("kill");
        kill.args(["-s", name]).args(pids).stderr(Stdio::null()).status().unwrap();
    }
}

/// An address that no other node has and no other program listens at, beginning anywhere in the range.
fn free_address() -> SocketAddr {
    let anywhere = RandomState::new().build_hasher().finish();
    let start = (anywhere % PORTS.len() as u64) as u16;
    let mut ports =
        (0..PORTS.end - PORTS.start).map(|step| PORTS.start + (start + step) % (PORTS.end - PORTS.start));
    let mut given = GIVEN_PORTS.lock().unwrap();
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok() && given.insert(*port);
    (Ipv4Addr::LOCALHOST, ports.find(is_free).expect("a port is free")).into()
}
