//! Starts that are refused before they change anything, first starts that are interrupted, and commands that
//! complete although their output cannot be written.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Output, Stdio};

use serde_json::Value;

use super::data_directory::Folder;
use crate::harness::{Browser, LISTENING, PASSWORD, set_cookies};

#[test]
fn a_start_on_a_taken_port_creates_no_files() {
    let folder = Folder::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (status, said) = folder.run(&["--data", "data"], &[("CUEPOINT__SERVER__PORT", &port)]);
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("cannot listen on 127.0.0.1 port {port}")), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "neither a directory nor a key is created");
}

#[test]
fn a_server_can_start_again_after_a_kill_during_its_first_start() {
    for step in ["start_locked", "start_opened", "start_recording", "start_settled", "start_keys_created"] {
        let folder = Folder::new();
        let (status, said) = folder.run(&["--data", "data"], &[("CUEPOINT_CRASH_AT", step)]);
        assert!(!status.success() && !said.contains("cuepoint: "), "{step}: {said}");
        let server = folder.serve(&["--data", "data"], &[]);
        server.client.person(false).topup("20");
        server.stop();
    }
}

#[test]
fn an_empty_database_file_is_reported_with_a_remedy() {
    let folder = Folder::new();
    let server = folder.serve(&["--data", "data"], &[]);
    server.client.person(false);
    // Killed, so that its log has commits.
    drop(server);
    let (database, log) =
        (folder.path().join("data/cuepoint.db"), folder.path().join("data/cuepoint.db-wal"));
    let (sound, commits) = (fs::read(&database).unwrap(), fs::read(&log).unwrap());
    File::create(&database).unwrap();
    for arguments in [&["--data", "data"][..], &["ledger", "verify", "--data", "data"]] {
        let (status, said) = folder.run(arguments, &[]);
        assert!(!status.success() && said.contains("cuepoint.db is empty"), "{said}");
        assert!(
            said.contains("move cuepoint.db, cuepoint.db-wal") && said.contains("`cuepoint restore FILE`"),
            "{said}"
        );
    }
    assert_eq!(fs::read(&log).unwrap(), commits);
    fs::write(&database, sound).unwrap();
    folder.serve(&["--data", "data"], &[]).stop();
}

#[test]
fn production_on_sqlite_requires_an_explicit_data_directory() {
    let folder = Folder::new();
    let production = [("CUEPOINT_ENV", "production"), ("CUEPOINT__STORAGE__BACKEND", "sqlite")];
    for arguments in [&["serve"][..], &["migrate"], &["config", "check"]] {
        let (status, said) = folder.run(arguments, &production);
        assert_eq!(status.code(), Some(1), "{said}");
        assert!(said.contains("storage.dir: is required in production, unless --data or"), "{said}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A folder with a configuration file and keys for a server in production, and the variables for it.
pub(crate) fn in_production(folder: &Folder) -> [(&'static str, &'static str); 2] {
    let file = "[server]\npublic_url = \"https://music.example.com\"\n[auth]\nsigning_key_file = \"keys\"\n[webhooks]\nkey_file = \"keys\"\n\
                [withdrawals]\nverified_email = false\n";
    fs::write(folder.path().join("cuepoint.toml"), file).unwrap();
    let variables = [("CUEPOINT_ENV", "production"), ("CUEPOINT_CONFIG", "cuepoint.toml")];
    let (status, said) = folder.run(&["keys", "rotate", "--data", "data"], &variables);
    assert!(status.success(), "{said}");
    variables
}

fn object(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[test]
fn a_server_in_production_announces_itself_only_in_json_on_standard_error() {
    let folder = Folder::new();
    let variables = in_production(&folder);
    for (level, is_first_shown) in [("", true), ("off", false)] {
        let variables = [&variables[..], &[("CUEPOINT_LOG", level)]].concat();
        let mut command = folder.command(&["--data", "data"], &variables);
        let mut server = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log =
            BufReader::new(server.stderr.take().unwrap()).lines().map(|line| object(&line.unwrap()));
        let mut said: Vec<Value> = Vec::new();
        while !said.last().is_some_and(|line| line["message"].as_str().unwrap().starts_with(LISTENING)) {
            said.push(log.next().unwrap_or_else(|| panic!("the server ended: {said:?}")));
        }
        server.kill().unwrap();
        let printed = server.wait_with_output().unwrap().stdout;
        assert_eq!(String::from_utf8_lossy(&printed), "");
        let directory = format!("data directory: {}", folder.at("data"));
        assert!(said.iter().any(|line| line["message"] == directory), "{said:?}");
        let first = &said[0];
        let named = ["message", "version", "environment", "store", "configuration"].map(|name| &first[name]);
        let expected = ["starting", env!("CARGO_PKG_VERSION"), "production", "sqlite", "cuepoint.toml"];
        assert_eq!(named == expected, is_first_shown, "{first}");
    }
}

#[test]
fn a_start_that_fails_in_production_says_so_in_json() {
    let folder = Folder::new();
    let variables = in_production(&folder);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (more, problems) in [
        (&[("CUEPOINT__WALLET__SCALE", "9"), ("CUEPOINT__FEES__COMMISSION_BPS", "x")][..], 2),
        (&[("CUEPOINT_LOG", "warning")], 1),
        (&[("CUEPOINT__SERVER__PORT", port.as_str())], 1),
        (&[("CUEPOINT__SERVER__PORT", port.as_str()), ("CUEPOINT_LOG", "off")], 1),
    ] {
        let mut command = folder.command(&["--data", "data"], &[&variables[..], more].concat());
        let Output { status, stdout, stderr } = command.output().unwrap();
        assert_eq!((status.code(), stdout.len()), (Some(1), 0));
        let said: Vec<Value> = String::from_utf8(stderr).unwrap().lines().map(object).collect();
        let failures = said.iter().filter(|line| line["level"] == "ERROR").count();
        assert_eq!(failures, problems, "{said:?}");
    }
    let (status, said) = folder.run(&["backup", "keys", "--data", "data"], &variables);
    let last = said.lines().last().unwrap();
    assert!(
        !status.success() && last.starts_with("cuepoint: "),
        "other commands say it in plain text: {said}"
    );
}

#[test]
fn an_unknown_log_level_prevents_the_start() {
    let folder = Folder::new();
    let (status, said) = folder.run(&["--data", "data"], &[("CUEPOINT_LOG", "warning")]);
    assert_eq!(status.code(), Some(1), "{said}");
    let sentence = "CUEPOINT_LOG: \"warning\" is not a level; use error, warn, info, debug, trace or off";
    assert!(said.contains(sentence), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_backup_succeeds_even_if_stdout_cannot_be_written() {
    let folder = Folder::new();
    folder.serve(&["--data", "data"], &[]).stop();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    for (name, output) in [("full.db", Stdio::from(full)), ("closed.db", Stdio::from(closed))] {
        let mut command = folder.command(&["backup", name, "--data", "data"], &[]);
        let output = command.stdout(output).stderr(Stdio::piped()).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let (status, said) = folder.run(&["restore", name, "--data", &format!("from-{name}")], &[]);
        assert!(status.success(), "{said}");
    }
}

#[test]
fn a_backup_copied_into_a_data_directory_is_not_served() {
    let folder = Folder::new();
    folder.serve(&["--data", "data"], &[]).stop();
    let (status, said) = folder.run(&["backup", "backup.db", "--data", "data"], &[]);
    assert!(status.success(), "{said}");
    fs::create_dir(folder.path().join("by-hand")).unwrap();
    fs::copy(folder.path().join("backup.db"), folder.path().join("by-hand/cuepoint.db")).unwrap();
    for arguments in [&["serve", "--data", "by-hand"][..], &["migrate", "--data", "by-hand"]] {
        let (status, said) = folder.run(arguments, &[]);
        assert_eq!(status.code(), Some(1), "{said}");
        assert!(said.contains("`cuepoint restore FILE`"), "{said}");
    }
    let (status, said) = folder.run(&["ledger", "verify", "--data", "by-hand"], &[]);
    assert!(status.success(), "{said}");
}

/// Attack API8: everybody in the network of a production server reads its sessions, or another host of the domain sets them.
#[test]
fn production_serves_pages_over_https_alone() {
    let folder = Folder::new();
    let variables = in_production(&folder);
    let server = folder.serve(&["--data", "data"], &variables);
    let person = server.client.person(false);
    let browser = Browser::new(&server.client);
    let answer = browser.form("/login", &[("email", &person.email), ("password", PASSWORD)]).send();
    let (name, value, attributes) = set_cookies(&answer)[0].clone();
    assert!(name == "__Host-cuepoint" && attributes.contains("Secure"), "{answer}");
    assert_eq!(answer.header("strict-transport-security"), Some("max-age=31536000"), "{answer}");
    for (cookies, status) in [
        (format!("__Host-cuepoint={value}"), 200),
        (format!("cuepoint=fixed; __Host-cuepoint={value}; cuepoint-guest=fixed"), 200),
        (format!("cuepoint={value}"), 303),
    ] {
        let answer = server.client.outside("GET", "/verify").header("cookie", &cookies).send();
        assert_eq!(answer.status, status, "{cookies}: {answer}");
    }
    server.client.outside("GET", "/health/ready").send().data(200);
    server.stop();

    let of_service = [&["serve"][..], &["config", "check"], &["doctor"]];
    let refused = |variables: &[(&str, &str)], sentence: &str| {
        for arguments in of_service {
            let (status, said) = folder.run(&[arguments, &["--data", "data"]].concat(), variables);
            assert!(!status.success() && said.contains(sentence), "{arguments:?}: {said}");
        }
        let backup = folder.at("backup.db");
        for arguments in
            [&["backup", backup.as_str()][..], &["operator", "list"], &["ledger", "verify"], &["migrate"]]
        {
            let (status, said) = folder.run(&[arguments, &["--data", "data"]].concat(), variables);
            assert!(status.success(), "{arguments:?}: {said}");
        }
        fs::remove_file(backup).unwrap();
    };
    for url in ["http://music.example.com", "http://127.0.0.1:8080"] {
        let variables = [&variables[..], &[("CUEPOINT__SERVER__PUBLIC_URL", url)]].concat();
        refused(&variables, "server.public_url: must be https in production");
    }
    let file = folder.path().join("cuepoint.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("public_url", "# public_url")).unwrap();
    refused(&variables, "server.public_url: is required in production");
    let without_pages = [&variables[..], &[("CUEPOINT__PAGES__ENABLED", "false")]].concat();
    folder.serve(&["--data", "data"], &without_pages).stop();
}
