//! A server process, ended on drop.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, bail};

use crate::processes::Process;

/// The start of the line that names its address.
const LISTENING: &str = "listening on http://";

/// A command of a program with these settings and no other settings of Cuepoint.
pub(crate) fn command(program: &Path, settings: &[(String, String)]) -> Command {
    let mut command = Command::new(program);
    let ours = |name: &OsStr| name.as_encoded_bytes().starts_with(b"CUEPOINT_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| ours(name)) {
        command.env_remove(name);
    }
    command.envs(settings.iter().map(|(name, value)| (name, value)));
    command
}

/// A running server.
pub struct Service {
    process: Child,
    address: SocketAddr,
    /// Kept open, because the server may still write to it.
    _output: BufReader<ChildStdout>,
}

impl Service {
    /// Starts a program with these settings and no other settings of Cuepoint; its log goes to a file.
    ///
    /// # Errors
    /// If it does not start, with the end of its log.
    pub fn start(
        program: &Path,
        arguments: &[&str],
        settings: &[(String, String)],
        log: &Path,
    ) -> anyhow::Result<Self> {
        let mut command = command(program, settings);
        let errors = File::create(log).with_context(|| format!("{} cannot be written", log.display()))?;
        let mut process = command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let output = process.stdout.take().context("a server has no output")?;
        let mut output = BufReader::new(output);
        match address(&mut output) {
            Ok(address) => Ok(Self { process, address, _output: output }),
            Err(error) => {
                // It may have exited already.
                let _ = process.kill();
                let _ = process.wait();
                let said = std::fs::read_to_string(log).unwrap_or_default();
                Err(error).with_context(|| format!("{} said: {said}", program.display()))
            }
        }
    }

    /// The address on which it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> Process {
        Process(self.process.id())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Nothing is left to do if it has exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn address(output: &mut impl BufRead) -> anyhow::Result<SocketAddr> {
    for line in output.lines() {
        let line = line.context("a server's output cannot be read")?;
        if let Some(address) = line.strip_prefix(LISTENING) {
            return address.trim().parse().with_context(|| format!("{line:?} contains no address"));
        }
    }
    bail!("the server ended before it listened")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_address_is_read_from_the_server_output() {
        let said = |text: &str| address(&mut text.as_bytes());
        assert_eq!(said("hello\nlistening on http://127.0.0.1:81\n").unwrap().port(), 81);
        assert!(said("hello\n").is_err());
    }
}
