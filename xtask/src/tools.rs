//! Programs from crates.io that commands need, built once into the target folder.

use std::path::PathBuf;

use anyhow::{Context, ensure};

use crate::workspace::{cargo, exit_code, target_dir};

/// Returns the path of the program of a release, such as `cargo-deny@0.20.2`; builds it with these features if it is
/// missing.
///
/// # Errors
/// If it cannot be installed.
pub(crate) fn program(release: &str, features: &[&str]) -> anyhow::Result<PathBuf> {
    let (name, _) = release.split_once('@').context("a release has a name and a version")?;
    let folder = target_dir()?.join("tools").join(release);
    let program = folder.join("bin").join(name);
    if !program.is_file() {
        let mut install = cargo();
        install
            // Unoptimised, because it runs for seconds.
            .args(["install", release, "--locked", "--debug", "--no-default-features", "--features"])
            .arg(features.join(","))
            .arg("--root")
            .arg(&folder)
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env_remove("CARGO_TARGET_DIR");
        ensure!(exit_code(&mut install)? == 0, "{release} cannot be installed");
    }
    Ok(program)
}
