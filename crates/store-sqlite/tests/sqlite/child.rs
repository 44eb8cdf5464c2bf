//! Tests that run in a process of their own, because they end it or limit it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The data directory of a child; absent in the tests that start one.
const DIRECTORY: &str = "CUEPOINT_TEST_DIRECTORY";

/// The data directory of this process, if it is a child.
pub(crate) fn directory() -> Option<PathBuf> {
    env::var_os(DIRECTORY).map(PathBuf::from)
}

/// A command that runs an ignored test of this binary in a process of its own. `setup` are shell commands
/// before it, in a shell that `wrapper` starts.
pub(crate) fn command(wrapper: &[&str], setup: &str, test: &str, directory: &Path) -> Command {
    let shell = [wrapper, &["sh", "-c"]].concat();
    let mut command = Command::new(shell[0]);
    command
        .args(&shell[1..])
        .arg(format!("{setup}\nexec \"$0\" \"$@\""))
        .arg(env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory);
    command
}

/// What a process has written.
pub(crate) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
