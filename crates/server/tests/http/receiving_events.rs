//! The receiver in docs/receiving-events.md: it continues where it stopped.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::harness::{Person, Server, Store};

on_every_store!(the_documented_receiver_continues_where_it_stopped);

const PAGE: &str = include_str!("../../../../docs/receiving-events.md");

/// A running receiver, killed on drop.
struct Receiver {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Receiver {
    fn start(server: &Server, person: &Person, position: &PathBuf) -> Self {
        let (_, code) = PAGE.split_once("```python\n").unwrap();
        let (code, _) = code.split_once("```").unwrap();
        let host = server.client().address.strip_prefix("http://").unwrap().to_owned();
        let mut child = Command::new("python3")
            .args(["-c", code, &host, &person.token])
            .arg(position)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// The position and the type of the next event.
    fn next(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.split(' ').take(2).collect::<Vec<_>>().join(" ")
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
    let position = std::env::temp_dir().join(format!("cuepoint-position-{}-{store:?}", std::process::id()));
    guest.topup("20");
    let mut receiver = Receiver::start(&server, &guest, &position);
    // 1: the prices of the DJ, which are no event.
    assert_eq!(receiver.next(), "2 topup.created");
    let request = guest.ask(&dj);
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
    drop(receiver);
    let _ = std::fs::remove_file(&position);
}
