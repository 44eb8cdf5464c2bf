//! The Python environment that schemathesis runs in, made once in the target folder.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use super::FOLDER;
use crate::workspace::{exit_code, root, target_dir};

/// The program, installed with exactly the versions that the repository names.
///
/// # Errors
/// Where Python or its `venv` is missing, with the package to install.
pub(super) fn schemathesis() -> anyhow::Result<PathBuf> {
    let requirements = root().join(FOLDER).join("requirements.txt");
    let versions = fs::read_to_string(&requirements).context("the required versions cannot be read")?;
    let environment = target_dir()?.join("tools").join("schemathesis");
    // Its programs know where it was made, so that one in a folder that was moved is made anew.
    let wanted = format!("{}\n{versions}", environment.display());
    let installed = environment.join("installed.txt");
    let program = environment.join("bin").join("schemathesis");
    if program.is_file() && fs::read_to_string(&installed).is_ok_and(|there| there == wanted) {
        return Ok(program);
    }
    let mut python = Command::new("python3");
    python.args(["-m", "venv", "--clear"]).arg(&environment).stdout(Stdio::null());
    match exit_code(&mut python) {
        Ok(0) => (),
        Ok(_) => bail!("Python cannot make a virtual environment: install the package python3-venv"),
        Err(_) => bail!("Python is missing: install the packages python3 and python3-venv"),
    }
    let mut install = Command::new(environment.join("bin").join("python3"));
    install
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--requirement",
        ])
        .arg(&requirements);
    ensure!(exit_code(&mut install)? == 0, "schemathesis cannot be installed");
    fs::write(&installed, wanted).with_context(|| format!("{} cannot be written", installed.display()))?;
    Ok(program)
}
