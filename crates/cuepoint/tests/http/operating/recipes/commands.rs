//! Each command that a document prints succeeds, on a machine in the state that the command is for.

use std::collections::BTreeSet;
use std::fs;

use super::documents;
use super::machine::{self, BACKUPS, DATA, Machine, succeeds, succeeds_without_server, with_password};
use crate::harness::Database;

/// Commands that a sentence names without the arguments that they require.
const WHOLE: [(&str, &str); 7] = [
    ("operator add", "operator add EMAIL"),
    ("backup", "backup FILE"),
    ("restore", "restore FILE"),
    ("finalize-upgrade", "finalize-upgrade --database-name NAME"),
    ("users", "users --help"),
    ("users wallet-link", "users wallet-link --help"),
    ("withdrawals", "withdrawals --help"),
];

#[test]
fn every_documented_command_succeeds() {
    let printed = documents::commands();
    assert!(printed.contains("ledger verify") && printed.contains("migrate"), "{printed:?}");
    let whole = |command: String| {
        WHOLE.iter().find(|(name, _)| command == *name).map(|(_, whole)| whole.to_string()).unwrap_or(command)
    };
    let commands: BTreeSet<String> = printed.into_iter().map(whole).collect();
    // Its data stays, whatever a command does.
    let machine = Machine::with_guest();
    for command in &commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            [] | ["serve" | "--data" | "--ephemeral", ..] => serves(&machine, command),
            ["backup", "--keep", ..] => {
                drop(succeeds(machine.shell(&format!("cuepoint backup --keep 2 {BACKUPS}"))));
            }
            ["backup", file] => drop(backs_up(&machine, file)),
            ["restore" | "finalize-upgrade", "--database-name", name, ..] => prepares_database(command, name),
            ["restore", file, ..] => restores(&machine, command, file),
            ["storage", "copy", ..] => copies(&words),
            ["doctor", ..] => machine::examines(&machine, command),
            ["operator", ..] => manages_operators(command),
            ["users" | "withdrawals", .., "--help"] => {
                drop(succeeds(machine.shell(&format!("cuepoint {command}"))))
            }
            ["users" | "withdrawals", ..] => calls_the_api(&machine, command),
            _ => drop(succeeds(machine.shell(&format!("cuepoint {command}")))),
        }
    }
}

/// The command is executed, so that its process is the one that is killed. Production refuses the store in memory.
fn serves(machine: &Machine, arguments: &str) {
    let directory = machine.here(DATA);
    let environment = if arguments.contains("--ephemeral") { "development" } else { "production" };
    let arguments = arguments.replace("DIR", &directory);
    let lines = format!("export CUEPOINT_ENV={environment}; exec cuepoint {arguments}");
    let server = machine::serves(machine.shell(&lines));
    server.client.outside("GET", "/health/ready").send().data(200);
}

/// On a machine with two operators, one of whom has the printed address.
fn manages_operators(command: &str) {
    let machine = Machine::with_guest();
    let command = command.replace("EMAIL", "second@example.com");
    for line in ["operator add second@example.com", &command] {
        succeeds(machine.shell(&with_password(&format!("cuepoint {line}"))));
    }
}

/// At a server on a free port.
fn calls_the_api(machine: &Machine, command: &str) {
    let server = machine.start();
    succeeds(
        machine.shell(&with_password(&machine::calling(&format!("cuepoint {command}"), &server.client))),
    );
}

/// Makes a backup, at the printed path or at a path for `FILE`.
fn backs_up(machine: &Machine, file: &str) -> String {
    let path = if file == "FILE" { format!("{BACKUPS}/FILE.db") } else { file.to_owned() };
    let path = machine.here(&path);
    let _ = fs::remove_file(&path);
    let mut command = machine.shell("cuepoint backup \"$FILE\"");
    succeeds({
        command.env("FILE", &path);
        command
    });
    path
}

fn prepares_database(command: &str, name: &str) {
    let (machine, database) = (Machine::with_keys(), Database::postgres());
    machine.move_to(database.url());
    drop(machine.start());
    let actual = database.url().rsplit_once('/').unwrap().1;
    let named = |name: &str| format!("--database-name {name}");
    let command = command.replace(&named(name), &named(actual));
    succeeds_without_server(|| machine.shell(&format!("cuepoint {command}")));
}

fn restores(from: &Machine, command: &str, file: &str) {
    let (machine, backup) = (Machine::with_keys(), backs_up(from, file));
    let mut restore = machine.shell(&format!("cuepoint {}", command.replace(file, "\"$FILE\"")));
    restore.env("FILE", backup);
    succeeds(restore);
    succeeds(machine.shell("cuepoint ledger verify"));
}

/// Copies in the direction of the printed target. An option that resolves a copy meets an interrupted one.
fn copies(words: &[&str]) {
    let (machine, database) = (Machine::with_guest(), Database::postgres());
    let target = words.iter().skip_while(|word| **word != "--to").nth(1).copied();
    let printed = words.join(" ");
    let (command, to) = match target {
        Some(directory) if directory.starts_with("sqlite:") => {
            let to = machine.here(&format!("sqlite:{DATA}/new"));
            // The copy in this direction needs a source on PostgreSQL.
            machine.move_to(database.url());
            drop(machine.start());
            (printed.replace(directory, "\"$TARGET\""), to)
        }
        Some(url) => (printed.replace(url, "\"$TARGET\""), database.url().to_owned()),
        None => (printed, database.url().to_owned()),
    };
    let step = ["--finish", "--abort"].iter().position(|option| words.contains(option));
    if let Some(step) = step.map(|number| ["copy_committed", "copy_marked"][number]) {
        let mut copy = machine.shell("cuepoint storage copy");
        copy.env("CUEPOINT_COPY_TO", &to).env("CUEPOINT_CRASH_AT", step);
        assert!(!copy.status().unwrap().success(), "the copy ends at {step}");
    }
    succeeds_without_server(|| {
        let mut copy = machine.shell(&format!("cuepoint {command}"));
        copy.env("TARGET", &to).env("CUEPOINT_COPY_TO", &to);
        copy
    });
    let serves = machine.shell("cuepoint ledger verify").status().unwrap().success();
    let stays = words.contains(&"--dry-run") || words.contains(&"--abort");
    assert_eq!(serves, stays, "{words:?}");
}
