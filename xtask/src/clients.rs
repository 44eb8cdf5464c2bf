//! `cargo xtask clients`: the OpenAPI document linted, and generated clients run against the live service.

mod python_client;
mod typescript_client;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;

use crate::service::{self, Service};
use crate::workspace::{exit_code, root, target_dir};
use crate::{node, openapi, python};

/// The tours through the clients, the configuration of the tools and the pinned versions.
const FOLDER: &str = "xtask/src/clients";

/// A step of the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Step {
    /// Lint the document.
    Lint,
    /// Generate, compile and run the TypeScript client.
    Typescript,
    /// Generate, check and run the Python client.
    Python,
}

/// Runs the given step, or all of them; returns 1 if the linter has findings.
///
/// # Errors
/// If a tool is missing or fails, a client does not compile, or a tour fails.
pub(crate) fn run(step: Option<Step>) -> anyhow::Result<u8> {
    if let Some(missing) = missing_tool() {
        bail!(missing);
    }
    let document = root().join(openapi::DOCUMENT);
    for step in Step::value_variants().iter().filter(|one| step.is_none_or(|step| step == **one)) {
        let (name, start) = (format!("{step:?}").to_lowercase(), Instant::now());
        println!("--- {name} ---");
        match step {
            Step::Lint => {
                let code = lint(&document)?;
                if code != 0 {
                    return Ok(code);
                }
            }
            Step::Typescript => tour(&name, typescript_client::compile(&document)?)?,
            Step::Python => tour(&name, python_client::check(&document)?)?,
        }
        println!("--- {name}: {:.1} s ---", start.elapsed().as_secs_f64());
    }
    Ok(0)
}

/// Returns the message that names a missing tool and its package, if a tool is missing.
pub(crate) fn missing_tool() -> Option<String> {
    node::missing().or_else(|| python::missing().map(str::to_owned))
}

/// Lints the document by redocly's recommended rules, with warnings as errors; the linter prints its
/// findings.
fn lint(document: &Path) -> anyhow::Result<u8> {
    let mut redocly = program("redocly")?;
    redocly
        .args(["lint", "--extends", "recommended-strict", "--format", "stylish", "--max-problems", "1000"])
        .arg(document)
        .env("REDOCLY_TELEMETRY", "off")
        .env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    exit_code(&mut redocly)
}

/// Runs the program of a tour against a service with an empty SQLite database.
fn tour(step: &str, mut program: Command) -> anyhow::Result<()> {
    service::binary()?;
    let logs = target_dir()?.join("clients");
    fs::create_dir_all(&logs).with_context(|| format!("{} cannot be created", logs.display()))?;
    let log = logs.join(format!("{step}-server.log"));
    let data = logs.join(format!("{step}-data"));
    Service::start(&service::sqlite(&data)?, &log)
        .and_then(|service| run_tool(program.arg(service.url())))
        .with_context(|| format!("the tour failed; the log of the service is {}", log.display()))
}

/// Runs a program to its end, and fails if it fails.
fn run_tool(command: &mut Command) -> anyhow::Result<()> {
    let code = exit_code(command)?;
    ensure!(code == 0, "{} failed with exit status {code}", command.get_program().display());
    Ok(())
}

/// The path of a file in `FOLDER`.
fn source(name: &str) -> PathBuf {
    root().join(FOLDER).join(name)
}

/// The folder of the npm project of the linter and of the TypeScript client.
fn project() -> anyhow::Result<PathBuf> {
    node::project("clients-node", FOLDER)
}

/// A program of the npm packages, run in the folder of the project.
fn program(name: &str) -> anyhow::Result<Command> {
    let project = project()?;
    let mut command = Command::new(project.join("node_modules").join(".bin").join(name));
    command.current_dir(project);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_requirements_are_pinned() {
        let requirements = fs::read_to_string(source("requirements.txt")).unwrap();
        for line in requirements.lines().filter(|line| !line.starts_with('#')) {
            assert!(line.contains("=="), "{line}");
        }
    }
}
