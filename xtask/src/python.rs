//! Python virtual environments, created in the target folder with pinned packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use crate::workspace::{exit_code, target_dir};

/// Returns the folder of programs of the environment `name`, which contains exactly the packages of
/// `requirements`.
///
/// # Errors
/// If Python or its `venv` is missing (with the package to install), or if a package cannot be installed.
pub(crate) fn environment(name: &str, requirements: &Path) -> anyhow::Result<PathBuf> {
    let versions = fs::read_to_string(requirements).context("the required versions cannot be read")?;
    let environment = target_dir()?.join("tools").join(name);
    // Programs contain the absolute path of their environment, so an environment that was moved is created
    // anew.
    let wanted = format!("{}\n{versions}", environment.display());
    let installed = environment.join("installed.txt");
    let programs = environment.join("bin");
    if fs::read_to_string(&installed).is_ok_and(|there| there == wanted) && programs.join("python3").exists()
    {
        return Ok(programs);
    }
    if let Some(missing) = missing() {
        bail!(missing);
    }
    let mut python = Command::new("python3");
    python.args(["-m", "venv", "--clear"]).arg(&environment);
    ensure!(exit_code(&mut python)? == 0, "{} cannot be created", environment.display());
    let mut install = Command::new(programs.join("python3"));
    let pip = "-m pip install --quiet --disable-pip-version-check --no-deps --requirement";
    install.args(pip.split(' ')).arg(requirements);
    ensure!(exit_code(&mut install)? == 0, "the packages of {} cannot be installed", requirements.display());
    fs::write(&installed, wanted).with_context(|| format!("{} cannot be written", installed.display()))?;
    Ok(programs)
}

/// Returns the message that names the package to install, if Python or its `venv` is missing.
pub(crate) fn missing() -> Option<&'static str> {
    let mut probe = Command::new("python3");
    // Debian's python3 has `venv` without `ensurepip`, and cannot create an environment.
    probe.args(["-c", "import ensurepip, venv"]).stdout(Stdio::null()).stderr(Stdio::null());
    match probe.status() {
        Ok(status) if status.success() => None,
        Ok(_) => Some("Python cannot create a virtual environment: install the package python3-venv"),
        Err(_) => Some("Python is missing: install the packages python3 and python3-venv"),
    }
}
