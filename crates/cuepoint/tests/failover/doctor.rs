//! `cuepoint doctor` on PostgreSQL: it is silent about a healthy cluster, and finds each fault that is caused.

use std::fs;

use crate::failovers::replicas::{Replicas, Session};
use crate::failovers::scene::{self, without_load};
use crate::harness::{eventually, run};

/// What the doctor finds of the storage and the clock, with these keys.
fn found(url: &str, keys: &[(&str, &str)]) -> Vec<String> {
    let (_, said) = run(&["doctor"], Some(url), keys);
    let of_storage = |line: &&str| line.contains("  storage.") || line.contains("  clock");
    let is_finding = |line: &&str| line.starts_with("warn") || line.starts_with("fail");
    assert!(said.lines().any(|line| of_storage(&line)), "{said}");
    said.lines().filter(of_storage).filter(is_finding).map(str::to_owned).collect()
}

/// Expects one finding, with this status, of this check, whose line contains this text.
#[track_caller]
fn finds(url: &str, beginning: &str, text: &str) {
    let lines = found(url, &[]);
    let [line] = &lines[..] else { panic!("{beginning}: {lines:?}") };
    assert!(line.starts_with(beginning) && line.contains(text) && line.contains("; to do: "), "{line}");
}

/// Changes a setting of the cluster, and waits until new connections have it.
fn set(session: &Session, name: &str, value: &str) {
    session.rows(&format!("ALTER SYSTEM SET {name} = '{value}'"));
    session.rows("SELECT pg_reload_conf()");
    eventually("the setting is in force", || {
        (session.value(&format!("SHOW {name}")).as_deref() == Some(value)).then_some(())
    });
}

#[test]
fn the_doctor_is_silent_about_a_healthy_cluster_and_finds_each_fault() {
    let _cores = without_load();
    let replicas = Replicas::start();
    let owner = replicas.primary().url();
    drop(scene::server(&owner));
    let session = replicas.primary().session();
    session.rows("CREATE ROLE reader LOGIN");
    session.rows("GRANT pg_read_all_data, pg_monitor TO reader");
    let url = owner.replace("postgres@", "reader@");
    for name in ["fsync", "full_page_writes"] {
        set(&session, name, "on");
    }
    assert_eq!(found(&url, &[]), Vec::<String>::new());

    for (name, value, beginning, text) in [
        ("fsync", "off", "fail  storage.durability ", "off: fsync"),
        ("full_page_writes", "off", "fail  storage.durability ", "off: full_page_writes"),
        ("synchronous_commit", "off", "fail  storage.durability ", "off: synchronous_commit"),
        ("synchronous_commit", "local", "warn  storage.standby ", "no commit waits"),
    ] {
        let before = session.value(&format!("SHOW {name}")).unwrap();
        set(&session, name, value);
        finds(&url, beginning, text);
        set(&session, name, if before == "off" { "on" } else { &before });
    }
    finds(&owner, "warn  storage.role ", "postgres is a superuser");
    let standby = replicas.node(replicas.standbys()[0]).url().replace("postgres@", "reader@");
    finds(&standby, "fail  storage.database ", "does not allow writes");
    finds("postgres://reader@127.0.0.1:1/postgres", "fail  storage.database ", "127.0.0.1");

    let level = session.value("SELECT feature_level FROM deployment").unwrap();
    let set_level =
        |level: &str| drop(session.rows(&format!("UPDATE deployment SET feature_level = {level}")));
    set_level("0");
    finds(&url, "warn  storage.feature_level ", "not finalized");
    set_level("99");
    finds(&url, "fail  storage.feature_level ", "only knows");
    set_level(&level);
    session.rows(
        "UPDATE deployment SET copy_state = 'moved', copy_id = gen_random_uuid(), copy_target = 'sqlite'",
    );
    finds(&url, "fail  storage.schema ", "sqlite");
    session.rows("UPDATE deployment SET copy_state = NULL, copy_id = NULL, copy_target = NULL");
    session.rows("UPDATE deployment SET system_identifier = 7");
    finds(&url, "fail  storage.schema ", "another PostgreSQL cluster");
    session.rows(
        "UPDATE deployment SET system_identifier = (SELECT system_identifier FROM pg_control_system())",
    );
    session.rows("DELETE FROM __diesel_schema_migrations");
    finds(&url, "fail  storage.schema ", "cuepoint migrate");

    let shift = tempfile::NamedTempFile::new().unwrap();
    let at = |seconds: &str| {
        fs::write(shift.path(), seconds).unwrap();
        let lines = found(&url, &[("CUEPOINT_CLOCK_SHIFT_FILE", shift.path().to_str().unwrap())]);
        lines.into_iter().find(|line| line.contains("  clock ")).unwrap_or_default()
    };
    assert!(at("40").starts_with("fail  clock "), "{}", at("40"));
    assert!(at("-10").starts_with("warn  clock "), "{}", at("-10"));

    let other = found(&url, &[("wallet.currency", "EUR")]);
    assert!(other.len() == 1, "{other:?}");
    replicas.commit_without_standbys();
    let lines = found(&url, &[]);
    assert!(lines.iter().any(|line| line.starts_with("warn  storage.standby ")), "{lines:?}");
}
