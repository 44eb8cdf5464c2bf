//! Tests that run in a process of their own, because they end it or limit it.

use std::path::Path;
use std::process::{Command, Output};

/// A command that runs a case of `testing/child.rs` on a directory. `setup` are shell commands before it, in a shell
/// that `wrapper` starts; the directory is their `$2`.
pub(crate) fn command(wrapper: &[&str], setup: &str, case: &str, directory: &Path) -> Command {
    let shell = [wrapper, &["sh", "-c"]].concat();
    let mut command = Command::new(shell[0]);
    command
        .args(&shell[1..])
        .arg(format!("{setup}\nexec \"$0\" \"$@\""))
        .arg(env!("CARGO_BIN_EXE_cuepoint-sqlite-child"))
        .arg(case)
        .arg(directory);
    command
}

/// What a process has written.
pub(crate) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
