//! The receivers in docs/guide/events.md: that of a stream continues where it stopped, that of webhooks stores
//! each event once.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{
    Client, PASSWORD, Person, Server, Store, WEBHOOK_URL, blocks, eventually, section, within,
};

on_one_store!(
    the_documented_receiver_continues_where_it_stopped,
    the_documented_receiver_continues_after_lost_events,
    the_documented_webhook_receiver_stores_each_signed_event_once,
);

const PAGE: &str = include_str!("../../../../../docs/guide/events.md");

/// A running receiver, killed on drop.
struct Receiver {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Receiver {
    /// The receiver of a stream.
    fn start(server: &Server, person: &Person, position: &PathBuf) -> Self {
        let host = server.client().address.strip_prefix("http://").unwrap().to_owned();
        Self::run(PAGE, [&host, &person.refresh_token], position)
    }

    /// Runs the first program of a text with these arguments and the path of its file.
    fn run(text: &str, arguments: [&str; 2], path: &PathBuf) -> Self {
        let program = blocks(text).into_iter().find(|block| block.language == "python").unwrap();
        let mut child = Command::new("python3")
            .args(["-c", program.text])
            .args(arguments)
            .arg(path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// The next line.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The position and the type of the next event.
    fn next(&mut self) -> String {
        self.line().split(' ').take(2).collect::<Vec<_>>().join(" ")
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn the_documented_receiver_continues_where_it_stopped(store: Store) {
    let server = Server::start(store);
    let (guest, dj) = (server.guest(), server.dj());
    let folder = TempDir::with_prefix("cuepoint-position-").unwrap();
    let position = folder.path().join("position");
    guest.topup("20");
    let mut receiver = Receiver::start(&server, &guest, &position);
    // 1: the prices of the DJ, which are no event.
    assert_eq!(receiver.next(), "2 topup.created");
    let request = guest.request_song(&dj);
    assert_eq!(receiver.next(), "3 music_request.created");
    dj.answer(request, "accepted").data(200);
    assert_eq!(receiver.next(), "4 music_request.accepted");
    // It stores a position after it has shown the event.
    guest.topup("1");
    assert_eq!(receiver.next(), "5 topup.created");
    drop(receiver);
    dj.answer(request, "played").data(200);
    let mut receiver = Receiver::start(&server, &guest, &position);
    let mut next = receiver.next();
    if next == "5 topup.created" {
        next = receiver.next();
    }
    assert_eq!(next, "6 music_request.played");
}

#[test]
fn the_documented_receiver_refreshes_its_access_token() {
    let server = Server::configured(Store::Memory, &[("auth.access_token_ttl_seconds", "1")]);
    let guest = server.guest();
    let folder = TempDir::with_prefix("cuepoint-refresh-").unwrap();
    let path = folder.path().join("state");
    let stored = || {
        let state: Value = serde_json::from_str(&std::fs::read_to_string(&path).ok()?).ok()?;
        state["refresh_token"].as_str().map(str::to_owned)
    };
    let mut receiver = Receiver::start(&server, &guest, &path);
    let first = eventually("it refreshes at its start", || stored().filter(|it| *it != guest.refresh_token));
    // The stream ends 30 seconds after the expiry of the token.
    within(Duration::from_secs(90), "it refreshes again", || stored().filter(|it| *it != first));
    server.client().login(&guest.email).topup("20");
    assert_eq!(receiver.next(), "1 topup.created");
}

fn the_documented_receiver_continues_after_lost_events(store: Store) {
    let server = Server::start(store);
    let guest = server.guest();
    guest.topup("20");
    let folder = TempDir::with_prefix("cuepoint-lost-").unwrap();
    let path = folder.path().join("position");
    // As if it had received more events before a restore.
    let state = json!({"refresh_token": guest.refresh_token, "position": 7});
    std::fs::write(&path, state.to_string()).unwrap();
    let mut receiver = Receiver::start(&server, &guest, &path);
    assert_eq!(receiver.line(), "reload the state: events_lost");
    guest.topup("1");
    assert_eq!(receiver.next(), "2 topup.created");
}

fn the_documented_webhook_receiver_stores_each_signed_event_once(store: Store) {
    let server = Server::configured(store, &[("webhooks.allowed_networks", "127.0.0.1")]);
    let guest = server.guest();
    let created =
        guest.post("/webhook-endpoints", &json!({"url": WEBHOOK_URL, "password": PASSWORD})).data(201);
    let path = format!("/webhook-endpoints/{}", created["webhook_endpoint"]["id"]);
    let folder = TempDir::with_prefix("cuepoint-webhooks-").unwrap();
    let file = folder.path().join("events");
    let mut receiver =
        Receiver::run(section(PAGE, "## Webhooks"), ["0", created["secret"].as_str().unwrap()], &file);
    let listening = receiver.line();
    let url = format!("http://127.0.0.1:{}", listening.strip_prefix("listening on port ").unwrap());
    guest.patch(&path, &json!({"url": url, "password": PASSWORD})).data(200);
    guest.topup("20");
    assert_eq!(receiver.line(), "1 topup.created");
    let forged = Client::new(&url).outside("POST", "/").text(r#"{"position": 2, "type": "topup.created"}"#);
    let signature = format!("v1,{}=", "A".repeat(43));
    let forged = forged.header("webhook-id", "x").header("webhook-signature", &signature);
    assert_eq!(forged.send().status, 401);
    let accepted = |count: usize| {
        eventually("the attempts are listed", || {
            let attempts = guest.get(&format!("{path}/attempts")).data(200);
            let attempts = attempts["data"].as_array()?;
            (attempts.len() == count && attempts.iter().all(|attempt| attempt["status"] == 204)).then_some(())
        });
    };
    accepted(1);
    guest.post(&format!("{path}/replay"), &json!({"after": 0})).data(202);
    accepted(2);
    guest.topup("1");
    assert_eq!(receiver.line(), "2 topup.created", "neither the repeated event nor the forged one");
}
