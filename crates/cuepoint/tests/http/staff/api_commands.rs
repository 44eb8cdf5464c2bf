//! `cuepoint users` and `cuepoint withdrawals`, which call the API as an operator.

use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Browser, PASSWORD, Person, Server, Store};

on_one_store!(
    users_are_found_by_id_and_by_address,
    a_suspension_and_its_end_are_recorded_under_the_operators_name,
    a_wallet_link_is_issued_once_the_last_use_was_shown,
    withdrawals_are_approved_and_rejected,
    a_withdrawal_that_needs_two_operators_stays_pending_and_says_so,
    a_list_reports_omitted_withdrawals,
    forbidden_callers_see_the_message_of_the_api,
    no_session_remains,
    names_cannot_control_the_terminal,
    the_configuration_gives_the_address_unless_it_is_passed,
);

/// The result of a command.
#[derive(Debug)]
struct Said {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Said {
    #[track_caller]
    fn done(self) -> String {
        assert_eq!((self.status, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        self.stdout
    }

    /// Checks for a failure of one line, which says this, and nothing else.
    #[track_caller]
    fn failed(self, status: i32, sentence: &str) {
        assert!(self.status == Some(status) && self.stdout.is_empty(), "{self:?}");
        assert!(self.stderr.contains(sentence) && self.stderr.lines().count() == 1, "{self:?}");
        for secret in [PASSWORD, "eyJ", "wrong horse"] {
            assert!(!self.stderr.contains(secret), "{self:?}");
        }
    }
}

fn ran(mut command: Command, password: &str) -> Said {
    let mut input = tempfile::tempfile().unwrap();
    writeln!(input, "{password}").unwrap();
    input.rewind().unwrap();
    let output = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The program without a configuration.
fn program(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuepoint"));
    command.env_clear().env("CUEPOINT_ENV", "test").args(line.split(' '));
    command
}

/// Runs a command at a service.
fn at(url: &str, email: &str, line: &str) -> Said {
    let mut command = program(line);
    command.args(["--url", url, "--email", email]);
    ran(command, PASSWORD)
}

impl Person {
    /// Runs a command at the server of the person.
    fn runs(&self, server: &Server, line: &str) -> Said {
        at(&server.client().address, &self.email, line)
    }
}

/// The text in the line of a field.
#[track_caller]
fn field(shown: &str, heading: &str) -> String {
    let mut lines = shown.lines().filter_map(|line| line.strip_prefix(heading));
    lines.next().unwrap_or_else(|| panic!("{heading}: {shown}")).trim().to_owned()
}

fn users_are_found_by_id_and_by_address(store: Store) {
    let (server, ada) = Server::with_operator(store, &[]);
    let dj = server.dj();
    let shown = ada.runs(&server, &format!("users show {}", dj.id)).done();
    let texts = ["id ", "e-mail ", "role ", "DJ ", "suspended "].map(|heading| field(&shown, heading));
    assert_eq!(texts, [&dj.id.to_string(), &dj.email, "member", "yes", "-"].map(str::to_owned));
    let by_address = ada.runs(&server, &format!("users show {}", dj.email.to_uppercase())).done();
    assert_eq!(by_address, shown);

    let printed = ada.runs(&server, &format!("users show {} --json", dj.email)).done();
    let answer = ada.get(&format!("/operator/users/{}", dj.id));
    assert_eq!(printed, answer.raw("/data/user") + "\n");

    ada.runs(&server, "users show 4711")
        .failed(1, "user 4711: Not found. A service with access.operator_networks");
    let nobody = ada.runs(&server, "users show nobody@example.com");
    nobody.failed(1, "no user has the e-mail address nobody@example.com");
    let usage = ada.runs(&server, "users show nobody");
    assert!(
        usage.status == Some(2) && usage.stderr.contains("neither an id nor an e-mail address"),
        "{usage:?}"
    );
}

fn a_suspension_and_its_end_are_recorded_under_the_operators_name(store: Store) {
    let (server, ada) = Server::with_operator(store, &[]);
    let dj = server.dj();
    let id = dj.id;
    let suspended = ada.runs(&server, &format!("users suspend {} --reason spam", dj.email)).done();
    let since = field(&suspended, "suspended ");
    assert!(since.len() == "2026-01-31T20:15:00Z".len() && since.ends_with('Z'), "{suspended}");
    dj.get("/wallet").refused(403, "account_suspended");
    // A repetition changes nothing.
    let again = ada.runs(&server, &format!("users suspend {id} --reason spam")).done();
    assert_eq!(field(&again, "suspended "), since);
    let restored = ada.runs(&server, &format!("users restore {id} --reason sorry")).done();
    assert_eq!(field(&restored, "suspended "), "-");
    server.client().login(&dj.email);

    let log = ada.get(&format!("/operator/security-log?kind=operator_action&user_id={id}")).data(200);
    let log = log["data"].as_array().unwrap();
    let is_noted = |reason: &str| {
        let detail = |event: &Value| event["detail"].as_str().unwrap().ends_with(reason);
        log.iter().any(|event| detail(event) && event["actor_id"] == ada.id)
    };
    assert!(is_noted("spam") && is_noted("sorry"), "{log:?}");
    ada.runs(&server, &format!("users suspend {} --reason spam", ada.id)).failed(1, "Ask another operator.");
}

fn a_wallet_link_is_issued_once_the_last_use_was_shown(store: Store) {
    let (server, ada) = Server::with_operator(store, &[]);
    let guest = server.guest_account();
    let reference = guest.topup_reference(guest.topup("40"));
    let line = format!("users wallet-link {} --reference {reference} --reason lost", guest.email);
    let used = ada.get(&format!("/operator/users/{}/wallet-link", guest.id)).data(200);
    let (second, _) = used["last_used_at"].as_str().unwrap().split_once('.').unwrap();
    // Without a terminal, the command issues no link, because nobody has confirmed the last use.
    ada.runs(&server, &line).failed(1, &format!("last use {second}Z: compare it, and pass --yes"));
    let issued = ada.runs(&server, &format!("{line} --yes"));
    assert!(issued.status == Some(0) && issued.stderr.contains("only to the payer"), "{issued:?}");
    let url = field(&issued.stdout, "link ");
    let (_, query) = url.split_once("/wallet-link").unwrap();
    let page = Browser::new(&server.client()).get(&format!("/wallet-link{query}"));
    assert!(page.text.contains("Open the wallet here"), "{page}");
    let refused = ada.runs(&server, &format!("{} --yes", line.replace(&reference, "4711")));
    refused.failed(1, "The account has no confirmed top-up with this reference.");
}

fn withdrawals_are_approved_and_rejected(store: Store) {
    let (server, ada) = Server::with_operator(store, &[]);
    let guest = server.payer("50");
    let [first, second] = ["7", "12.50"].map(|amount| guest.withdrawal(amount));
    let listed = ada.runs(&server, "withdrawals list --status pending").done();
    let lines: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["ID", "STATUS", "AMOUNT", "CREATED", "APPROVALS", "WAITS", "FOR", "OWNER"]);
    let (newest, owner) = (second.to_string(), guest.id.to_string());
    assert_eq!(
        [&lines[1][..4], &lines[1][5..]].concat(),
        [&newest, "pending", "12.50", "USD", "0", "of", "1", "-", &owner, "Ada"]
    );
    assert!(lines.len() == 3 && listed.contains("  7.00 USD  "), "amounts end below each other: {listed}");

    let shown = ada.runs(&server, &format!("withdrawals show {first}")).done();
    let texts = ["amount ", "address ", "approvals "].map(|heading| field(&shown, heading));
    assert_eq!(texts, ["7.00 USD", "bc1q", "0 of 1"]);
    let approved = ada.runs(&server, &format!("withdrawals approve {first} --reason checked")).done();
    assert_eq!(field(&approved, "status "), "approved");
    for _ in 0..2 {
        let rejected =
            ada.runs(&server, &format!("withdrawals reject {second} --reason checked --json")).done();
        assert_eq!(serde_json::from_str::<Value>(&rejected).unwrap()["status"], "rejected");
    }
    assert_eq!(guest.wallet(), ("43.00".into(), "7.00".into()));
    let again = ada.runs(&server, &format!("withdrawals approve {second} --reason checked"));
    again.failed(1, &format!("withdrawal {second}: The current status does not allow this. It is rejected."));
    assert_eq!(ada.runs(&server, "withdrawals list --json").done().lines().count(), 2);
    ada.runs(&server, "withdrawals show 4711").failed(1, "withdrawal 4711: Not found.");
}

fn a_withdrawal_that_needs_two_operators_stays_pending_and_says_so(store: Store) {
    let (server, ada) = Server::with_operator(store, &[("withdrawals.second_approval_above", "30")]);
    let bob = ada.new_operator(&server);
    let large = server.payer("50").withdrawal("40");
    let line = format!("withdrawals approve {large} --reason checked");
    let first = ada.runs(&server, &line);
    assert_eq!((first.status, field(&first.stdout, "status ")), (Some(0), "pending".into()), "{first:?}");
    assert!(first.stderr.contains("waits for the approval of another operator"), "{first:?}");
    assert_eq!(field(&bob.runs(&server, &line).done(), "status "), "approved");
}

fn a_list_reports_omitted_withdrawals(store: Store) {
    let (server, ada) = Server::with_operator(store, &[]);
    let guest = server.payer("50");
    let newest = ["1", "2", "3"].map(|amount| guest.withdrawal(amount))[2];
    let said = ada.runs(&server, "withdrawals list --limit 1 --json");
    assert!(said.stderr.contains("1 of 3 withdrawals are shown: raise --limit"), "{said:?}");
    let rows: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["id"]), (1, &json!(newest)));
    let none = ada.runs(&server, "withdrawals list --status broadcast");
    assert_eq!((none.status, none.stdout.as_str()), (Some(0), ""), "{none:?}");
    let unknown = ada.runs(&server, "withdrawals list --status lost");
    assert!(unknown.status == Some(2) && unknown.stderr.contains("needs_review"), "{unknown:?}");
}

fn forbidden_callers_see_the_message_of_the_api(store: Store) {
    let (server, ada) = Server::with_operator(store, &[]);
    let dj = server.dj();
    let mut command = program("users show 1");
    command.args(["--url", &server.client().address, "--email", &ada.email]);
    ran(command, "wrong horse").failed(1, "cannot log in: These credentials do not match our records.");
    dj.runs(&server, "users show 1").failed(1, "user 1: Only operators and auditors can do this.");
    ada.runs(&server, &format!("users suspend {} --reason spam", dj.id)).done();
    dj.runs(&server, "users show 1").failed(1, "cannot log in: This account is suspended.");
    let mut silent = program("users show 1");
    silent.args(["--url", &server.client().address, "--email", &ada.email]);
    ran(silent, "").failed(1, "no password was entered");
}

fn no_session_remains(store: Store) {
    let (server, ada) = Server::with_operator(store, &[]);
    let dj = server.dj();
    ada.runs(&server, "users show 1").done();
    ada.runs(&server, "withdrawals approve 4711 --reason checked").failed(1, "withdrawal 4711: Not found.");
    dj.runs(&server, "users show 1").failed(1, "Only operators");
    for person in [&ada, &dj] {
        let sessions = person.get("/auth/sessions").data(200);
        assert!(sessions["total"] == 1 && sessions["data"][0]["current"] == true, "{sessions}");
    }
}

fn names_cannot_control_the_terminal(store: Store) {
    let (server, ada) = Server::with_operator(store, &[]);
    let guest = server.payer("5");
    // Text after it runs from right to left.
    let name = "Ada \u{202e}resu";
    guest.patch("/user/personal-info", &json!({"name": name})).data(200);
    let shown = ada.runs(&server, &format!("users show {}", guest.id)).done();
    assert_eq!(field(&shown, "name "), r"Ada \u{202e}resu");
    guest.withdrawal("1");
    assert!(ada.runs(&server, "withdrawals list").done().ends_with("Ada \\u{202e}resu\n"));
    let printed = ada.runs(&server, &format!("users show {} --json", guest.id)).done();
    assert!(
        printed.is_ascii() && serde_json::from_str::<Value>(&printed).unwrap()["name"] == name,
        "{printed}"
    );
}

fn the_configuration_gives_the_address_unless_it_is_passed(store: Store) {
    let (server, ada) = Server::with_operator(store, &[]);
    let address = server.client().address;
    let line = format!("users show {} --email {}", ada.id, ada.email);
    let port = address.rsplit_once(':').unwrap().1;
    for (key, value) in [("CUEPOINT__SERVER__PUBLIC_URL", address.as_str()), ("CUEPOINT__SERVER__PORT", port)]
    {
        let mut command = program(&line);
        command.env(key, value);
        ran(command, PASSWORD).done();
    }
    let broken = |line: &str| {
        let mut command = program(line);
        command
            .env("CUEPOINT__WALLET__SCALE", "many")
            .env("CUEPOINT__SERVER__PUBLIC_URL", "https://example.com");
        ran(command, PASSWORD)
    };
    broken(&line).failed(1, "wallet.scale");
    broken(&format!("{line} --url {address}")).done();
}

/// A service that answers each request, given as a text, with a text.
fn service(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            thread::spawn(move || drop(stream.write_all(answer(&request(&stream)).as_bytes())));
        }
    });
    url
}

/// The next request, with its body.
fn request(stream: &TcpStream) -> String {
    let (mut reader, mut text, mut length) = (BufReader::new(stream), String::new(), 0);
    while !text.ends_with("\r\n\r\n") && reader.read_line(&mut text).unwrap() > 0 {
        let last = text.lines().next_back().unwrap().to_lowercase();
        length = last.strip_prefix("content-length: ").map_or(length, |length| length.parse().unwrap());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    text + &String::from_utf8(body).unwrap()
}

fn answer(status: &str, header: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{header}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

/// A service that gives every request this answer.
fn says(status: &str, header: &str, body: &str) -> String {
    let answer = answer(status, header, body);
    service(move |_| answer.clone())
}

/// The success of a login, and of a logout.
const TOKENS: &str = r#"{"status": "ok", "data": {"access_token": "eyJ", "refresh_token": "again"}}"#;

#[test]
fn a_change_without_an_answer_is_reported_as_unknown_and_repeatable() {
    let busy = r#"{"status": "error", "code": "unavailable", "message": "Busy."}"#;
    for answered in [String::new(), answer("503 Busy", "", busy)] {
        let url = service(move |request| match request.contains("/approve ") {
            true if request.contains("idempotency-key: ") => answered.clone(),
            _ => answer("200 OK", "", TOKENS),
        });
        let said = at(&url, "ada@example.com", "withdrawals approve 7 --reason checked");
        said.failed(
            3,
            "It is unknown whether the change was made. Repeat the command: no change is made twice.",
        );
    }
}

#[test]
fn a_session_that_could_not_be_ended_is_reported() {
    let user = r#"{"status": "ok", "data": {"user": {"id": 7}}}"#;
    let url = service(move |request| match request.split(' ').nth(1).unwrap() {
        "/api/v1/auth/login" => answer("200 OK", "", TOKENS),
        "/api/v1/auth/logout" => answer("502 Bad Gateway", "", ""),
        _ => answer("200 OK", "", user),
    });
    let said = at(&url, "ada@example.com", "users show 7");
    assert_eq!((said.status, said.stdout.as_str()), (Some(0), "id  7\n"));
    assert!(
        said.stderr.starts_with("cuepoint: the session could not be ended: http://127.0.0.1:"),
        "{said:?}"
    );
}

#[test]
fn an_interrupted_command_ends_its_session() {
    for signal in ["INT", "TERM", "HUP"] {
        ends_its_session_at(signal);
    }
}

/// Sends a signal while a command waits for an answer.
fn ends_its_session_at(signal: &str) {
    let (seen, requests) = mpsc::channel();
    let url = service(move |request| {
        seen.send(request.to_owned()).unwrap();
        if request.starts_with("GET ") {
            thread::sleep(Duration::from_secs(600));
        }
        answer("200 OK", "", TOKENS)
    });
    let mut command = program("users show 1");
    let mut input = tempfile::tempfile().unwrap();
    writeln!(input, "{PASSWORD}").unwrap();
    input.rewind().unwrap();
    command.args(["--email", "ada@example.com", "--url", &url]).stdin(input).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let next = || requests.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(next().starts_with("POST /api/v1/auth/login "));
    let show = next();
    assert!(show.starts_with("GET /api/v1/operator/users/1 ") && show.contains("Bearer eyJ"), "{show}");
    let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(1) && said.starts_with("cuepoint: interrupted: "),
        "{signal}: {said}"
    );
    let logout = next();
    assert!(logout.starts_with("POST /api/v1/auth/logout ") && logout.contains(r#""again""#), "{logout}");
}

#[test]
fn answers_of_other_programs_set_message_and_exit_status() {
    let html = "<html><h1>\u{1b}[2Jhello</h1></html>";
    let envelope = r#"{"status": "error", "code": "unavailable", "message": "Busy \u001b[2J."}"#;
    let unreachable = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let endless = "a".repeat(5 * 1024 * 1024);
    for (url, status, sentence) in [
        (says("200 OK", "", html), 1, "answers 200 without JSON of the API"),
        (says("502 Bad Gateway", "", html), 3, "answers 502 without JSON of the API"),
        (
            says("301 Moved", "Location: https://example.com/x\r\n", ""),
            1,
            "redirects to https://example.com/x: pass",
        ),
        (says("503 Busy", "Retry-After: 7\r\n", envelope), 3, r"Busy \u{1b}[2J. Try again in 7 seconds."),
        (says("429 Slow", "Retry-After: 7\r\n", envelope), 3, "Try again in 7 seconds."),
        (says("200 OK", "", r#"{"status": "ok", "data": {}}"#), 1, "another form of JSON"),
        (says("200 OK", "", &endless), 3, "the answer cannot be read"),
        (service(|_| String::new()), 3, "the call failed"),
        (unreachable, 3, "Connection refused"),
        ("http://192.0.2.1".to_owned(), 1, "the password would travel without encryption"),
        ("https://ada:secret@example.com".to_owned(), 1, "without a path"),
    ] {
        let said = at(&url, "ada@example.com", "withdrawals approve 7 --reason checked");
        assert!(!said.stderr.contains(['\u{1b}', '<']) && !said.stderr.contains("secret"), "{said:?}");
        said.failed(status, sentence);
    }
}
