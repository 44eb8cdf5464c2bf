//! The npm packages of the linter and of the TypeScript client, installed in the target folder.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use super::{copy, source};
use crate::workspace::{exit_code, target_dir};

/// Returns the message that names the package to install, if npm or a supported Node.js is missing.
pub(super) fn missing() -> Option<String> {
    const PACKAGES: &str = "install the packages nodejs (20.19 or newer) and npm";
    let Some(node) = version("node") else { return Some(format!("Node.js is missing: {PACKAGES}")) };
    if !is_supported(&node) {
        return Some(format!("Node.js {} is not supported by the linter: {PACKAGES}", node.trim()));
    }
    version("npm").is_none().then(|| format!("npm is missing: {PACKAGES}"))
}

/// The output of `--version`, if the program can be run.
fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether the linter supports this version of Node.js, such as `v20.19.0`.
fn is_supported(version: &str) -> bool {
    let mut parts = version.trim().trim_start_matches('v').split('.').map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (parts.next(), parts.next()) else { return false };
    match major {
        20 => minor >= 19,
        22 => minor >= 12,
        _ => major > 22,
    }
}

/// The folder of the npm project, with exactly the packages of `package-lock.json`.
///
/// # Errors
/// If a package cannot be installed.
pub(super) fn project() -> anyhow::Result<PathBuf> {
    let project = target_dir()?.join("tools").join("clients-node");
    let lock = fs::read_to_string(source("package-lock.json")).context("package-lock.json cannot be read")?;
    let installed = project.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|there| there == lock) {
        return Ok(project);
    }
    fs::create_dir_all(&project).with_context(|| format!("{} cannot be created", project.display()))?;
    for file in ["package.json", "package-lock.json"] {
        copy(file, &project)?;
    }
    let mut npm = Command::new("npm");
    // None of the packages needs an install script.
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"])
        .current_dir(&project);
    ensure!(exit_code(&mut npm)? == 0, "the packages of package-lock.json cannot be installed");
    fs::write(&installed, lock).with_context(|| format!("{} cannot be written", installed.display()))?;
    Ok(project)
}

/// A program of the packages, run in the folder of the project.
pub(super) fn program(name: &str) -> anyhow::Result<Command> {
    let project = project()?;
    let mut command = Command::new(project.join("node_modules").join(".bin").join(name));
    command.current_dir(project);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supported_node_versions_are_recognized() {
        for version in ["v20.19.0\n", "v20.20.2", "v22.12.0", "v24.0.0"] {
            assert!(is_supported(version), "{version}");
        }
        for version in ["v18.20.4", "v20.18.9", "v21.7.3", "v22.11.0", "v23", "node"] {
            assert!(!is_supported(version), "{version}");
        }
    }
}
