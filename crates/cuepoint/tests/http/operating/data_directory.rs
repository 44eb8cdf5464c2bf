//! The data directory: where it is, what a restart keeps, and the processes that use it.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::harness::{
    Client, DOCUMENTED, Database, Examples, LISTENING, Listening, Person, Server, Store, bash, completed,
    eventually, run, section,
};

/// The document with the tour, and with the script that reads a balance after a restart.
const README: &str = include_str!("../../../../../README.md");

/// A folder of one test, removed on drop.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        // The server prints resolved paths, and the temporary folder may be a symbolic link.
        let parent = fs::canonicalize(env::temp_dir()).unwrap();
        Self(TempDir::with_prefix_in("cuepoint-data-", parent).unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn at(&self, name: &str) -> String {
        self.path().join(name).to_str().unwrap().to_owned()
    }

    /// The binary with this folder as its working directory, in an environment with these variables alone.
    pub(crate) fn command(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cuepoint"));
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CUEPOINT") || text == "STATE_DIRECTORY" {
                command.env_remove(name);
            }
        }
        command.current_dir(self.path()).args(arguments).stdin(Stdio::null());
        command.env("CUEPOINT__SERVER__PORT", "0").env("CUEPOINT__RATE_LIMITS__ENABLED", "false");
        command.envs(variables.iter().copied());
        command
    }

    /// Runs the binary to completion, and returns its exit status and its output.
    pub(crate) fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> (ExitStatus, String) {
        completed(self.command(arguments, variables))
    }

    /// Starts a server, and waits until it listens.
    pub(crate) fn serve(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Process {
        Process::start(self.command(arguments, variables))
    }
}

/// A running server, killed on drop.
pub(crate) struct Process {
    listening: Listening,
    pub(crate) client: Client,
}

impl Process {
    /// Starts a server, and waits until it listens.
    pub(crate) fn start(command: Command) -> Self {
        let listening = Listening::start(command);
        let client = Client::new(&listening.address);
        Self { listening, client }
    }

    /// The lines that it has printed so far.
    pub(crate) fn said(&self) -> Vec<String> {
        self.listening.said()
    }

    /// Stops the server, as a supervisor does.
    pub(crate) fn stop(mut self) {
        let pid = self.listening.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
        assert!(eventually("the server ends", || self.listening.child.try_wait().unwrap()).success());
    }
}

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A user as registered with a server of another process, with the same tokens.
fn same(person: &Person, client: &Client) -> Person {
    let data = json!({
        "user": {"id": person.id, "email": person.email},
        "access_token": person.token, "refresh_token": person.refresh_token,
    });
    Person::signed_in(client, &data)
}

#[test]
fn the_default_data_directory_is_private_to_its_owner() {
    let folder = Folder::new();
    let directory = folder.at("cuepoint-data");
    let server = folder.serve(&[], &[]);
    let printed = &server.listening.printed;
    assert!(printed.contains(&format!("data directory: {directory}")), "{printed:?}");
    assert_eq!(mode(&directory), 0o700);
    for name in ["cuepoint.db", "cuepoint.db-wal", "cuepoint.db-shm", "lock", "signing-keys", "webhook-keys"]
    {
        assert_eq!(mode(Path::new(&directory).join(name)), 0o600, "{name}");
    }
    server.stop();
}

#[test]
fn the_data_directory_is_set_by_an_option_a_configuration_key_or_systemd() {
    let folder = Folder::new();
    let (option, key, systemd) = (folder.at("option"), folder.at("key"), folder.at("systemd"));
    let variables = [("STATE_DIRECTORY", systemd.as_str()), ("CUEPOINT__STORAGE__DIR", key.as_str())];
    for (arguments, variables, directory) in [
        (&["--data", "option"][..], &variables[..], &option),
        (&["serve", "--data", option.as_str()], &variables, &option),
        (&["serve"], &variables, &key),
        (&["serve"], &variables[..1], &systemd),
    ] {
        let server = folder.serve(arguments, variables);
        let printed = &server.listening.printed;
        assert!(printed.contains(&format!("data directory: {directory}")), "{arguments:?}: {printed:?}");
        assert_eq!(mode(directory), 0o700);
        server.stop();
        fs::remove_dir_all(directory).unwrap();
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_restart_keeps_balances_lists_and_tokens() {
    let folder = Folder::new();
    let server = folder.serve(&["--data", "data"], &[]);
    let (guest, dj) = (server.client.person(false), server.client.person(true));
    let prices = r#"{"online": 1, "fee_upcoming_artist": 5.00, "fee_popular_song": 10.00}"#;
    dj.call("PATCH", "/user/personal-info").text(prices).send().data(200);
    guest.topup("20");
    let request = guest.request_song(&dj);
    let lists = ["/music/user/requests", "/wallet/entries", "/auth/sessions"];
    // Links contain the port, which differs after the restart.
    let read = |guest: &Person| {
        lists.map(|list| {
            guest.get(list).data(200)["data"].as_array().unwrap_or_else(|| panic!("{list}")).clone()
        })
    };
    let before = read(&guest);
    server.stop();

    let server = folder.serve(&["--data", "data"], &[]);
    let (guest, dj) = (same(&guest, &server.client), same(&dj, &server.client));
    assert_eq!(guest.wallet(), ("15.00".into(), "5.00".into()));
    assert_eq!(read(&guest), before);
    let refreshed =
        server.client.post("/auth/refresh", &json!({"refresh_token": guest.refresh_token})).data(200);
    assert_ne!(refreshed["refresh_token"], guest.refresh_token);
    for status in ["accepted", "played"] {
        dj.answer(request, status).data(200);
    }
    assert_eq!(dj.wallet().0, "5.00");
    assert_eq!(server.client.login(&guest.email).id, guest.id);
    server.stop();
    let (status, said) = folder.run(&["ledger", "verify", "--data", "data"], &[]);
    assert!(status.success() && said.contains("the ledger is consistent"), "{said}");
}

#[test]
fn an_ephemeral_server_stores_nothing() {
    let folder = Folder::new();
    let server = folder.serve(&["--ephemeral"], &[]);
    let printed = &server.listening.printed;
    assert!(!printed.iter().any(|line| line.contains("data directory")), "{printed:?}");
    let guest = server.client.person(false);
    guest.topup("20");
    server.stop();
    let server = folder.serve(&["serve", "--ephemeral"], &[]);
    let guest = same(&guest, &server.client);
    guest.get("/wallet").refused(401, "invalid_token");
    let login = json!({"email": guest.email, "password": crate::harness::PASSWORD});
    assert_eq!(server.client.post("/auth/login", &login).status, 401);
    server.stop();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_refusal_of_a_data_directory_in_use_names_the_pid_of_its_server() {
    let folder = Folder::new();
    let server = folder.serve(&["--data", "data"], &[]);
    let guest = server.client.person(false);
    let sentence = format!("{} is in use by pid {}", folder.at("data"), server.listening.child.id());
    for arguments in [&["--data", "data"][..], &["migrate", "--data", "data"]] {
        let (status, said) = folder.run(arguments, &[]);
        assert_eq!(status.code(), Some(1), "{said}");
        assert!(said.contains(&sentence), "{said}");
    }
    guest.topup("20");
    assert_eq!(guest.wallet().0, "20.00");
    // A killed server leaves its lock file, but no lock.
    drop(server);
    folder.serve(&["--data", "data"], &[]).stop();
}

#[test]
fn concurrent_starts_leave_one_server_and_one_signing_key() {
    let folder = Folder::new();
    let start =
        || folder.command(&["--data", "data"], &[]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut servers: Vec<Child> = (0..4).map(|_| start().unwrap()).collect();
    let listens = |server: &mut Child| {
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
        lines.any(|line| line.starts_with(LISTENING))
    };
    let serving = servers.iter_mut().map(listens).filter(|listens| *listens).count();
    for server in &mut servers {
        // All but one have exited already.
        let _ = server.kill();
        server.wait().unwrap();
    }
    assert_eq!(serving, 1);
    let keys = fs::read_to_string(folder.path().join("data/signing-keys")).unwrap();
    assert_eq!(keys.lines().count(), 1);
}

#[test]
fn the_signing_key_in_the_data_directory_can_be_rotated() {
    let folder = Folder::new();
    let server = folder.serve(&["--data", "data"], &[]);
    let guest = server.client.person(false);
    // Of another user, because a user has a limited number of sessions.
    let other = server.client.person(false);
    let file = folder.path().join("data/signing-keys");
    let keys = || fs::read_to_string(&file).unwrap().lines().count();
    assert_eq!((keys(), mode(&file)), (1, 0o600));
    let (status, said) = folder.run(&["keys", "rotate", "--signs-in", "0", "--data", "data"], &[]);
    assert!(status.success(), "{said}");
    assert_eq!((keys(), mode(&file)), (2, 0o600));
    let old = crate::accounts::keys::kid(&guest.token);
    eventually("the server signs with the new key", || {
        (crate::accounts::keys::kid(&server.client.login(&other.email).token) != old).then_some(())
    });
    guest.get("/wallet").data(200);
    // An unusable file is an error at the next start, not a reason to make another key.
    server.stop();
    fs::write(&file, "no key\n").unwrap();
    let (status, said) = folder.run(&["--data", "data"], &[]);
    assert!(!status.success() && said.contains("signing keys in the data directory"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "no key\n");
}

#[test]
fn production_requires_key_files_and_refuses_the_memory_store() {
    let folder = Folder::new();
    let production = [
        ("CUEPOINT_ENV", "production"),
        ("CUEPOINT__AUTH__SIGNING_KEY_FILE", "keys"),
        ("CUEPOINT__WEBHOOKS__KEY_FILE", "webhook-keys"),
        ("HOME", "/"),
        ("CUEPOINT__WITHDRAWALS__VERIFIED_EMAIL", "false"),
        ("CUEPOINT__SERVER__PUBLIC_URL", "https://music.example.com"),
    ];
    let (status, said) = folder.run(&["--data", "data"], &production[..1]);
    assert!(!status.success() && said.contains("auth.signing_key_file: is required in production"), "{said}");
    let (status, said) = folder.run(&["serve", "--ephemeral"], &production);
    assert!(!status.success() && said.contains("memory is refused in production"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    for options in [&["keys", "rotate"][..], &["keys", "rotate", "--webhooks"]] {
        let (status, said) = folder.run(&["--data", "data"], &production);
        assert!(!status.success() && said.contains("key_file"), "{said}");
        let (status, said) = folder.run(options, &production[1..]);
        assert!(status.success(), "{said}");
    }
    let (status, said) = folder.run(&["--data", "data"], &production[..2]);
    assert!(!status.success() && said.contains("webhooks.key_file: is required in production"), "{said}");
    let (status, said) = folder.run(&["--data", "data"], &production[..4]);
    assert!(
        !status.success() && said.contains("withdrawals.verified_email: requires notifier.email"),
        "{said}"
    );
    let server = folder.serve(&["--data", "data"], &production);
    assert!(
        !folder.path().join("data/signing-keys").exists()
            && !folder.path().join("data/webhook-keys").exists()
    );
    server.stop();
}

#[test]
fn config_check_shows_the_options_and_creates_nothing() {
    let folder = Folder::new();
    for (arguments, lines) in [
        (&["--data", "d"][..], ["storage.backend = \"sqlite\"", "storage.dir = \"d\""]),
        (&["--ephemeral"], ["storage.backend = \"memory\"", "storage.dir = \"./cuepoint-data\""]),
    ] {
        let (status, said) = folder.run(&[&["config", "check"], arguments].concat(), &[]);
        assert!(status.success(), "{said}");
        for line in lines {
            assert!(said.lines().any(|shown| shown == line), "{line} is missing in {said}");
        }
    }
    let keys = [
        ("CUEPOINT__STORAGE__POSTGRES__URL", "postgres://localhost/x"),
        ("CUEPOINT__TOPUPS__PROVIDER", "none"),
    ];
    let (status, said) = folder.run(&["config", "check", "--data", "d"], &keys);
    assert!(status.success(), "{said}");
    for line in [
        "# warning: storage.postgres.url is ignored, because storage.backend is sqlite",
        "# warning: topups.provider is none: users cannot pay in",
        "# The database was not read: whether it has an active operator is checked at the start",
    ] {
        assert_eq!(said.lines().filter(|shown| *shown == line).count(), 1, "{line} is missing in {said}");
    }
    for arguments in [
        &["serve", "--data", "d", "--ephemeral"][..],
        &["--data", "d", "serve", "--ephemeral"],
        &["--ephemeral", "config", "check", "--data", "d"],
    ] {
        let (status, said) = folder.run(arguments, &[]);
        assert_eq!(status.code(), Some(2), "{said}");
        assert!(said.contains("--data and --ephemeral cannot be used together"), "{said}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn migrate_is_refused_on_the_memory_store() {
    let folder = Folder::new();
    for _ in 0..2 {
        let (status, said) = folder.run(&["migrate", "--data", "data"], &[]);
        assert!(status.success() && said.contains("the schema is up to date"), "{said}");
    }
    assert!(folder.path().join("data/cuepoint.db").exists());
    let (status, said) = folder.run(&["migrate", "--ephemeral"], &[]);
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("storage.backend is memory: there is nothing to migrate"), "{said}");
}

#[test]
fn migrate_reports_an_up_to_date_postgres_schema() {
    let database = Database::postgres();
    let (status, said) = run(&["migrate"], Some(database.url()), &[]);
    assert!(status.success() && said.contains("the schema is up to date"), "{said}");
}

#[test]
fn a_misspelled_variable_prevents_the_start() {
    let folder = Folder::new();
    let (status, said) = folder.run(&[], &[("CUEPOINT_SERVER__HOST", "0.0.0.0")]);
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("there is no such variable; did you mean CUEPOINT__SERVER__HOST?"), "{said}");
}

#[test]
fn a_server_on_sqlite_does_not_warn_about_data_loss() {
    let folder = Folder::new();
    let directory = folder.at("data");
    let keys = [("storage.backend", "sqlite"), ("storage.dir", directory.as_str())];
    let server = Server::configured(Store::Memory, &keys);
    eventually("it is ready", || server.log().contains(LISTENING).then_some(()));
    assert!(!server.log().contains("all data ends with this process"), "{}", server.log());
}

#[test]
fn the_log_shows_migrations_by_name_and_audits_without_debug_text() {
    let folder = Folder::new();
    let directory = folder.at("data");
    let server =
        Server::configured(Store::Memory, &[("storage.backend", "sqlite"), ("storage.dir", &directory)]);
    let audited = "the ledger is consistent wallets=0 entries=0 postings=0 entities=0";
    eventually("the audit is logged", || server.log().contains(audited).then_some(()));
    let log = server.log();
    assert!(log.contains("applied a migration migration=\"2026-11-30-000001_initial\""), "{log}");
    assert!(!["Some(", "Summary", " { "].iter().any(|text| log.contains(text)), "{log}");
}

#[test]
fn the_tour_of_the_readme_pays_on_the_payment_page_of_the_sandbox() {
    let (tour, _) = section(README, "## A tour with curl").split_once("Stop the service").unwrap();
    let folder = Folder::new();
    let server = folder.serve(&[], &[("CUEPOINT__TOPUPS__SANDBOX", "page")]);
    let said = Examples::of(tour).check(bash(), &[(DOCUMENTED, &server.client.address)]);
    assert!(
        said.contains("\"status\":\"pending\",\"payment_url\"") && said.contains("the tour is over"),
        "{said}"
    );
}

#[test]
fn the_tour_of_the_readme_can_be_repeated_after_a_restart() {
    let (tour, balance) = section(README, "## A tour with curl").split_once("Stop the service").unwrap();
    let folder = Folder::new();
    let limits = [("CUEPOINT__RATE_LIMITS__ENABLED", "true")];
    let output_of = |script: &str| {
        let server = folder.serve(&[], &limits);
        let said = Examples::of(script).check(bash(), &[(DOCUMENTED, &server.client.address)]);
        server.stop();
        said
    };
    for (tours, beginning) in (1..).zip(["a DJ and a guest register", "of an earlier run log in"]) {
        let said = output_of(tour);
        assert!(said.contains(beginning) && said.contains("the tour is over"), "{said}");
        assert_eq!(said.to_lowercase().matches("idempotency-replayed: true").count(), 1, "{said}");
        let said = output_of(balance);
        let sum = |cents: u32| format!("{}.{:02}", cents * tours / 100, cents * tours % 100);
        let (available, held) = (sum(250), sum(1_000));
        assert!(said.contains(&format!("\"available\":{available},")), "{available}: {said}");
        assert!(said.contains(&format!("\"held\":{held},")), "{held}: {said}");
    }
    let (status, said) = folder.run(&["ledger", "verify"], &[]);
    assert!(status.success() && said.contains("the ledger is consistent"), "{said}");
}
