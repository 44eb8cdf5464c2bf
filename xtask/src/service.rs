//! The service as a separate process on a free port, killed on drop.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, bail, ensure};

use crate::workspace::{cargo, exit_code, remove_folder, remove_variables, target_dir};

/// The start of the line that names its address.
const LISTENING: &str = "listening on ";

/// The settings of a service with a fresh SQLite database in this directory, whose former content is deleted.
///
/// # Errors
/// If the directory cannot be emptied, or its path is not valid Unicode.
pub(crate) fn sqlite(directory: &Path) -> anyhow::Result<[(&'static str, &str); 2]> {
    remove_folder(directory)?;
    let path = directory.to_str().context("the path of the data directory is not valid Unicode")?;
    Ok([("CUEPOINT__STORAGE__BACKEND", "sqlite"), ("CUEPOINT__STORAGE__DIR", path)])
}

/// Whether the debug binary is up to date, as after all tests: another build of it takes minutes, because the tests enable
/// other features.
static IS_BUILT: AtomicBool = AtomicBool::new(false);

/// Uses the present debug binary from now on.
pub(crate) fn keep_binary() {
    IS_BUILT.store(true, Ordering::Relaxed);
}

/// Whether the present debug binary is used.
pub(crate) fn is_binary_kept() -> bool {
    IS_BUILT.load(Ordering::Relaxed)
}

/// The path of the debug binary, which is built unless it is known to be up to date.
///
/// # Errors
/// If it cannot be built.
pub(crate) fn binary() -> anyhow::Result<PathBuf> {
    if !is_binary_kept() {
        let built = exit_code(cargo().args(["build", "--locked", "--package", "cuepoint"]))?;
        ensure!(built == 0, "the service cannot be built");
        keep_binary();
    }
    Ok(target_dir()?.join("debug").join("cuepoint"))
}

/// A process, killed on drop.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing is left to do if it has exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running service.
pub(crate) struct Service {
    process: Process,
    url: String,
}

impl Service {
    /// Starts the service with these settings in addition to those of tests; its output goes to the log.
    pub(crate) fn start(settings: &[(&str, &str)], log: &Path) -> anyhow::Result<Self> {
        let log = File::create(log).with_context(|| format!("{} cannot be written", log.display()))?;
        let mut service = Command::new(binary()?);
        // A developer's own configuration must not affect the tests.
        remove_variables(&mut service, "CUEPOINT_");
        let process = service
            .env("CUEPOINT_ENV", "test")
            .env("CUEPOINT__SERVER__PORT", "0")
            // Tokens must outlive the longest run.
            .env("CUEPOINT__AUTH__ACCESS_TOKEN_TTL_SECONDS", "86400")
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log.try_clone()?)
            .spawn()
            .context("the service does not start")?;
        let mut service = Self { process: Process(process), url: String::new() };
        service.url = service.listen(log)?;
        Ok(service)
    }

    /// The base URL, such as `http://127.0.0.1:8080`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Waits for the line with the address, and copies all further output to the log.
    fn listen(&mut self, mut log: File) -> anyhow::Result<String> {
        let output = self.process.0.stdout.take().context("the service has no output")?;
        let mut lines = BufReader::new(output).lines();
        for line in lines.by_ref() {
            let line = line?;
            writeln!(log, "{line}")?;
            if let Some(url) = line.strip_prefix(LISTENING) {
                let url = url.trim().to_owned();
                thread::spawn(move || {
                    lines.map_while(Result::ok).try_for_each(|line| writeln!(log, "{line}"))
                });
                return Ok(url);
            }
        }
        bail!("the service ended before it listened")
    }
}
