//! The location of the repository, and calls of cargo in it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::LazyLock;
use std::{env, fs};

use anyhow::{Context, ensure};

/// The root of the repository that cargo runs this program in: several working trees can share a target folder, and
/// with it this program.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let built_in = || PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let xtask = env::var_os("CARGO_MANIFEST_DIR").map_or_else(built_in, PathBuf::from);
        xtask.parent().map(Path::to_path_buf).unwrap_or(xtask)
    });
    &ROOT
}

/// The folder that cargo builds into, derived from the path of this program: `<target>/<profile>/xtask`.
pub(crate) fn target_dir() -> anyhow::Result<PathBuf> {
    let program = env::current_exe().context("the path of this program is unknown")?;
    let target = program.ancestors().nth(2);
    Ok(target.context("this program is not in a target folder")?.to_path_buf())
}

/// Returns the cargo that runs this program, to be run in the root of the repository.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Cargo describes the package of a program that it runs in these variables. Some build scripts depend on
    // them and would run again after each build that xtask did not start.
    remove_variables(&mut command, "CARGO_PKG_");
    remove_variables(&mut command, "CARGO_MANIFEST_");
    command.current_dir(root());
    command
}

/// Runs a command to completion with inherited input and output; returns its exit code.
pub(crate) fn exit_code(command: &mut Command) -> anyhow::Result<u8> {
    let status =
        command.status().with_context(|| format!("{} did not start", command.get_program().display()))?;
    Ok(code_of(status))
}

/// Returns the standard output of a command, or an error with all its output if it failed.
pub(crate) fn output_of(command: &mut Command) -> anyhow::Result<String> {
    let program = command.get_program().to_owned();
    let output = command.output().with_context(|| format!("{} did not start", program.display()))?;
    let printed = String::from_utf8(output.stdout).context("its output is not UTF-8")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} failed: {printed}{}", program.display(), errors.trim_end());
    Ok(printed)
}

/// Removes a folder with its contents, if it exists.
pub(crate) fn remove_folder(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} cannot be removed", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Creates a folder, without what it contained.
pub(crate) fn emptied(folder: PathBuf) -> anyhow::Result<PathBuf> {
    remove_folder(&folder)?;
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    Ok(folder)
}

/// Removes inherited variables with this prefix from a command's environment.
pub(crate) fn remove_variables(command: &mut Command, prefix: &str) {
    for (name, _) in env::vars_os() {
        if name.as_encoded_bytes().starts_with(prefix.as_bytes()) {
            command.env_remove(name);
        }
    }
}

/// The exit code of a process; 1 if a signal ended it.
pub(crate) fn code_of(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
