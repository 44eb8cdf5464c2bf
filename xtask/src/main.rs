//! Development commands. `cargo xtask` alone prints the list.

mod bench;
mod browser;
mod ci;
mod clients;
mod cluster;
mod db;
mod demo;
mod fuzz;
mod markdown;
mod node;
mod openapi;
mod package;
mod postgres_binaries;
mod python;
mod release;
mod routes;
mod schemathesis;
mod server_user;
mod service;
mod site;
mod statements;
mod test;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};

/// A number of repetitions, at least one.
type Count = std::num::NonZeroU32;

/// Development commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the checks of a submitted change; `--quick` those of each commit, `--full` those of a release.
    Ci(ci::Arguments),
    /// Run every test, on a temporary PostgreSQL that is started and removed.
    Test {
        /// Arguments for `cargo test`.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Run many more random histories and mixed operations than `test` does.
    Soak {
        /// Factor by which to multiply them.
        #[arg(default_value = "10")]
        times: Count,
    },
    /// Kill PostgreSQL primaries under load and promote standbys; print what clients observed.
    Failover {
        /// Number of primaries.
        #[arg(default_value = "10")]
        rounds: Count,
    },
    /// Test the live service from its own OpenAPI document, on both durable stores, as guest, DJ and
    /// operator.
    Schemathesis {
        /// Maximum number of calls of each operation.
        #[arg(default_value = "8")]
        examples: Count,
    },
    /// Search for inputs that violate a property of `crates/fuzz`.
    Fuzz(fuzz::Arguments),
    /// Test the pages in Chromium, in every state and against the live service.
    Browser(browser::Arguments),
    /// Take the pictures of README during a simulated evening.
    Screenshots,
    /// Measure the service against the limits of its machine; `cargo xtask bench --help` lists the options.
    Bench {
        /// `--latency`, `--growth`, `--streams`, or options of the benchmark.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Simulate an evening with a DJ and twenty guests on a running service that is not in production.
    Demo(demo::Arguments),
    /// Check the rules of the repository that no compiler checks.
    Tidy,
    /// Write docs/attacks.md from the attacks that tests name.
    Attacks,
    /// Print the size of the code by crate, and the budgets of `tidy`.
    Figures(tidy::figures::Arguments),
    /// Manage a persistent PostgreSQL for development, and print the line that runs the service on it.
    Db(db::Arguments),
    /// Write `migrations/postgres/released/<version>.sql`, the statements that this version sends to
    /// PostgreSQL.
    Statements,
    /// Write docs/openapi.json from the code.
    Openapi(openapi::Arguments),
    /// Lint docs/openapi.json, generate clients, compile them and run README's tour through them.
    Clients {
        /// Only this step.
        step: Option<clients::Step>,
    },
    /// Build the documents and the pages of the API as a static site in `target/site`.
    Site,
    /// Build the Debian package; `--check` tests it in a bare Debian.
    Package(package::Arguments),
    /// Build the archive, the Debian package, the list of components and the checksums of a release.
    Release(release::Arguments),
    /// Print every operation: method, path, id, action, rate limit, body, response, failures.
    Routes,
}

impl Command {
    /// Runs the command; returns the exit code.
    fn run(self) -> anyhow::Result<u8> {
        match self {
            Self::Ci(arguments) => ci::run(&arguments),
            Self::Test { arguments } => test::run(&arguments),
            Self::Soak { times } => test::soak(times),
            Self::Failover { rounds } => test::failover(rounds),
            Self::Schemathesis { examples } => schemathesis::run(examples),
            Self::Fuzz(arguments) => fuzz::run(&arguments),
            Self::Browser(arguments) => browser::run(&arguments),
            Self::Screenshots => browser::screenshots::run(),
            Self::Bench { arguments } => bench::run(&arguments),
            Self::Demo(arguments) => demo::run(&arguments),
            Self::Tidy => tidy::run(),
            Self::Attacks => tidy::attacks::run(),
            Self::Figures(arguments) => tidy::figures::run(&arguments),
            Self::Db(arguments) => db::run(&arguments),
            Self::Statements => statements::run(),
            Self::Openapi(arguments) => openapi::run(&arguments),
            Self::Site => site::run(),
            Self::Package(arguments) => package::run(&arguments),
            Self::Release(arguments) => release::run(&arguments),
            Self::Routes => routes::run(),
            Self::Clients { step } => clients::run(step),
        }
    }
}

fn main() -> ExitCode {
    let arguments = parse(std::env::args().collect()).unwrap_or_else(|error| error.exit());
    let Some(command) = arguments.command else {
        print!("{}", Arguments::command().render_help());
        return ExitCode::SUCCESS;
    };
    let name = std::env::args().nth(1).unwrap_or_default();
    match command.run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("xtask {name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command line; returns its exit code.
fn command(line: &str) -> anyhow::Result<u8> {
    let line = ["xtask"].into_iter().chain(line.split_whitespace()).map(str::to_owned);
    parse(line.collect())?.command.context("there is no command")?.run()
}

/// Parses a command line, which begins with the program's name.
fn parse(mut line: Vec<String>) -> Result<Arguments, clap::Error> {
    // These commands pass their arguments on, including `--` and `--help`.
    if line.get(1).is_some_and(|name| matches!(name.as_str(), "test" | "bench")) {
        line.insert(2, "--".to_owned());
    }
    Arguments::try_parse_from(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Option<Command> {
        let line = ["xtask"].into_iter().chain(line.split_whitespace()).map(str::to_owned);
        parse(line.collect()).ok()?.command
    }

    #[test]
    fn the_command_definitions_are_valid() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_help_lists_each_command_on_its_own_line() {
        let help = Arguments::command().render_help().to_string();
        for command in Arguments::command().get_subcommands() {
            let name = command.get_name();
            let lines = help.lines().filter(|line| line.split_whitespace().next() == Some(name));
            assert_eq!(lines.count(), 1, "{name} in {help}");
        }
    }

    #[test]
    fn tests_and_benchmarks_receive_their_arguments_unchanged() {
        for rest in ["", "-p xtask -- --nocapture a", "-- --skip x -- y", "--help", "--growth --million"] {
            let expected: Vec<&str> = rest.split_whitespace().collect();
            let Some(Command::Test { arguments }) = parsed(&format!("test {rest}")) else { panic!("{rest}") };
            assert_eq!(arguments, expected);
            let Some(Command::Bench { arguments }) = parsed(&format!("bench {rest}")) else {
                panic!("{rest}")
            };
            assert_eq!(arguments, expected);
        }
    }
}
