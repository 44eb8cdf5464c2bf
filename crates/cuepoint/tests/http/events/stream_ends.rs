//! The end of streams: closed connections, clients that do not read, stops, tokens and failures.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::accounts::keys::{FILE, KeyFolder};
use crate::harness::{Database, Person, Proxy, Server, Store, Traffic, eventually, operator_keys, within};
use crate::operating::service::{metrics, sample};

/// The time limit for the end of a stream once its client has gone or the server stops.
const ENDED_WITHIN: Duration = Duration::from_secs(5);
/// The margin of measurements on a busy machine.
const MARGIN: Duration = Duration::from_secs(3);
const OPERATOR: &str = "operator@example.com";

pub(crate) fn open_streams(server: &Server) -> u64 {
    let lines = metrics(server);
    let mut values = lines.iter().filter_map(|line| line.strip_prefix("cuepoint_event_streams "));
    values.next().map_or(0, |value| value.parse().unwrap())
}

/// A connection that requested a stream, with further bytes behind the request.
fn open_stream(server: &Server, reader: &Person, path: &str, behind: &str) -> TcpStream {
    let address = server.client().address;
    let mut socket = TcpStream::connect(address.strip_prefix("http://").unwrap()).unwrap();
    let request = format!(
        "GET /api/v1{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n{behind}",
        reader.token
    );
    socket.write_all(request.as_bytes()).unwrap();
    socket
}

/// A stream with a client that reads nothing of it, and with full buffers on both sides.
fn unread(server: &Server, guest: &Person) -> TcpStream {
    const WRITERS: usize = 4;
    let socket = open_stream(server, guest, "/events/stream", "");
    eventually("the stream is open", || (open_streams(server) == 1).then_some(()));
    // An end for this reason means that the server cannot write to the client.
    let is_slow = || metrics(server).iter().any(|line| line.contains("reason=\"slow\"} 1"));
    for round in 0.. {
        assert!(round < 100, "the buffers are not full");
        if is_slow() {
            break;
        }
        thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| (0..100).for_each(|_| assert!(guest.topup("0.01") > 0)));
            }
        });
    }
    assert_eq!(open_streams(server), 1);
    socket
}

#[test]
fn a_stream_is_no_longer_counted_after_its_connection_is_closed() {
    let server = Server::start(Store::Memory);
    let guest = server.guest();
    let next = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    // The last ones with bytes that the server does not read before the end of the stream, of which it holds 64 KiB.
    for behind in [String::new(), format!("{next}GET / HTTP/1.1\r\n"), next.repeat(200 * 1024 / next.len())] {
        let mut socket = open_stream(&server, &guest, "/events/stream", &behind);
        assert!(socket.read(&mut [0; 1_024]).unwrap() > 0);
        eventually("the stream is open", || (open_streams(&server) == 1).then_some(()));
        drop(socket);
        within(ENDED_WITHIN, "the stream is closed", || (open_streams(&server) == 0).then_some(()));
    }
}

/// A connection with a closed sending side looks closed until the server writes to it.
#[test]
fn a_stream_ends_when_the_client_half_closes_the_connection() {
    let server = Server::start(Store::Memory);
    let mut socket = open_stream(&server, &server.guest(), "/events/stream", "");
    eventually("the stream is open", || (open_streams(&server) == 1).then_some(()));
    socket.shutdown(Shutdown::Write).unwrap();
    socket.set_read_timeout(Some(ENDED_WITHIN)).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(open_streams(&server), 0);
}

#[test]
fn an_unread_stream_is_no_longer_counted_after_its_connection_is_closed() {
    let server = Server::start(Store::Memory);
    drop(unread(&server, &server.guest()));
    within(ENDED_WITHIN, "the stream is closed", || (open_streams(&server) == 0).then_some(()));
}

#[test]
fn shutdown_does_not_wait_for_clients_that_do_not_read() {
    let mut server = Server::start(Store::Memory);
    let socket = unread(&server, &server.guest());
    let start = Instant::now();
    server.signal("TERM");
    assert!(server.ended().success());
    assert!(start.elapsed() < ENDED_WITHIN + MARGIN, "{:?}", start.elapsed());
    drop(socket);
}

/// The server reads its keys from a pipe to which nobody writes, as from a disk that does not answer.
#[test]
fn shutdown_does_not_wait_for_blocked_threads() {
    let folder = KeyFolder::new();
    folder.rotate(&[]);
    let mut server = Server::configured(Store::Memory, &[(FILE, &folder.path())]);
    let pipe = format!("{}.pipe", folder.path());
    assert!(Command::new("mkfifo").args(["-m", "600", &pipe]).status().unwrap().success());
    std::fs::rename(pipe, folder.path()).unwrap();
    // Waits until the server has opened it to read.
    let silent = std::fs::OpenOptions::new().write(true).open(folder.path()).unwrap();
    let start = Instant::now();
    server.signal("TERM");
    assert!(server.ended().success());
    assert!(start.elapsed() < ENDED_WITHIN, "{:?}", start.elapsed());
    drop(silent);
}

#[test]
fn a_stream_ends_when_requests_with_its_expired_token_are_refused() {
    const TOLERANCE: Duration = Duration::from_secs(30);
    let server = Server::configured(Store::Memory, &[("auth.access_token_ttl_seconds", "2")]);
    let guest = server.guest();
    let start = Instant::now();
    let mut stream = guest.stream("/events/stream", &[]);
    let streaming = thread::spawn(move || {
        assert_eq!(stream.event_within(TOLERANCE + 2 * MARGIN), None);
        start.elapsed()
    });
    within(TOLERANCE + MARGIN, "requests are refused", || (guest.get("/wallet").status == 401).then_some(()));
    let refused = start.elapsed();
    let ended = streaming.join().unwrap();
    assert!(refused > TOLERANCE, "{refused:?}");
    assert!(ended.abs_diff(refused) < MARGIN, "{ended:?} {refused:?}");
}

#[test]
fn a_new_epoch_ends_streams() {
    let database = Arc::new(Database::postgres());
    let server = Server::on(&database, &[]);
    let guest = server.guest();
    let mut stream = guest.stream("/events/stream", &[]);
    // As `cuepoint restore` does.
    database.execute("UPDATE deployment SET epoch = 7");
    assert_eq!(stream.event_within(ENDED_WITHIN), None);
    guest.try_stream("/events/stream", &[]).err().unwrap().refused(401, "invalid_token");
}

#[test]
fn streams_end_when_events_cannot_be_read_for_ten_seconds() {
    const FAILING_FOR: Duration = Duration::from_secs(10);
    let database = Arc::new(Database::postgres());
    let proxy = Proxy::start(database.server());
    let server = Server::through(&database, &database.url_at(proxy.address()), &[]);
    let guest = server.guest();
    let mut stream = guest.stream("/events/stream", &[]);
    guest.topup("1");
    assert_eq!(stream.events(1)[0].event_type, "topup.created");
    let start = Instant::now();
    proxy.set(Traffic::Cut);
    assert_eq!(stream.event_within(FAILING_FOR + 2 * MARGIN), None);
    let took = start.elapsed();
    assert!(took >= FAILING_FOR, "{took:?}");
    assert_eq!(sample(&metrics(&server), &["cuepoint_event_streams_ended_total", "unavailable"]), 1);
}

#[test]
fn events_of_other_servers_arrive_without_database_notifications() {
    let database = Arc::new(Database::postgres());
    let proxy = Proxy::start(database.server());
    proxy.set(Traffic::WithoutNotifications);
    let one = Server::through(&database, &database.url_at(proxy.address()), &operator_keys(OPERATOR));
    let other = Server::on(&database, &operator_keys(OPERATOR));
    let mut stream = one.client().login(OPERATOR).stream("/operator/events/stream", &[]);
    let guest = other.guest();
    let listeners = "SELECT pid FROM pg_stat_activity
        WHERE query LIKE '%cuepoint_commits' AND datname = current_database() AND pid <> pg_backend_pid()";
    for _ in 0..3 {
        guest.topup("1");
        assert_eq!(stream.event_within(ENDED_WITHIN).unwrap().event_type, "topup.created");
        let listening =
            eventually("a server listens", || Some(database.rows(listeners)).filter(|rows| !rows.is_empty()));
        assert_eq!(listening.len(), 1, "the other server alone listens");
    }
}
