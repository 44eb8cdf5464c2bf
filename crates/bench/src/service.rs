//! A server process, ended on drop.

use std::ffi::OsStr;
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::processes::Process;

/// The text before its address.
const LISTENING: &str = "listening on http://";
/// The interval at which the log is searched for the address.
const SEARCHED_EVERY: Duration = Duration::from_millis(10);

/// A command of a program with these settings and no other settings of Cuepoint.
pub(crate) fn command(program: &Path, settings: &[(&str, String)]) -> Command {
    let mut command = Command::new(program);
    let ours = |name: &OsStr| name.as_encoded_bytes().starts_with(b"CUEPOINT_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| ours(name)) {
        command.env_remove(name);
    }
    command.envs(settings.iter().map(|(name, value)| (name, value)));
    command
}

/// Runs a command to its end.
///
/// # Errors
/// If it fails, with what it said.
pub(crate) fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().context("it did not start")?;
    let said = [output.stdout, output.stderr].concat();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    Ok(())
}

/// A running server.
pub(crate) struct Service {
    process: Child,
    address: SocketAddr,
}

impl Service {
    /// Starts a program with these settings and no other settings of Cuepoint; its output goes to the file of its log,
    /// because another build may name its address on another stream.
    ///
    /// # Errors
    /// If it does not start, with the end of its log.
    pub(crate) fn start(
        program: &Path,
        arguments: &[String],
        settings: &[(&str, String)],
        log: &Path,
    ) -> anyhow::Result<Self> {
        let mut command = command(program, settings);
        let output = File::create(log).with_context(|| format!("{} cannot be written", log.display()))?;
        let mut process = command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        match listening(&mut process, log) {
            Ok(address) => Ok(Self { process, address }),
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
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    pub(crate) fn process(&self) -> Process {
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

/// Waits until a server names its address in its log.
fn listening(process: &mut Child, log: &Path) -> anyhow::Result<SocketAddr> {
    loop {
        let has_ended = process.try_wait()?.is_some();
        let said = std::fs::read(log).with_context(|| format!("{} cannot be read", log.display()))?;
        if let Some(address) = address(&String::from_utf8_lossy(&said))? {
            return Ok(address);
        }
        ensure!(!has_ended, "the server ended before it listened");
        thread::sleep(SEARCHED_EVERY);
    }
}

/// The address in the output of a server, which is text or JSON; `None` until its line is complete.
fn address(said: &str) -> anyhow::Result<Option<SocketAddr>> {
    let Some((_, after)) = said.split_once(LISTENING) else { return Ok(None) };
    let Some((address, _)) = after.split_once(['"', '\n']) else { return Ok(None) };
    Ok(Some(address.parse().with_context(|| format!("{address:?} is not an address"))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_address_is_read_from_the_server_output() {
        let port = |text: &str| address(text).unwrap().map(|address| address.port());
        assert_eq!(port("hello\nlistening on http://127.0.0.1:81\n"), Some(81));
        assert_eq!(port(r#"{"message":"listening on http://127.0.0.1:81","target":"x"}"#), Some(81));
        assert_eq!((port("hello\n"), port("listening on http://127.0.0.1:8")), (None, None));
        assert!(address("listening on http://nowhere\n").is_err());
    }
}
