//! `cargo xtask ci`: every required check, the quick ones first.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::browser;
use crate::clients;
use crate::command;
use crate::service;
use crate::tools;
use crate::workspace::{cargo, exit_code};

/// The release of cargo-deny to install if none is found.
const CARGO_DENY: &str = "cargo-deny@0.20.2";

/// A heading and its check; any exit code but 0 ends the run.
type Step = (&'static str, fn() -> anyhow::Result<u8>);

const STEPS: &[Step] = &[
    ("format", || exit_code(cargo().args(["fmt", "--all", "--check"]))),
    ("tidy", || command("tidy")),
    ("lints", lints),
    ("docs", docs),
    ("licences, bans, sources", licences),
    ("tests", tests),
    ("openapi", || command("openapi --check")),
    ("clients", clients_where_possible),
    ("browser", browser_where_possible),
    ("package", || command("package --check")),
    ("release", || command("release --check")),
    ("schemathesis", || command("schemathesis")),
    ("fuzz", || command("fuzz")),
];

/// Runs the steps in order and stops at the first that fails.
pub(crate) fn run() -> anyhow::Result<u8> {
    let mut took: Vec<(&str, Duration)> = Vec::new();
    for (heading, step) in STEPS {
        println!("\n=== {heading} ===");
        let start = Instant::now();
        let outcome = step();
        took.push((heading, start.elapsed()));
        if !matches!(outcome, Ok(0)) {
            println!("\n{}ci failed at: {heading}", summary(&took));
            return outcome;
        }
    }
    println!("\n{}ci is green", summary(&took));
    Ok(0)
}

fn summary(took: &[(&str, Duration)]) -> String {
    took.iter().map(|(heading, time)| format!("{:>7.1} s  {heading}\n", time.as_secs_f64())).collect()
}

fn lints() -> anyhow::Result<u8> {
    let arguments =
        ["clippy", "--workspace", "--all-targets", "--all-features", "--locked", "--", "-D", "warnings"];
    exit_code(cargo().args(arguments))
}

/// Runs the tests. Later steps use the binary that they have built.
fn tests() -> anyhow::Result<u8> {
    let code = command("test")?;
    service::keep_binary();
    Ok(code)
}

/// Builds the docs, with the features of the lints: otherwise, libraries would be checked a second time.
fn docs() -> anyhow::Result<u8> {
    let arguments = ["doc", "--workspace", "--no-deps", "--all-features", "--locked"];
    exit_code(cargo().args(arguments).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Checks licences without advisories: that database is fetched anew each time, and a build must not depend
/// on its host.
fn licences() -> anyhow::Result<u8> {
    let deny = cargo_deny()?;
    let mut check = Command::new(deny);
    check.args(["--locked", "check", "licenses", "bans", "sources"]);
    exit_code(check.current_dir(crate::workspace::root()))
}

/// Returns the installed cargo-deny, or else a private one, built once into the target folder.
fn cargo_deny() -> anyhow::Result<PathBuf> {
    let installed = PathBuf::from("cargo-deny");
    let mut version = Command::new(&installed);
    if version
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
    {
        return Ok(installed);
    }
    // Without the features that only advisories need.
    tools::program(CARGO_DENY, &[])
}

/// Node.js is optional: without it, or without Python, the step is skipped and the reason is printed.
fn clients_where_possible() -> anyhow::Result<u8> {
    match clients::missing_tool() {
        None => clients::run(None),
        Some(missing) => {
            println!("skipped: {missing}");
            Ok(0)
        }
    }
}

/// Node.js and Chromium are optional: without them, the step is skipped and the reason is printed.
fn browser_where_possible() -> anyhow::Result<u8> {
    match browser::missing_tool() {
        None => browser::run(&browser::Arguments::default()),
        Some(missing) => {
            println!("skipped: {missing}");
            Ok(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_lists_every_step() {
        let took = [("format", Duration::from_millis(1_240)), ("tests", Duration::from_secs(90))];
        assert_eq!(summary(&took), "    1.2 s  format\n   90.0 s  tests\n");
    }
}
