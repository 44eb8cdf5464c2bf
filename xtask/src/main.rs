//! Every developer's command. `cargo xtask` alone lists them.

mod bench;
mod ci;
mod clients;
mod cluster;
mod db;
mod failover;
mod fuzz;
mod openapi;
mod postgres_binaries;
mod python;
mod schemathesis;
mod server_user;
mod service;
mod soak;
mod statements;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

/// One line of the list that `cargo xtask` prints.
struct Command {
    name: &'static str,
    arguments: &'static str,
    does: &'static str,
    /// Takes what follows the name; answers with the exit code.
    run: fn(&[String]) -> anyhow::Result<u8>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "ci",
        arguments: "",
        does: "everything that must be green: format, lints, docs, tidy, licences, openapi, test",
        run: ci::run,
    },
    Command {
        name: "test",
        arguments: "[cargo test arguments]",
        does: "every test, on a throw-away PostgreSQL that it starts and removes",
        run: test::run,
    },
    Command {
        name: "soak",
        arguments: "[times]",
        does: "many more random histories and mixed operations than `test` plays, 10 times unless told",
        run: soak::run,
    },
    Command {
        name: "failover",
        arguments: "[rounds]",
        does: "kill PostgreSQL primaries under load and promote standbys, 10 times unless told; print what clients saw",
        run: failover::run,
    },
    Command {
        name: "schemathesis",
        arguments: "[examples]",
        does: "test the live service from its own OpenAPI document, on both stores, as guest, DJ and operator",
        run: schemathesis::run,
    },
    Command {
        name: "fuzz",
        arguments: "[target] [--seconds n]",
        does: "look for inputs that break a property of `crates/fuzz`, all targets for a minute unless told",
        run: fuzz::run,
    },
    Command {
        name: "bench",
        arguments: "[--smoke] [--growth] [--write] [options]",
        does: "how fast the service is beside the limits of what it runs on; `--help` lists the options",
        run: bench::run,
    },
    Command {
        name: "tidy",
        arguments: "",
        does: "the rules of the repository that no compiler checks",
        run: tidy::run,
    },
    Command {
        name: "db",
        arguments: "start|stop|reset",
        does: "a PostgreSQL of your own that stays, and the line that runs the service on it",
        run: db::run,
    },
    Command {
        name: "statements",
        arguments: "",
        does: "write migrations/released/<version>.sql, the statements that this version sends to PostgreSQL",
        run: statements::run,
    },
    Command {
        name: "openapi",
        arguments: "[--check]",
        does: "write docs/openapi.json from the code, or fail when it differs",
        run: openapi::run,
    },
    Command {
        name: "clients",
        arguments: "[lint|typescript|python]",
        does: "lint docs/openapi.json; generate clients, compile them and run README's tour through them",
        run: clients::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", list());
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", list());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprint!("xtask: there is no command `{name}`\n\n{}", list());
        return ExitCode::from(2);
    };
    match (command.run)(rest) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("xtask {name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The commands, one a line.
fn list() -> String {
    let mut text = String::from("cargo xtask <command>\n\n");
    for Command { name, arguments, does, .. } in COMMANDS {
        let usage = format!("{name} {arguments}");
        text.push_str(&format!("  {usage:<30} {does}\n"));
    }
    text
}

/// Refuses arguments where a command takes none.
fn no_arguments(arguments: &[String]) -> anyhow::Result<()> {
    match arguments.first() {
        None => Ok(()),
        Some(argument) => anyhow::bail!("there is no argument `{argument}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_holds_every_command_on_one_line() {
        let list = list();
        for command in COMMANDS {
            let lines = list.lines().filter(|line| line.trim_start().starts_with(command.name));
            assert_eq!(lines.count(), 1, "{}", command.name);
        }
    }
}
