//! The guides for operators, followed as an operator, a shell and systemd follow them.

mod commands;
mod documents;
mod machine;

use std::fs::{self, File};

use cuepoint_store_sqlite::testing;

use crate::harness::{DOCUMENTED, Database, Person};
use crate::operating::data_directory::Process;
use documents::{OPERATOR, POSTGRESQL, Printed, printed};
use machine::{
    BACKUP, BACKUPS, DATA, ENVIRONMENT, Machine, SERVER, TIMER, at_database, calling, succeeds,
    succeeds_without_server, with_password,
};

/// The first operator of the guide.
const FIRST_OPERATOR: &str = "operator@example.com";

/// An operator who follows a guide block by block, and a guest of the service.
struct Operator {
    machine: Machine,
    running: Option<Process>,
    guest: Option<Person>,
}

impl Operator {
    /// Runs commands of the service. The printed backup is the newest one.
    fn run(&self, block: &str) {
        let lines = block.lines().map(|line| match line.strip_prefix("cuepoint restore ") {
            Some(_) => "cuepoint restore \"$NEWEST\"".to_owned(),
            None if line.starts_with("cuepoint operator add ") => with_password(line),
            None if line.starts_with("cuepoint withdrawals ") => {
                let server = self.running.as_ref().expect("the guide starts the service before");
                with_password(&calling(line, &server.client))
            }
            None => line.to_owned(),
        });
        let mut commands = self.machine.shell(&lines.collect::<Vec<_>>().join("\n"));
        if let Some(newest) = self.machine.backups().last() {
            commands.env("NEWEST", newest);
        }
        succeeds(commands);
    }

    /// Runs a line of root. The test acts for systemd.
    fn run_as_root(&mut self, line: &str) {
        match line.strip_prefix("sudo systemctl ") {
            Some("daemon-reload") => {}
            Some("enable --now cuepoint" | "start cuepoint") => self.start(),
            Some("stop cuepoint") => self.running = None,
            Some("enable --now cuepoint-backup.timer" | "start cuepoint-backup") => {
                self.machine.run_unit(BACKUP);
            }
            Some(other) => panic!("the test does not know {other}"),
            None => {
                let address = self.running.as_ref().map_or(DOCUMENTED, |server| &server.client.address);
                succeeds(self.machine.root_shell(&line.replace(DOCUMENTED, address)));
            }
        }
    }

    /// Starts the service. Its guest registers at the first start, and finds the account at each further one.
    fn start(&mut self) {
        let server = self.machine.start();
        match &self.guest {
            None => self.guest = Some(server.client.person(false)),
            Some(guest) => assert_eq!(server.client.login(&guest.email).id, guest.id),
        }
        server.client.login(FIRST_OPERATOR).get("/operator/withdrawals").data(200);
        self.running = Some(server);
    }
}

#[test]
fn every_block_of_the_operator_guide_works() {
    let mut operator = Operator { machine: Machine::bare(), running: None, guest: None };
    for (kind, block) in printed(OPERATOR) {
        match kind {
            Printed::Files => operator.machine.write(&block),
            Printed::Shell if block.contains("exec sh'") => {}
            Printed::Shell if block.starts_with("cuepoint doctor") => {
                machine::examines(&operator.machine, "doctor")
            }
            Printed::Shell if block.starts_with("cuepoint ") => operator.run(&block),
            Printed::Shell => block.lines().for_each(|line| operator.run_as_root(line)),
        }
    }
    assert!(operator.running.is_some() && operator.guest.is_some(), "the guide starts the service");
    let first_token = operator.guest.unwrap().token;
    let server = operator.running.unwrap();
    server.client.call("GET", "/wallet").bearer(&first_token).send().refused(401, "invalid_token");
}

#[test]
fn the_installed_backup_unit_keeps_the_newest_14_backups() {
    let machine = Machine::with_guest();
    for block in documents::files() {
        let named = block.lines().filter_map(|line| line.strip_prefix("# "));
        assert!(named.filter(|path| path.starts_with('/')).all(|path| path == ENVIRONMENT), "{block}");
    }
    assert!([SERVER, TIMER].iter().all(|unit| machine.read(unit).contains("[Install]")));

    for day in 1..=20 {
        File::create(machine.here(&format!("{BACKUPS}/2026-01-{day:02}T040000.db"))).unwrap();
    }
    machine.run_unit(BACKUP);
    let backups = machine.backups();
    assert!(backups.len() == 14 && backups[0].ends_with("2026-01-08T040000.db"), "{backups:?}");
    let found = testing::rows(backups[13].as_ref(), "SELECT CAST(count(*) AS TEXT) FROM users");
    // The first operator, and the guest.
    assert_eq!(found, [[Some("2".to_owned())]]);
}

/// The block with the address of the least-privileged role, which only the first block names.
fn of_servers(block: &str, database: &Database) -> String {
    assert!(block.contains("postgres://cuepoint_server:"), "servers use the role: {block}");
    at_database(block, &database.service_url())
}

#[test]
fn every_block_of_the_postgresql_guide_works() {
    let (machine, database) = (Machine::with_keys(), Database::postgres());
    let name = format!("--database-name {}", database.url().rsplit_once('/').unwrap().1);
    let blocks = printed(POSTGRESQL);
    let servers = of_servers(&blocks[0].1, &database);
    let (mut owner, mut guest) = (String::new(), None);
    for (kind, block) in blocks {
        let is_about = |part: &str| block.contains(part);
        match kind {
            Printed::Files => {
                machine.use_store(&of_servers(&block, &database));
                succeeds(machine.shell("cuepoint config check"));
            }
            Printed::Shell if is_about("CUEPOINT_COPY_TO") => moves_to_postgresql(&block),
            Printed::Shell if is_about("sqlite:") => moves_to_sqlite(&owner, &block),
            Printed::Shell if is_about("CUEPOINT__STORAGE__POSTGRES__URL") => {
                owner = at_database(&block, database.url());
                succeeds(machine.shell(&owner));
                machine.use_store(&servers);
                guest = Some(machine.start().client.person(false));
            }
            Printed::Shell => {
                assert!(block.contains("--database-name cuepoint"), "a block is not followed: {block}");
                let block = block.replace("--database-name cuepoint", &name);
                succeeds_without_server(|| machine.shell(&format!("{owner}\n{block}")));
            }
        }
    }
    machine.use_store(&servers);
    let server = machine.start();
    let guest = guest.expect("the guide sets the address of the owner");
    assert_eq!(server.client.login(&guest.email).id, guest.id);
}

fn moves_to_postgresql(block: &str) {
    let (machine, database) = (Machine::with_guest(), Database::postgres());
    succeeds(machine.shell(&at_database(block, database.url())));
    assert_eq!(database.rows("SELECT count(*) FROM users"), [[Some("2".to_owned())]]);
    assert!(!machine.shell("cuepoint ledger verify").status().unwrap().success(), "the data has been moved");
}

fn moves_to_sqlite(owner: &str, block: &str) {
    let (machine, database) = (Machine::with_guest(), Database::postgres());
    fs::remove_dir_all(machine.here(DATA)).unwrap();
    machine.use_store(&at_database(&printed(POSTGRESQL)[0].1, database.url()));
    drop(machine.start());
    let owner = at_database(owner, database.url());
    succeeds_without_server(|| machine.shell(&format!("{owner}\n{block}")));
    let mut verify = machine.shell("exec cuepoint ledger verify --data \"$COPY\"");
    verify.env("COPY", machine.here(DATA));
    succeeds(verify);
}
