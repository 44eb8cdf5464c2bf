//! A server under callgrind.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::context::{Bench, Programs};
use crate::datasets::Dataset;
use crate::service::Service;

/// The program that counts.
const VALGRIND: &str = "valgrind";
/// The program that controls it.
const CONTROL: &str = "callgrind_control";

/// A server whose instructions are counted.
pub(super) struct Callgrind {
    service: Service,
    dumps: PathBuf,
}

impl Callgrind {
    /// Checks that callgrind is installed.
    pub(super) fn find() -> anyhow::Result<()> {
        for program in [VALGRIND, CONTROL] {
            let found = Command::new(program).arg("--version").output();
            ensure!(
                found.is_ok_and(|output| output.status.success()),
                "{program} is not installed: install the package `valgrind`"
            );
        }
        Ok(())
    }

    /// Starts a server with one worker on the data; its instructions count from the first request.
    ///
    /// # Errors
    /// If it does not start, with the end of its log.
    pub(super) fn start(bench: &Bench, programs: &Programs, data: &Dataset) -> anyhow::Result<Self> {
        let dumps = bench.options.folder.join("callgrind");
        if dumps.exists() {
            fs::remove_dir_all(&dumps)?;
        }
        fs::create_dir(&dumps)?;
        let mut settings = bench.settings(data);
        settings.push(("CUEPOINT__SERVER__WORKERS", "1".to_owned()));
        settings.push(("TOKIO_WORKER_THREADS", "1".to_owned()));
        let (program, arguments) = bench.program(programs, data);
        let mut all = vec![
            "--tool=callgrind".to_owned(),
            "--instr-atstart=no".to_owned(),
            format!("--callgrind-out-file={}", dumps.join("out").display()),
            program.display().to_string(),
        ];
        all.extend(arguments);
        let log = bench.options.folder.join("callgrind.log");
        let service = Service::start(VALGRIND.as_ref(), &all, &settings, &log)?;
        let server = Self { service, dumps };
        server.control("--instr=on")?;
        Ok(server)
    }

    /// The address on which the server listens.
    pub(super) const fn address(&self) -> SocketAddr {
        self.service.address()
    }

    /// Sets the count to zero.
    pub(super) fn zero(&self) -> anyhow::Result<()> {
        self.control("--zero")
    }

    /// Returns the number of instructions since it was set to zero.
    pub(super) fn dump(&self) -> anyhow::Result<u64> {
        self.control("--dump")?;
        let text = fs::read_to_string(self.dumps.join("out.1")).context("callgrind wrote no dump")?;
        totals(&text).context("a dump of callgrind has an unexpected format")
    }

    fn control(&self, command: &str) -> anyhow::Result<()> {
        let process = self.service.process().0.to_string();
        let output = Command::new(CONTROL).args([command, &process]).output().context(CONTROL)?;
        let said = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success() && said.contains("OK"), "{CONTROL} {command} said: {said}");
        Ok(())
    }
}

/// Parses the number of instructions of a dump.
fn totals(dump: &str) -> Option<u64> {
    dump.lines().find_map(|line| line.strip_prefix("totals:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_read_from_the_totals_line() {
        assert_eq!(totals("events: Ir\nsummary: 1\n\nfn=(1)\n0 5\ntotals: 12345\n"), Some(12_345));
        assert_eq!(totals("events: Ir\n"), None);
    }
}
