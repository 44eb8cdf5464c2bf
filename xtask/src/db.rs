//! `cargo xtask db`: a persistent PostgreSQL for development.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use clap::Subcommand;

use crate::server_user::ServerUser;
use crate::workspace::output_of;
use crate::{postgres_binaries, workspace};

const DATABASE: &str = "cuepoint";

/// The arguments of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// The port of the cluster.
    #[arg(long, env = "CUEPOINT_DB_PORT", default_value = "54329", global = true)]
    port: NonZeroU16,
}

/// An action on the cluster.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum Action {
    /// Start it, and create it the first time.
    Start,
    /// Stop it and keep its data.
    Stop,
    /// Start it with an empty database.
    Reset,
}

/// Starts, stops or empties the cluster.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let cluster = DevCluster::locate()?;
    match arguments.action {
        Action::Start => {
            let port = cluster.start(arguments.port)?;
            if !cluster.has_database(port)? {
                cluster.tool("createdb", port, &[DATABASE])?;
            }
            cluster.print_usage(port);
        }
        Action::Stop => cluster.stop()?,
        Action::Reset => {
            let port = cluster.start(arguments.port)?;
            cluster.tool("dropdb", port, &["--if-exists", "--force", DATABASE])?;
            cluster.tool("createdb", port, &[DATABASE])?;
            println!("the database {DATABASE} is empty again");
            cluster.print_usage(port);
        }
    }
    Ok(0)
}

struct DevCluster {
    user: ServerUser,
    bin: PathBuf,
    /// The files of the cluster: `data` and `log`.
    folder: PathBuf,
}

impl DevCluster {
    fn locate() -> anyhow::Result<Self> {
        let bin = postgres_binaries::find_or_install()?;
        let user = ServerUser::choose()?;
        let folder = if user.can_enter(workspace::root()) {
            let ours = workspace::root().join(".cuepoint");
            fs::create_dir_all(&ours).with_context(|| format!("{} cannot be created", ours.display()))?;
            ours.join("postgres")
        } else {
            env::temp_dir().join(name_for(workspace::root()))
        };
        Ok(Self { user, bin, folder })
    }

    /// Creates the cluster if it is new and starts it if it is not running; returns its port.
    fn start(&self, port: NonZeroU16) -> anyhow::Result<u16> {
        if let Some(port) = self.running_port()? {
            return Ok(port);
        }
        if !self.folder.exists() {
            self.user
                .create_dir(&self.folder)
                .with_context(|| format!("{} cannot be created", self.folder.display()))?;
        }
        ensure!(self.user.owns_dir(&self.folder), "{} belongs to another user", self.folder.display());
        if !self.data().join("PG_VERSION").exists() {
            self.initialise()?;
        }
        let mut start = self.program("pg_ctl");
        start.args(["start", "-w", "-l", "log", "-D", "data", "-o", &format!("-p {port}")]);
        output_of(&mut start).with_context(|| {
            let log = self.folder.join("log");
            format!("port {port} may be taken (CUEPOINT_DB_PORT chooses another); see {}", log.display())
        })?;
        Ok(port.get())
    }

    fn initialise(&self) -> anyhow::Result<()> {
        let mut initdb = self.program("initdb");
        initdb.args(["-A", "trust", "-U", "postgres", "--no-locale", "-E", "UTF8", "-D", "data"]);
        output_of(&mut initdb)?;
        let config = self.data().join("postgresql.conf");
        let mut config =
            OpenOptions::new().append(true).open(config).context("initdb wrote no postgresql.conf")?;
        writeln!(config, "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''")?;
        Ok(())
    }

    fn stop(&self) -> anyhow::Result<()> {
        if self.running_port()?.is_none() {
            println!("PostgreSQL is not running");
            return Ok(());
        }
        output_of(self.program("pg_ctl").args(["stop", "-w", "-m", "fast", "-D", "data"]))?;
        println!("PostgreSQL is stopped; its data stay in {}", self.folder.display());
        Ok(())
    }

    /// The port of the running server, from the fourth line of its lock file; `None` if it is not running.
    fn running_port(&self) -> anyhow::Result<Option<u16>> {
        if !self.data().join("PG_VERSION").exists() {
            return Ok(None);
        }
        let mut status = self.program("pg_ctl");
        status.args(["status", "-D", "data"]).stdout(Stdio::null()).stderr(Stdio::null());
        if !status.status().context("pg_ctl did not start")?.success() {
            return Ok(None);
        }
        let lock_file = fs::read_to_string(self.data().join("postmaster.pid"))?;
        let port = lock_file.lines().nth(3).and_then(|line| line.trim().parse().ok());
        Ok(Some(port.context("postmaster.pid contains no port")?))
    }

    fn has_database(&self, port: u16) -> anyhow::Result<bool> {
        let query = format!("SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'");
        let answer = self.tool("psql", port, &["-d", "postgres", "-XAtq", "-c", &query])?;
        Ok(answer.trim() == "1")
    }

    /// Runs a client program on the server as its superuser; returns its output.
    fn tool(&self, name: &str, port: u16, arguments: &[&str]) -> anyhow::Result<String> {
        let mut tool = self.program(name);
        tool.args(["-h", "127.0.0.1", "-p", &port.to_string(), "-U", "postgres"]).args(arguments);
        output_of(&mut tool)
    }

    fn program(&self, name: &str) -> Command {
        // The clients may belong to another package than the server, in another folder.
        let beside_the_server = self.bin.join(name);
        let path = if beside_the_server.is_file() { beside_the_server } else { name.into() };
        let mut program = self.user.command(path);
        program.current_dir(&self.folder).stdin(Stdio::null());
        program
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn print_usage(&self, port: u16) {
        println!(
            "PostgreSQL runs on 127.0.0.1:{port}, its data in {}. The service on it:\n",
            self.folder.display()
        );
        println!(
            "    CUEPOINT__STORAGE__BACKEND=postgres CUEPOINT__STORAGE__POSTGRES__URL=postgres://postgres@127.0.0.1:{port}/{DATABASE} cargo run\n"
        );
    }
}

/// Derives the folder name of a repository from its path.
fn name_for(repository: &Path) -> String {
    let path = repository.to_string_lossy();
    let name: String = path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("cuepoint-db{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repository_has_a_separate_folder() {
        assert_eq!(name_for(Path::new("/root/cue point")), "cuepoint-db-root-cue-point");
        assert_ne!(name_for(Path::new("/a/x")), name_for(Path::new("/a/y")));
    }
}
