//! Node.js, and npm projects with pinned packages, installed in the target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::workspace::{exit_code, root, target_dir};

/// Returns the message that names the package to install, if npm or a supported Node.js is missing.
pub(crate) fn missing() -> Option<String> {
    const PACKAGES: &str = "install the packages nodejs (20.19 or newer) and npm";
    let Some(node) = version("node") else { return Some(format!("Node.js is missing: {PACKAGES}")) };
    if !is_supported(&node) {
        return Some(format!("Node.js {} is too old: {PACKAGES}", node.trim()));
    }
    version("npm").is_none().then(|| format!("npm is missing: {PACKAGES}"))
}

/// The output of `--version`, if the program can be run.
pub(crate) fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether the tools support this version of Node.js, such as `v20.19.0`.
fn is_supported(version: &str) -> bool {
    let mut parts = version.trim().trim_start_matches('v').split('.').map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (parts.next(), parts.next()) else { return false };
    match major {
        20 => minor >= 19,
        22 => minor >= 12,
        _ => major > 22,
    }
}

/// Returns the folder of the npm project `name`, which contains exactly the packages of `package-lock.json` in `source`,
/// a folder of the repository.
///
/// # Errors
/// If a package cannot be installed.
pub(crate) fn project(name: &str, source: &str) -> anyhow::Result<PathBuf> {
    let source = root().join(source);
    let project = target_dir()?.join("tools").join(name);
    let lock = fs::read_to_string(source.join("package-lock.json"));
    let lock = lock.with_context(|| format!("package-lock.json of {name} cannot be read"))?;
    let installed = project.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|there| there == lock) {
        return Ok(project);
    }
    fs::create_dir_all(&project).with_context(|| format!("{} cannot be created", project.display()))?;
    for file in ["package.json", "package-lock.json"] {
        copy(&source, file, &project)?;
    }
    let mut npm = Command::new("npm");
    // None of the packages needs an install script.
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"])
        .current_dir(&project);
    ensure!(exit_code(&mut npm)? == 0, "the packages of package-lock.json cannot be installed");
    fs::write(&installed, lock).with_context(|| format!("{} cannot be written", installed.display()))?;
    Ok(project)
}

/// Copies a file from one folder to another.
pub(crate) fn copy(from: &Path, name: &str, to: &Path) -> anyhow::Result<()> {
    fs::copy(from.join(name), to.join(name)).with_context(|| format!("{name} cannot be copied"))?;
    Ok(())
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

    #[test]
    fn every_npm_package_has_a_permissive_licence_and_a_digest_and_names_no_host() {
        let allowed =
            ["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Python-2.0", "(MIT OR CC0-1.0)"];
        // The accessibility rules run in tests of pages alone, and no part of the package is distributed.
        let exceptions = [("node_modules/axe-core", "MPL-2.0")];
        for folder in ["xtask/browser", "xtask/src/clients"] {
            let lock = fs::read_to_string(root().join(folder).join("package-lock.json")).unwrap();
            let lock: serde_json::Value = serde_json::from_str(&lock).unwrap();
            let packages = lock["packages"].as_object().unwrap().iter();
            for (name, package) in packages.filter(|(name, _)| !name.is_empty()) {
                let licence = package["license"].as_str().unwrap_or_default();
                let is_allowed = allowed.contains(&licence) || exceptions.contains(&(name, licence));
                assert!(is_allowed, "{name}: {licence}");
                assert!(package["integrity"].is_string(), "{name} has no digest");
                let host = &package["resolved"];
                assert!(host.is_null(), "{name}: npm install --omit-lockfile-registry-resolved");
            }
        }
    }
}
