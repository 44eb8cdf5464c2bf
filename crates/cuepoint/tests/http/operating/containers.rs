//! The settings, commands and health check in the files for containers, without containers.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use crate::harness::{DOCUMENTED, Database, Store};
use crate::operating::data_directory::Folder;

const COMPOSE: &str = include_str!("../../../../../ops/compose.yaml");
const IMAGE: &str = include_str!("../../../../../ops/container/Containerfile");

/// The path of PostgreSQL's socket in the file. The database of the test has another one.
const DATABASE: &str = "postgres://cuepoint@%2Fvar%2Frun%2Fpostgresql/cuepoint";

/// What an operator writes into `.env`.
const CHOSEN: [(&str, &str); 3] = [
    ("${PUBLIC_URL:?}", "https://music.example.com"),
    ("${SMTP_URL:?}", "smtps://user:secret@mail.example.com"),
    ("${MAIL_FROM:?}", "Cuepoint <no-reply@example.com>"),
];

/// The variables of the image and of the service in the compose file, with folders of the test.
fn variables(folder: &Folder, database: &Database) -> BTreeMap<String, String> {
    let of_image = IMAGE.lines().filter_map(|line| {
        let line = line.trim().trim_start_matches("ENV ").trim_end_matches(" \\");
        line.split_once('=').filter(|(name, _)| name.starts_with("CUEPOINT_"))
    });
    let of_service = COMPOSE
        .lines()
        .filter_map(|line| line.trim().split_once(": ").filter(|(name, _)| name.starts_with("CUEPOINT_")));
    let places = [
        (DATABASE, database.url().to_owned()),
        ("/etc/cuepoint/keys", folder.at("keys")),
        ("/var/lib/cuepoint", folder.at("data")),
        ("0.0.0.0", "127.0.0.1".to_owned()),
    ];
    let chosen = CHOSEN.map(|(name, value)| (name, value.to_owned()));
    let replaced = |value: &str| {
        places.iter().chain(&chosen).fold(value.to_owned(), |value, (from, to)| value.replace(from, to))
    };
    of_image.chain(of_service).map(|(name, value)| (name.to_owned(), replaced(value))).collect()
}

/// The commands of the service at the beginning of the compose file.
fn printed_commands() -> Vec<Vec<&'static str>> {
    let printed = "#   docker compose run --rm --no-deps cuepoint ";
    COMPOSE.lines().filter_map(|line| Some(line.strip_prefix(printed)?.split(' ').collect())).collect()
}

/// The command of the health check, for this address.
fn health_check(address: &str) -> Command {
    let (_, check) = COMPOSE.split_once("        - bash\n        - -c\n        - ").expect("a check by bash");
    let line = check.lines().next().expect("a command").replace("$$", "$");
    let port = |address: &str| address.rsplit(':').next().expect("a port").to_owned();
    let own = format!("/dev/tcp/127.0.0.1/{}", port(DOCUMENTED));
    assert!(line.contains(&own), "{line}");
    let mut bash = Command::new("bash");
    bash.args(["-c", &line.replace(&own, &format!("/dev/tcp/127.0.0.1/{}", port(address)))]);
    bash
}

#[test]
fn the_service_of_the_compose_file_starts_and_its_health_check_sees_when_it_ends() {
    let (folder, database) = (Folder::new(), Database::of(Store::Postgres));
    for volume in ["keys", "data"] {
        fs::create_dir(folder.at(volume)).unwrap();
    }
    let variables = variables(&folder, &database);
    let pairs: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let commands = printed_commands();
    assert_eq!(commands.len(), 2, "the keys of tokens and of webhooks");
    for command in commands {
        let (status, said) = folder.run(&command, &pairs);
        assert!(status.success(), "{command:?}: {said}");
    }
    let server = folder.serve(&[], &pairs);
    let address = server.client.address.clone();
    assert!(health_check(&address).status().unwrap().success());
    server.client.person(false);
    server.stop();
    assert!(!health_check(&address).status().unwrap().success());
}
