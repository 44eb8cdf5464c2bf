//! The process that ends and removes everything, however the test ends.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// The folder of PostgreSQL's programs.
const PROGRAMS: &str = "CUEPOINT_TEST_POSTGRES_PROGRAMS";
/// The numbers of the user and group that PostgreSQL runs as, `uid:gid`; not set where it is our own user.
const USER: &str = "CUEPOINT_TEST_POSTGRES_USER";

/// Reads the ids of stopped processes, or `none` when they go on, and, at the end of its input, which comes however we end, kills these, ends the
/// nodes and removes the folder.
const SCRIPT: &str = r#"
trap '' HUP INT TERM PIPE
folder=$1 programs=$2 stopped=
exec 2>>"$folder/supervisor.log"
while read -r pid; do
    if [ "$pid" = none ]; then stopped=; else stopped="$stopped $pid"; fi
done
for pid in $stopped; do kill -s KILL "$pid"; done
for node in "$folder"/node?; do
    "$programs/pg_ctl" stop -m immediate -t 10 -D "$node" >&2
done
cd /
for try in 1 2 3 4 5; do rm -rf "$folder" && break; sleep 1; done
"#;

/// A folder, the user who owns it, and the process that removes it.
pub(super) struct Supervisor {
    folder: PathBuf,
    server: Programs,
    process: Child,
}

/// PostgreSQL's programs, run as the user who may run them.
#[derive(Clone)]
pub(super) struct Programs {
    folder: PathBuf,
    user: Option<(u32, u32)>,
}

impl Programs {
    fn find() -> Self {
        let folder =
            env::var_os(PROGRAMS).unwrap_or_else(|| panic!("{PROGRAMS} is not set: run `cargo xtask test`"));
        let user = env::var_os(USER).map(|user| {
            let user = user.to_string_lossy().into_owned();
            let (uid, gid) = user.split_once(':').expect(USER);
            (uid.parse().expect(USER), gid.parse().expect(USER))
        });
        Self { folder: folder.into(), user }
    }

    /// A program of PostgreSQL.
    pub(super) fn command(&self, program: &str) -> Command {
        self.as_user(self.folder.join(program))
    }

    /// Any program, in a process group of its own, so that Ctrl-C reaches the test and not what the supervisor ends.
    fn as_user(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        for (name, _) in env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"PG") {
                command.env_remove(name);
            }
        }
        command.process_group(0).stdin(Stdio::null());
        command
    }
}

impl Supervisor {
    pub(super) fn start() -> Self {
        // It is removed by the supervisor, which outlives this process when that is killed.
        let folder = TempDir::with_prefix("cuepoint-replicas-").unwrap().keep();
        let server = Programs::find();
        if let Some((uid, gid)) = server.user {
            chown(&folder, Some(uid), Some(gid)).unwrap();
        }
        let mut command = server.as_user("sh");
        command.args(["-c", SCRIPT, "sh"]).args([&folder, &server.folder]).current_dir(&folder);
        let process = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        Self { folder, server, process }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) const fn programs(&self) -> &Programs {
        &self.server
    }

    /// Has these processes killed at the end: stopped processes would not notice the end.
    pub(super) fn note_stopped(&mut self, pids: &[String]) {
        pids.iter().for_each(|pid| self.send_line(pid));
    }

    /// Notes that the stopped processes go on.
    pub(super) fn forget_stopped(&mut self) {
        self.send_line("none");
    }

    fn send_line(&mut self, line: &str) {
        let input = self.process.stdin.as_mut().expect("the supervisor reads");
        writeln!(input, "{line}").expect("the supervisor reads");
    }

    /// Ends every process and removes the folder.
    pub(super) fn end(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
        // Only its owner can remove an entry of a temporary folder that is not everyone's.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
