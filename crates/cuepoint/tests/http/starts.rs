//! Starts that are refused before they change anything, first starts that are interrupted, and commands that
//! complete although their output cannot be written.

use std::fs::{self, File};
use std::net::TcpListener;
use std::process::Stdio;

use super::data_directory::Folder;

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
