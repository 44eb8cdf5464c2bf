//! Passwords, which come from the terminal or from standard input, and never from arguments.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use anyhow::{Context, ensure};

/// The maximum number of bytes that are read for a password, which is more than the longest password.
const LONGEST_INPUT: u64 = 4_096;

/// Asks for a password, without an echo; without a terminal, it is the first line of standard input.
///
/// # Errors
/// When it cannot be read.
pub(super) fn asked(prompt: &str) -> anyhow::Result<String> {
    if io::stdin().is_terminal() {
        return rpassword::prompt_password(prompt).context("the terminal cannot be read");
    }
    let mut line = String::new();
    let mut input = io::BufReader::new(io::stdin().take(LONGEST_INPUT));
    input.read_line(&mut line).context("standard input cannot be read")?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

/// Asks for a new password: twice on a terminal.
///
/// # Errors
/// When it cannot be read, or the two passwords differ.
pub(super) fn asked_twice(prompt: &str) -> anyhow::Result<String> {
    let password = asked(prompt)?;
    let is_repeated = !io::stdin().is_terminal() || asked("The same password again: ")? == password;
    ensure!(is_repeated, "the two passwords differ");
    Ok(password)
}
