//! `cargo xtask ci`: the checks of a tier, the quick ones first.

mod inputs;
mod licences;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::bail;

use crate::workspace::{cargo, exit_code, root};
use crate::{browser, clients, command, schemathesis, service, test};
pub(crate) use inputs::ensure_full_run;
use inputs::{Inputs, Recorded};

/// The options of the command.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Arguments {
    /// Only the checks of each commit.
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Every check in every variant, as before a release.
    #[arg(long)]
    full: bool,
    /// Check the lock file against the clone of the advisory database in this folder.
    #[arg(long, value_name = "FOLDER", requires = "full")]
    advisories: Option<PathBuf>,
}

impl Arguments {
    fn tier(&self) -> Tier {
        match (self.quick, self.full) {
            (true, _) => Tier::Quick,
            (_, true) => Tier::Full,
            (false, false) => Tier::Usual,
        }
    }
}

/// Which checks run. A tier contains the tiers before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Tier {
    /// For each commit.
    Quick,
    /// For each submitted change.
    Usual,
    /// For each release, and for the end of a larger change.
    Full,
}

/// A check under its heading.
struct Step {
    heading: &'static str,
    /// The first tier that contains it.
    from: Tier,
    /// The files that the step reads. The usual tier also runs the step if one of them has changed since the last green
    /// full run.
    inputs: Option<&'static Inputs>,
    /// Any exit code but 0 ends the run.
    run: fn(&Arguments) -> anyhow::Result<u8>,
}

const STEPS: &[Step] = &[
    step("format", Tier::Quick, |_| {
        let check = "cargo fmt --all --check -- crates/cuepoint/tests/http/*/*.rs";
        exit_code(std::process::Command::new("sh").current_dir(root()).args(["-c", check]))
    }),
    step("tidy", Tier::Quick, |_| command("tidy")),
    step("lints", Tier::Quick, lints),
    step("docs", Tier::Usual, |_| docs()),
    when_changed("licences", &inputs::LICENCES, |_| licences::check()),
    step("advisories", Tier::Full, advisories),
    step("tests", Tier::Quick, tests),
    step("openapi", Tier::Quick, |_| command("openapi --check")),
    step("clients", Tier::Usual, generated_clients),
    step("browser", Tier::Usual, pages_in_a_browser),
    when_changed("package", &inputs::PACKAGE, |of| {
        command(strictly(of, "package --check", "package --check --strict"))
    }),
    when_changed("release", &inputs::RELEASE, |of| {
        command(strictly(of, "release --check", "release --check --strict"))
    }),
    step("generated calls", Tier::Usual, generated_calls),
    step("fuzz", Tier::Full, |_| command("fuzz")),
    step("soak", Tier::Full, |_| command("soak")),
    step("failover", Tier::Full, |_| command("failover")),
];

type Run = fn(&Arguments) -> anyhow::Result<u8>;

const fn step(heading: &'static str, from: Tier, run: Run) -> Step {
    Step { heading, from, inputs: None, run }
}

const fn when_changed(heading: &'static str, inputs: &'static Inputs, run: Run) -> Step {
    Step { heading, from: Tier::Full, inputs: Some(inputs), run }
}

/// Runs the steps of the tier in order, and stops at the first that fails. A green full run records what it has read.
///
/// # Errors
/// If a tool is missing or fails.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let tier = arguments.tier();
    let inputs = STEPS.iter().filter_map(|step| Some((step.heading, step.inputs?)));
    let (recorded, present) = match tier {
        Tier::Quick => Default::default(),
        Tier::Usual | Tier::Full => (Recorded::read()?, Recorded::of_files(inputs)?),
    };
    let (mut took, mut unchanged) = (Vec::new(), Vec::new());
    for Step { heading, from, inputs, run } in STEPS {
        if *from > tier {
            if inputs.is_none() || tier == Tier::Quick {
                continue;
            }
            if recorded.agrees(&present, heading) {
                unchanged.push(*heading);
                continue;
            }
        }
        println!("\n=== {heading} ===");
        let start = Instant::now();
        let outcome = run(arguments);
        took.push((*heading, start.elapsed()));
        if !matches!(outcome, Ok(0)) {
            println!("\n{}ci failed at: {heading}", summary(&took, &unchanged));
            return outcome;
        }
    }
    if tier == Tier::Full {
        present.write()?;
    }
    println!("\n{}ci is green", summary(&took, &unchanged));
    Ok(0)
}

fn summary(took: &[(&str, Duration)], unchanged: &[&str]) -> String {
    let times = took.iter().map(|(heading, time)| format!("{:>7.1} s  {heading}\n", time.as_secs_f64()));
    let rest = unchanged.iter().map(|heading| format!("unchanged  {heading}\n"));
    times.chain(rest).collect()
}

/// Lints the libraries and programs; beyond the quick tier, with their tests and all features.
fn lints(arguments: &Arguments) -> anyhow::Result<u8> {
    let more: &[&str] = &["--all-targets", "--all-features"];
    let targets = if arguments.tier() == Tier::Quick { &[] } else { more };
    let clippy = ["clippy", "--workspace", "--locked"];
    exit_code(cargo().args(clippy).args(targets).args(["--", "-D", "warnings"]))
}

/// Builds the docs, with the features of the lints: otherwise, libraries would be checked a second time.
fn docs() -> anyhow::Result<u8> {
    let arguments = ["doc", "--workspace", "--no-deps", "--all-features", "--locked"];
    exit_code(cargo().args(arguments).env("RUSTDOCFLAGS", "-D warnings"))
}

fn advisories(arguments: &Arguments) -> anyhow::Result<u8> {
    match &arguments.advisories {
        Some(folder) => licences::check_advisories(folder),
        None => skipped("no --advisories FOLDER is given"),
    }
}

/// Runs the tests. Later steps use the binary that they have built.
fn tests(arguments: &Arguments) -> anyhow::Result<u8> {
    let code = match arguments.tier() {
        Tier::Quick => test::run_quick()?,
        Tier::Usual | Tier::Full => command("test")?,
    };
    service::keep_binary();
    Ok(code)
}

/// The command line of a check, which must not be skipped in the full tier.
fn strictly(arguments: &Arguments, usual: &'static str, full: &'static str) -> &'static str {
    if arguments.full { full } else { usual }
}

fn generated_clients(arguments: &Arguments) -> anyhow::Result<u8> {
    where_possible(arguments, clients::missing_tool(), || clients::run(None))
}

fn pages_in_a_browser(arguments: &Arguments) -> anyhow::Result<u8> {
    let pages = browser::Arguments::of_all(arguments.full);
    where_possible(arguments, browser::missing_tool(), || browser::run(&pages))
}

/// Calls the service on both durable stores in the full tier, and otherwise only on SQLite, with fewer examples.
fn generated_calls(arguments: &Arguments) -> anyhow::Result<u8> {
    if arguments.full { command("schemathesis") } else { schemathesis::run_on_sqlite() }
}

/// Runs the check. Before the full tier, it prints which tool is missing instead.
fn where_possible(
    arguments: &Arguments,
    missing: Option<String>,
    check: impl FnOnce() -> anyhow::Result<u8>,
) -> anyhow::Result<u8> {
    match missing {
        None => check(),
        Some(missing) if arguments.full => bail!(missing),
        Some(missing) => skipped(&missing),
    }
}

fn skipped(reason: &str) -> anyhow::Result<u8> {
    println!("skipped: {reason}");
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_lists_every_step() {
        let took = [("format", Duration::from_millis(1_240)), ("tests", Duration::from_secs(90))];
        let expected = "    1.2 s  format\n   90.0 s  tests\nunchanged  package\n";
        assert_eq!(summary(&took, &["package"]), expected);
    }

    #[test]
    fn each_step_has_its_own_heading() {
        let headings: std::collections::BTreeSet<&str> = STEPS.iter().map(|step| step.heading).collect();
        assert_eq!(headings.len(), STEPS.len());
    }
}
