//! `cuepoint doctor`: it is silent about a healthy deployment, and finds each fault that is caused.

mod certificates;

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use serde_json::Value;

use crate::harness::{Database, MailServer, Post, Server, Store};

/// The address that proxies report as the client's.
const CLIENT: &str = "203.0.113.7";

/// A deployment on SQLite whose server runs, with a backup.
struct Deployment {
    database: Arc<Database>,
    server: Server,
    /// The configuration of its server.
    keys: Vec<(&'static str, String)>,
}

impl Deployment {
    fn new(keys: &[(&'static str, &str)]) -> Self {
        let database = Arc::new(Database::of(Store::Sqlite));
        let server = Server::on(&database, keys);
        let address = server.client().address;
        let (_, port) = address.rsplit_once(':').unwrap();
        let port = ("server.port", port.to_owned());
        let keys = keys.iter().map(|(key, value)| (*key, (*value).to_owned())).chain([port]).collect();
        let deployment = Self { database, server, keys };
        let backup = deployment.database.directory().with_file_name("backup.db");
        let (status, said) = deployment.database.run(&["backup", backup.to_str().unwrap()], &[]);
        assert!(status.success(), "{said}");
        deployment
    }

    /// The exit status and the lines of the command, with these arguments and further keys.
    fn doctor(&self, arguments: &[&str], keys: &[(&str, &str)]) -> (Option<i32>, Vec<String>) {
        let own = self.keys.iter().map(|(key, value)| (*key, value.as_str()));
        let keys: Vec<(&str, &str)> = own.chain(keys.iter().copied()).collect();
        let (status, said) = self.database.run(&[&["doctor"], arguments].concat(), &keys);
        (status.code(), said.lines().map(str::to_owned).collect())
    }

    /// What it finds with these keys, other than of the disk and the limits of the machine that runs the test.
    fn found(&self, arguments: &[&str], keys: &[(&str, &str)]) -> Vec<String> {
        let (_, lines) = self.doctor(arguments, keys);
        let of_machine = |line: &&String| line.contains(" disk.") || line.contains(" limits.somaxconn");
        let is_finding = |line: &&String| line.starts_with("warn") || line.starts_with("fail");
        lines.iter().filter(is_finding).filter(|line| !of_machine(line)).cloned().collect()
    }

    /// Expects one finding, with this status, of this check, whose line contains this text.
    #[track_caller]
    fn finds(&self, status: &str, check: &str, text: &str, arguments: &[&str], keys: &[(&str, &str)]) {
        let found = self.found(arguments, keys);
        let expected = format!("{status:<4}  {check} ");
        let [line] = &found[..] else { panic!("{check}: {found:?}") };
        assert!(line.starts_with(&expected) && line.contains(text) && line.contains("; to do: "), "{line}");
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.database.directory().join(name)
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Settings without which the configuration has warnings.
const PAYING: [(&str, &str); 1] = [("topups.provider", "sandbox")];

#[test]
fn the_doctor_is_silent_about_a_healthy_sqlite_deployment() {
    let deployment = Deployment::new(&PAYING);
    let url = deployment.server.client().address.clone();
    assert_eq!(deployment.found(&["--full"], &[("server.public_url", &url)]), Vec::<String>::new());
    let before = fs::read_dir(deployment.database.directory()).unwrap().count();
    let (status, lines) = deployment.doctor(&["--full", "--json"], &[("server.public_url", &url)]);
    let shown: Value = serde_json::from_str(&lines.join("\n")).unwrap();
    assert_eq!(shown["failures"], i32::from(status == Some(1)), "{shown}");
    let names: Vec<&str> =
        shown["checks"].as_array().unwrap().iter().map(|check| check["check"].as_str().unwrap()).collect();
    for name in ["configuration", "keys.signing", "storage.database", "backup", "network.streams", "ledger"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert_eq!(fs::read_dir(deployment.database.directory()).unwrap().count(), before);
}

#[test]
fn the_doctor_finds_faults_of_the_configuration_and_the_keys() {
    let deployment = Deployment::new(&PAYING);
    let find = |status, check, text, keys: &[(&str, &str)]| deployment.finds(status, check, text, &[], keys);
    find("fail", "configuration", "server.port", &[("server.port", "many")]);
    find("fail", "configuration", "CUEPOINT_LOG", &[("CUEPOINT_LOG", "warning")]);
    find(
        "warn",
        "configuration",
        "auth.refresh_token_ttl_seconds",
        &[("auth.refresh_token_ttl_seconds", "3600"), ("auth.access_token_ttl_seconds", "7200")],
    );
    find("fail", "limits.open_files", "of the server", &[("events.max_streams", "1000000")]);

    let file = deployment.path("signing-keys");
    set_mode(&file, 0o644);
    find("fail", "keys.signing", "chmod 600", &[("server.port", "0")]);
    set_mode(&file, 0o600);
    let key = "2025-01-01-00000000:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
    let old = deployment.path("old-keys");
    fs::write(&old, key).unwrap();
    set_mode(&old, 0o600);
    let keys = [("auth.signing_key_file", old.to_str().unwrap()), ("server.port", "0")];
    find("warn", "keys.signing", "cuepoint keys rotate", &keys);
    let missing = deployment.path("no-keys");
    let keys = [("auth.signing_key_file", missing.to_str().unwrap()), ("server.port", "0")];
    let found = deployment.found(&[], &keys);
    assert!(found.iter().any(|line| line.starts_with("fail  keys.signing")), "{found:?}");
}

#[test]
fn the_doctor_finds_missing_keys_and_an_unencrypted_address_in_production() {
    let deployment = Deployment::new(&PAYING);
    let found = deployment.found(
        &[],
        &[
            ("CUEPOINT_ENV", "production"),
            ("topups.provider", "none"),
            ("server.public_url", "http://127.0.0.1:1"),
        ],
    );
    for expected in [
        "fail  configuration               server.public_url: must be https in production",
        "fail  keys.signing                auth.signing_key_file: is required in production",
        "fail  keys.webhooks               webhooks.key_file: is required in production",
    ] {
        assert!(found.iter().any(|line| line.starts_with(expected)), "{found:?}");
    }
}

#[test]
fn the_doctor_finds_faults_of_a_data_directory() {
    let deployment = Deployment::new(&PAYING);
    let find = |status, check, text| deployment.finds(status, check, text, &[], &[]);
    set_mode(&deployment.database.directory(), 0o755);
    find("warn", "storage.directory", "chmod 700");
    set_mode(&deployment.database.directory(), 0o700);

    let last = deployment.path("last-backup");
    fs::write(&last, "2026-01-01T00:00:00Z\n").unwrap();
    find("warn", "backup", "hours old");
    fs::remove_file(&last).unwrap();
    find("warn", "backup", "none yet");
    let age = |days: i64| {
        let change = format!("UPDATE deployment SET created_at = created_at - {days} * 86400000000");
        deployment.database.execute(&change);
    };
    age(2);
    find("fail", "backup", "there is none");
    fs::write(&last, "2099-01-01T00:00:00Z\n").unwrap();
    find("warn", "backup", "in the future");
    age(-2);
    fs::remove_file(&last).unwrap();
    let backup = deployment.database.directory().with_file_name("another.db");
    let (status, said) = deployment.database.run(&["backup", backup.to_str().unwrap()], &[]);
    assert!(status.success(), "{said}");

    let no_directory = deployment.path("elsewhere");
    let elsewhere = [("storage.dir", no_directory.to_str().unwrap())];
    let found = deployment.found(&[], &elsewhere);
    assert!(found.iter().any(|line| line.starts_with("fail  storage.directory")), "{found:?}");
    let file = deployment.path("file");
    fs::write(&file, "").unwrap();
    let found = deployment.found(&[], &[("storage.dir", file.to_str().unwrap())]);
    assert!(found.iter().any(|line| line.contains("is not a directory")), "{found:?}");
    let linked = deployment.path("linked");
    fs::create_dir(&linked).unwrap();
    set_mode(&linked, 0o700);
    std::os::unix::fs::symlink(deployment.database.file(), linked.join("cuepoint.db")).unwrap();
    let found = deployment.found(&[], &[("storage.dir", linked.to_str().unwrap())]);
    assert!(found.iter().any(|line| line.contains("symbolic link")), "{found:?}");

    let other = [("wallet.currency", "EUR")];
    deployment.finds("fail", "storage.database", "wallet.currency", &[], &other);
    let migrations = "__diesel_schema_migrations";
    let name = "SELECT max(version) FROM __diesel_schema_migrations";
    let newest = deployment.database.rows(name)[0][0].clone().unwrap();
    deployment.database.execute(&format!("DELETE FROM {migrations} WHERE version = '{newest}'"));
    find("fail", "storage.database", "cuepoint migrate");
    let restored = format!("INSERT INTO {migrations} (version) VALUES ('{newest}')");
    deployment.database.execute(&format!("{restored}, ('99999999999999')"));
    find("fail", "storage.database", "install the version");
    deployment.database.execute(&format!("DELETE FROM {migrations} WHERE version = '99999999999999'"));
    deployment.database.execute(
        "UPDATE deployment SET copy_state = 'moved', copy_id = zeroblob(16), copy_target = 'postgres'",
    );
    find("fail", "storage.database", "postgres");
}

#[test]
fn the_doctor_finds_a_damaged_database_and_an_inconsistent_ledger() {
    let deployment = Deployment::new(&PAYING);
    deployment.server.guest().topup("5");
    let Deployment { database, server, keys } = deployment;
    drop(server);
    let run = |arguments: &[&str]| {
        let keys: Vec<(&str, &str)> = keys.iter().map(|(key, value)| (*key, value.as_str())).collect();
        database.run(&[&["doctor"], arguments].concat(), &keys).1
    };
    let said = run(&["--full"]);
    assert!(!said.contains("fail  "), "{said}");
    database.execute("UPDATE wallets SET available = available + 1 WHERE available > 0");
    let said = run(&["--full"]);
    assert!(said.contains("fail  ledger "), "{said}");
    // A page that no other check reads.
    let root = &database.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'tips'")[0][0];
    let page: u64 = root.as_ref().unwrap().parse().unwrap();
    let mut file = OpenOptions::new().write(true).open(database.file()).unwrap();
    file.seek(SeekFrom::Start((page - 1) * 4096)).unwrap();
    file.write_all(&[0xa5; 4096]).unwrap();
    let said = run(&[]);
    assert!(said.contains("fail  storage.pages "), "{said}");
}

/// What a proxy does with the header `X-Forwarded-For`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Header {
    Replaces,
    /// Replaces it by its own address, as for a client on its machine.
    NamesItself,
    Removes,
    PassesOn,
}

/// Starts a proxy that ends with the process, and returns its address.
fn proxy(service: &str, header: Header, collects: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let service = service.trim_start_matches("http://").to_owned();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let service = service.clone();
            thread::spawn(move || pass(client, &service, header, collects));
        }
    });
    address
}

fn pass(mut client: TcpStream, service: &str, header: Header, collects: bool) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        // The check of the address connects and sends nothing.
        if client.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let is_own = |line: &&str| line.to_lowercase().starts_with("x-forwarded-for:");
    let own = head.lines().find(is_own);
    let mut lines: Vec<String> =
        head.trim_end().lines().filter(|line| !is_own(line)).map(str::to_owned).collect();
    lines.push("Connection: close".to_owned());
    match header {
        Header::Removes => {}
        Header::PassesOn if own.is_some() => lines.push(own.unwrap().to_owned()),
        Header::NamesItself => lines.push("X-Forwarded-For: 127.0.0.1".to_owned()),
        Header::Replaces | Header::PassesOn => lines.push(format!("X-Forwarded-For: {CLIENT}")),
    }
    let mut server = TcpStream::connect(service).unwrap();
    write!(server, "{}\r\n\r\n", lines.join("\r\n")).unwrap();
    if collects {
        let mut answer = Vec::new();
        server.read_to_end(&mut answer).unwrap();
        let _ = client.write_all(&answer);
    } else {
        let _ = std::io::copy(&mut server, &mut client);
    }
}

#[test]
fn the_doctor_finds_faults_of_a_proxy() {
    const CHECK: &str = "network.client_address";
    let trusting = Deployment::new(&[PAYING[0], ("server.trusted_proxies", "127.0.0.1")]);
    let service = trusting.server.client().address.clone();
    let at = |header, collects| proxy(&service, header, collects);
    let url = at(Header::Replaces, false);
    let (_, lines) = trusting.doctor(&[], &[("server.public_url", &url)]);
    let way = lines.iter().find(|line| line.contains(CHECK)).unwrap();
    assert!(
        way.starts_with("ok") && way.contains(&format!("{CLIENT}, through the proxy 127.0.0.1")),
        "{way}"
    );
    let url = at(Header::NamesItself, false);
    assert_eq!(trusting.found(&[], &[("server.public_url", &url)]), Vec::<String>::new());
    for (header, collects, check, text) in [
        (Header::Removes, false, CHECK, "without the address of their client"),
        (Header::PassesOn, false, CHECK, "a client can choose its own address"),
        (Header::Replaces, true, "network.streams", "buffers the events"),
    ] {
        trusting.finds("fail", check, text, &[], &[("server.public_url", &at(header, collects))]);
    }

    let distrusting = Deployment::new(&PAYING);
    let url = proxy(&distrusting.server.client().address, Header::Replaces, false);
    let text = "add 127.0.0.1 to server.trusted_proxies";
    distrusting.finds("fail", CHECK, text, &[], &[("server.public_url", &url)]);
    // A proxy that leads to another deployment.
    distrusting.finds("fail", CHECK, "other signing keys", &[], &[("server.public_url", &service)]);
}

#[test]
fn the_doctor_finds_services_that_cannot_be_reached() {
    let deployment = Deployment::new(&PAYING);
    let find = |check, text, keys: &[(&str, &str)]| deployment.finds("fail", check, text, &[], keys);
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    // It answers nothing that a server of this deployment would.
    let port = other.local_addr().unwrap().port().to_string();
    thread::spawn(move || other.incoming().map_while(Result::ok).for_each(drop));
    find("network.port", "in use by another program", &[("server.port", &port)]);
    find("network.port", "cannot listen", &[("server.host", "192.0.2.1")]);
    find("network.public_url", "has no address", &[("server.public_url", "https://no-such-name.invalid")]);
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/orders", listener.local_addr().unwrap())
    };
    let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let payouts = |url| {
        [("payouts.provider", "webhook"), ("payouts.webhook_url", url), ("payouts.webhook_secrets", secret)]
    };
    find("providers.payouts", "no connection", &payouts(&closed));
    find("providers.payouts", "has no address", &payouts("http://no-such-name.invalid/orders"));
    let mails = MailServer::new(Post::Takes);
    let smtp =
        |url| [("notifier.email", "smtp"), ("notifier.smtp_url", url), ("notifier.from", "a@example.com")];
    assert_eq!(deployment.found(&[], &smtp(&mails.url)), Vec::<String>::new());
    assert!(mails.mails().is_empty());
    // Services that accept a connection and stay silent.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = listener.local_addr().unwrap();
    let [tls, mail] = [format!("https://{silent}/orders"), format!("smtp://{silent}")];
    find("providers.payouts", "no answer in time", &payouts(&tls));
    find("mail", "does not answer in time", &smtp(&mail));
    // The server knows no login.
    let with_login = mails.url.replace("smtp://", "smtp://user:password@");
    find("mail", "mail", &smtp(&with_login));
}

#[test]
fn an_echo_is_only_for_those_who_can_read_the_signing_keys() {
    let server = Server::start(Store::Memory);
    let client = server.client();
    client.outside("GET", "/health/echo").send().refused(404, "not_found");
    for nonce in ["", "1.2.3", "0.AAAA.AAAA"] {
        let call = client.outside("GET", "/health/echo").header("cuepoint-nonce", nonce);
        call.send().refused(404, "not_found");
    }
}
