//! A machine as the guide for operators sets it up, below the folder of a test.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use super::documents::{OPERATOR, Printed, printed};
use crate::harness::{Client, PASSWORD, completed, once_servers_are_gone};
use crate::operating::data_directory::{Folder, Process};

pub(super) const ENVIRONMENT: &str = "/etc/cuepoint/environment";
pub(super) const SERVER: &str = "/etc/systemd/system/cuepoint.service";
pub(super) const BACKUP: &str = "/etc/systemd/system/cuepoint-backup.service";
pub(super) const TIMER: &str = "/etc/systemd/system/cuepoint-backup.timer";
pub(super) const DATA: &str = "/var/lib/cuepoint";
pub(super) const BACKUPS: &str = "/var/backups/cuepoint";
const PROGRAMS: &str = "/usr/bin";
const KEYS: &str = "/etc/cuepoint/keys";
const UNITS: &str = "/etc/systemd/system";
/// The folders of the guide, for which folders of the test stand.
const FOLDERS: [&str; 7] =
    ["/etc/cuepoint", UNITS, "/etc/sysusers.d", "/etc/tmpfiles.d", DATA, BACKUPS, PROGRAMS];
/// The files of the repository that the guide installs, with their places.
const INSTALLED: [(&str, &str); 4] = [
    ("ops/environment", ENVIRONMENT),
    ("ops/systemd/cuepoint.service", SERVER),
    ("ops/systemd/cuepoint-backup.service", BACKUP),
    ("ops/systemd/cuepoint-backup.timer", TIMER),
];
const BUILT: &str = "target/release/cuepoint";

/// Programs that need another user or a whole machine, with what a test can do instead.
const STUBS: [(&str, &str); 4] = [
    ("sudo", r#"if [ "$1" = -u ]; then shift 2; fi; exec "$@""#),
    ("systemd-sysusers", ""),
    ("systemd-tmpfiles", ""),
    // Links a program instead of copying it.
    (
        "install",
        r#"if [ "$1" = -d ]; then shift 7; mkdir -p "$@"; exit; fi
if [ "$3" = -g ]; then shift 2; fi
case "$3" in */ops/*) cp "$3" "$4";; *) ln -sf "$3" "$4";; esac"#,
    ),
];
/// The address of a database in the guides, to the end of its quotation.
const DATABASE: &str = "'postgres://";

/// The values of a key in a unit.
pub(super) fn values<'a>(unit: &'a str, key: &str) -> Vec<&'a str> {
    unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect()
}

/// The words of a command line of a unit, as systemd splits and expands it.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    for word in &mut words {
        let literal = word.replace("$$", "").replace("%%", "");
        assert!(!literal.contains(['$', '%', '\\', '"']), "systemd would expand {word:?}");
        *word = word.replace("$$", "$").replace("%%", "%");
    }
    words
}

/// A printed text with another database.
pub(super) fn at_database(text: &str, url: &str) -> String {
    let mut parts = text.split(DATABASE);
    let mut replaced = parts.next().unwrap().to_owned();
    for part in parts {
        let (_, rest) = part.split_once('\'').unwrap();
        replaced += &format!("'{url}'{rest}");
    }
    replaced
}

/// A line of a shell that asks for a password, with the password as its input.
pub(super) fn with_password(line: &str) -> String {
    format!("{line} <<END\n{PASSWORD}\nEND")
}

/// A command that calls the API, with the address of a server on a free port.
pub(super) fn calling(line: &str, server: &Client) -> String {
    format!("{line} --url {}", server.address)
}

/// Runs a form of `cuepoint doctor`. Nothing fails but what the documents leave to the reader: the address, the mail
/// server, and the disk.
pub(super) fn examines(machine: &Machine, command: &str) {
    let (_, said) = completed(machine.shell(&format!("cuepoint {command}")));
    assert!(said.contains("ok    storage.database"), "{said}");
    let left_open =
        |line: &&str| [" network.public_url", " mail", " disk."].iter().any(|name| line.contains(name));
    let failed: Vec<&str> = said.lines().filter(|line| line.starts_with("fail")).collect();
    assert!(failed.iter().all(left_open), "{failed:?}");
}

/// The output of a command that succeeds.
pub(super) fn succeeds(command: Command) -> String {
    let shown = format!("{command:?}");
    let (status, said) = completed(command);
    assert!(status.success(), "{shown}: {said}");
    said
}

/// Runs a command that no server may disturb. It succeeds once the connections of a killed server are gone.
pub(super) fn succeeds_without_server(command: impl Fn() -> Command) {
    let (done, said) = once_servers_are_gone(|| completed(command()));
    assert!(done, "{said}");
}

/// Starts a server on a free port.
pub(super) fn serves(mut command: Command) -> Process {
    command.env("CUEPOINT__SERVER__PORT", "0");
    Process::start(command)
}

pub(super) struct Machine(Folder);

impl Machine {
    /// A machine without any file of the guide.
    pub(super) fn bare() -> Self {
        let machine = Self(Folder::new());
        let stubs = machine.0.path().join("stubs");
        fs::create_dir_all(&stubs).unwrap();
        for (name, lines) in STUBS {
            let path = stubs.join(name);
            fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for folder in FOLDERS.iter().chain([&KEYS]) {
            fs::create_dir_all(machine.here(folder)).unwrap();
        }
        for (name, _) in INSTALLED
            .iter()
            .chain(&[("ops/sysusers.d/cuepoint.conf", ""), ("ops/tmpfiles.d/cuepoint.conf", "")])
        {
            let text = fs::read_to_string(format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
            let place = machine.0.path().join(name);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, machine.here(&text)).unwrap();
        }
        machine
    }

    /// A machine with the program, the files and the keys of the guide.
    pub(super) fn with_keys() -> Self {
        let machine = Self::bare();
        symlink(env!("CARGO_BIN_EXE_cuepoint"), machine.here(PROGRAMS) + "/cuepoint").unwrap();
        for (name, place) in INSTALLED {
            fs::copy(machine.0.path().join(name), machine.here(place)).unwrap();
        }
        for (language, block) in printed(OPERATOR) {
            if language == Printed::Files {
                machine.write(&block);
            }
        }
        succeeds(machine.shell("cuepoint keys rotate\ncuepoint keys rotate --webhooks"));
        machine
    }

    /// A machine with the data of the first operator and of one guest.
    pub(super) fn with_guest() -> Self {
        let machine = Self::with_keys();
        succeeds(machine.shell(&with_password("cuepoint operator add operator@example.com")));
        machine.start().client.person(false);
        machine
    }

    /// A text with the paths of this machine.
    pub(super) fn here(&self, text: &str) -> String {
        let root = self.0.path().to_str().unwrap();
        let text = FOLDERS
            .iter()
            .fold(text.to_owned(), |text, folder| text.replace(folder, &format!("{root}{folder}")));
        text.replace(BUILT, env!("CARGO_BIN_EXE_cuepoint")).replace(" ops/", &format!(" {root}/ops/"))
    }

    /// The content of a file of the guide.
    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.here(path)).unwrap()
    }

    /// Appends a block to the files that it names, each in a line such as `# /etc/cuepoint/environment`.
    pub(super) fn write(&self, block: &str) {
        let mut file: Option<File> = None;
        for line in block.lines() {
            if let Some(path) = line.strip_prefix("# /") {
                let path = self.here(&format!("/{path}"));
                file = Some(OpenOptions::new().append(true).create(true).open(path).unwrap());
            } else {
                let file = file.as_mut().unwrap_or_else(|| panic!("the file of {line:?} has no name"));
                writeln!(file, "{}", self.here(line).replace("'…'", &format!("'{PASSWORD}'"))).unwrap();
            }
        }
    }

    /// Replaces the settings of the store in the environment by a printed block.
    pub(super) fn use_store(&self, block: &str) {
        let environment = self.read(ENVIRONMENT);
        let kept = environment.lines().filter(|line| !line.starts_with("CUEPOINT__STORAGE__"));
        fs::write(self.here(ENVIRONMENT), kept.collect::<Vec<_>>().join("\n") + "\n").unwrap();
        self.write(block);
    }

    /// Uses a database instead of SQLite.
    pub(super) fn move_to(&self, url: &str) {
        self.use_store(&format!("# {ENVIRONMENT}\nCUEPOINT__STORAGE__POSTGRES__URL='{url}'"));
    }

    /// A command that finds the programs of this machine, and nothing of the environment of the test.
    fn clean(&self, mut command: Command) -> Command {
        let root = self.0.path().display();
        command.env_clear().env("PATH", format!("{root}/stubs:{root}{PROGRAMS}:/usr/bin:/bin"));
        command.current_dir("/").stdin(Stdio::null());
        command
    }

    /// Lines in a shell of root.
    pub(super) fn root_shell(&self, lines: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-e", "-c", &self.here(lines)]);
        self.clean(command)
    }

    /// Lines in the shell that the guide opens for its commands.
    pub(super) fn shell(&self, lines: &str) -> Command {
        let blocks = printed(OPERATOR);
        let opening = blocks.iter().find(|(_, block)| block.contains("exec sh'"));
        let (_, opening) = opening.expect("the guide opens a shell");
        let path = self.0.path().join("lines");
        fs::write(&path, format!("set -e\n{}\n", self.here(lines))).unwrap();
        // One process from the first shell to the last command, if that is executed too.
        let mut command = self.root_shell(&format!("exec {opening}"));
        command.stdin(File::open(path).unwrap());
        command
    }

    /// A command of a unit, in the environment that systemd sets.
    pub(super) fn unit_command(&self, unit: &str, line: &str) -> Command {
        let words = words(line);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        let mut command = self.clean(command);
        command.env("PATH", "/usr/bin:/bin");
        for file in values(unit, "EnvironmentFile") {
            for line in fs::read_to_string(file).unwrap().lines() {
                let Some((name, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else {
                    continue;
                };
                command.env(name, value.trim_matches('\''));
            }
        }
        for name in values(unit, "StateDirectory") {
            command.env("STATE_DIRECTORY", self.here(&format!("/var/lib/{name}")));
        }
        command
    }

    /// Runs the commands of a unit that ends.
    pub(super) fn run_unit(&self, path: &str) {
        let unit = self.read(path);
        for line in [values(&unit, "ExecStart"), values(&unit, "ExecStartPost")].concat() {
            succeeds(self.unit_command(&unit, line));
        }
    }

    /// Starts the unit of the server, on a free port.
    pub(super) fn start(&self) -> Process {
        let unit = self.read(SERVER);
        serves(self.unit_command(&unit, values(&unit, "ExecStart")[0]))
    }

    /// The backups, in the order of their names.
    pub(super) fn backups(&self) -> Vec<String> {
        let entries = fs::read_dir(self.here(BACKUPS)).unwrap();
        let mut paths: Vec<_> =
            entries.map(|entry| entry.unwrap().path().to_str().unwrap().to_owned()).collect();
        paths.sort();
        paths
    }
}
