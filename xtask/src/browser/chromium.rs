//! Location and installation of Chromium.

use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::postgres_binaries::{can_install, install, on_path};

/// The names of the program.
const PROGRAMS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

/// Debian's packages of the browser and of fonts with common characters.
const PACKAGES: &[&str] = &["chromium", "fonts-liberation"];

/// The command that installs it where this process may not.
const COMMAND: &str = "sudo apt-get install -y chromium fonts-liberation";

/// Returns the path of Chromium; as root on Debian, installs the package if it is missing.
///
/// # Errors
/// The command that installs it, if this process may not do it itself.
pub(super) fn find_or_install() -> anyhow::Result<PathBuf> {
    if let Some(found) = find() {
        return Ok(found);
    }
    if let Some(missing) = missing() {
        bail!(missing);
    }
    install(PACKAGES)?;
    find().context("Chromium was installed, but it is not in a folder of PATH")
}

/// Returns the message with the command that installs Chromium, if it is missing and this process may not install it.
pub(super) fn missing() -> Option<String> {
    let is_available = find().is_some() || can_install();
    (!is_available).then(|| format!("Chromium is missing. Install it and try again:\n\n    {COMMAND}\n"))
}

fn find() -> Option<PathBuf> {
    PROGRAMS.iter().find_map(|program| on_path(program))
}
