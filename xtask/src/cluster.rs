//! A temporary PostgreSQL server with a folder of its own, both removed when this process ends.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::{env, fs, process};

use anyhow::{Context, bail, ensure};

use crate::postgres_binaries;
use crate::server_user::ServerUser;
use crate::workspace::{output_of, remove_folder};

/// Creates the cluster, tries to start it on each port that it reads until one is free, and removes
/// everything at the end of its input, which follows any kind of exit of this process.
const SUPERVISOR: &str = r#"
trap '' HUP INT TERM PIPE
folder=$1 bin=$2 settings=$3
exec 2>>log
"$bin/initdb" --no-sync -A trust -U postgres --no-locale -E UTF8 -D data >>log &&
    printf '%s\n' "$settings" >>data/postgresql.conf
while read -r port; do
    if "$bin/pg_ctl" start -w -D data -l log -o "-p $port" >>log; then echo ready; else echo failed; fi
done
"$bin/pg_ctl" stop -w -m immediate -D data >>log
cd / && rm -rf "$folder"
"#;

/// The number of ports to try, because another program may take a free port before the server starts.
const PORTS_TRIED: usize = 3;

/// The purpose of a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Tuned for speed instead of durability.
    Testing,
    /// As durable as in production, on a real disk, with memory for the measured data.
    Measuring,
}

/// A running server that trusts all local connections.
pub(crate) struct Cluster {
    folder: PathBuf,
    port: u16,
    supervisor: Child,
}

impl Cluster {
    /// Starts a server, passes it to the function, and stops it whatever the function returns.
    pub(crate) fn during<T>(
        purpose: Purpose,
        run: impl FnOnce(&Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let cluster = Self::start(purpose)?;
        let outcome = run(&cluster);
        cluster.stop()?;
        outcome
    }

    /// Starts a server on a free port of 127.0.0.1.
    fn start(purpose: Purpose) -> anyhow::Result<Self> {
        let bin = postgres_binaries::find_or_install()?;
        let user = ServerUser::choose()?;
        let folder = new_folder(&user, purpose)?;
        let spawned = user
            .command("sh")
            .args(["-c", SUPERVISOR, "sh"])
            .args([&folder, &bin])
            .arg(settings(&folder.to_string_lossy(), purpose))
            .current_dir(&folder)
            // A process group of its own, so that Ctrl-C at the terminal ends this process and not the
            // supervisor.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let supervisor = spawned.or_else(|error| {
            fs::remove_dir(&folder)?;
            Err(error)
                .with_context(|| format!("the server's user cannot work in {}; set TMPDIR", folder.display()))
        })?;
        let mut cluster = Self { folder, port: 0, supervisor };
        if let Err(error) = cluster.start_on_a_free_port() {
            let log = fs::read_to_string(cluster.folder.join("log")).unwrap_or_default();
            cluster.stop()?;
            bail!("PostgreSQL did not start ({error:#}); its log:\n{log}");
        }
        Ok(cluster)
    }

    /// The port of 127.0.0.1 on which it listens.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// The URL of its maintenance database, as its superuser.
    pub(crate) fn url(&self) -> String {
        url_at(self.port)
    }

    /// Stops the server and removes its folder.
    fn stop(mut self) -> anyhow::Result<()> {
        drop(self.supervisor.stdin.take());
        self.supervisor.wait().context("the supervisor of PostgreSQL is lost")?;
        // The supervisor's user cannot remove an entry of a temporary folder that only the current user can
        // write to.
        remove_folder(&self.folder)
    }

    fn start_on_a_free_port(&mut self) -> anyhow::Result<()> {
        let answers = self.supervisor.stdout.take().context("its supervisor has no output")?;
        let mut answers = BufReader::new(answers);
        let mut requests = self.supervisor.stdin.as_ref().context("its supervisor has no input")?;
        for _ in 0..PORTS_TRIED {
            self.port = free_port()?;
            writeln!(requests, "{}", self.port)?;
            let mut answer = String::new();
            answers.read_line(&mut answer)?;
            match answer.trim_end() {
                "ready" => return Ok(()),
                "failed" => (),
                _ => bail!("its supervisor ended"),
            }
        }
        bail!("{PORTS_TRIED} ports were tried")
    }
}

/// The URL of a cluster's maintenance database, as its superuser, at a port of 127.0.0.1.
pub(crate) fn url_at(port: u16) -> String {
    format!("postgres://postgres@{}:{port}/postgres", Ipv4Addr::LOCALHOST)
}

/// Returns the settings that differ from the server's defaults.
fn settings(socket_folder: &str, purpose: Purpose) -> String {
    let socket_folder = socket_folder.replace('\'', "''");
    let own = match purpose {
        Purpose::Testing => "fsync = off\nsynchronous_commit = off\nfull_page_writes = off",
        // Checkpoints are infrequent, so that none coincides with a measurement.
        Purpose::Measuring => {
            "fsync = on\nsynchronous_commit = on\nfull_page_writes = on\n\
             shared_buffers = 1GB\nmax_wal_size = 8GB\ncheckpoint_timeout = 30min"
        }
    };
    format!(
        "listen_addresses = '{}'\n\
         unix_socket_directories = '{socket_folder}'\n\
         max_connections = 300\n\
         {own}",
        Ipv4Addr::LOCALHOST,
    )
}

/// A port of 127.0.0.1 that no program uses.
pub(crate) fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("127.0.0.1 has no free port")?;
    Ok(listener.local_addr()?.port())
}

/// Creates a folder in the temporary folder, accessible only to the server's user.
fn new_folder(user: &ServerUser, purpose: Purpose) -> anyhow::Result<PathBuf> {
    let (parent, name) = match purpose {
        Purpose::Testing => (env::temp_dir(), "test"),
        Purpose::Measuring => (disk()?, "bench"),
    };
    ensure!(parent.is_absolute(), "TMPDIR is {}, which is not an absolute path", parent.display());
    for number in 0..100 {
        let folder = parent.join(format!("cuepoint-{name}-{}-{number}", process::id()));
        match user.create_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => (),
            Err(error) => {
                return Err(error).with_context(|| format!("{} cannot be created", folder.display()));
            }
            Ok(()) => return Ok(folder),
        }
    }
    bail!("{} is full of old clusters", parent.display())
}

/// Returns the temporary folder that survives a restart of the machine, or the requested one: in memory,
/// writing through to disk would cost nothing.
fn disk() -> anyhow::Result<PathBuf> {
    let asked = env::var_os("TMPDIR").filter(|folder| !folder.is_empty());
    let folder = asked.map_or_else(|| PathBuf::from("/var/tmp"), PathBuf::from);
    let told = output_of(Command::new("df").arg("-P").arg(&folder))?;
    let device = told.lines().nth(1).unwrap_or_default();
    ensure!(
        !device.starts_with("tmpfs") && !device.starts_with("ramfs"),
        "{} is in memory; name a folder on a disk in TMPDIR",
        folder.display()
    );
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_in_folder_names_are_escaped() {
        let settings = settings("/tmp/it's", Purpose::Testing);
        assert!(settings.lines().any(|line| line == "unix_socket_directories = '/tmp/it''s'"), "{settings}");
    }
}
