//! A log consumer that stops reading, resumes, or disconnects: the service continues, and accounts for each
//! line.

use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{Person, Server, Store, eventually, soak_times};
use crate::operating::service::{metrics, sample};

/// Calls of a regular run; their lines exceed the queue.
const CALLS: usize = 10_000;
const CLIENTS: usize = 8;
/// Calls whose lines exceed any pipe.
const FULL_PIPE: usize = 1_000;
/// The maximum duration of an answer.
const IN_TIME: Duration = Duration::from_secs(5);

/// Sends this many calls in sequence, each with a long log line.
fn call(guest: &Person, calls: usize) {
    let id = "r".repeat(128);
    for _ in 0..calls {
        guest.call("GET", "/user/personal-info").header("x-request-id", &id).send().data(200);
    }
}

fn is_live(server: &Server) {
    let begin = Instant::now();
    let answer = server.client().outside("GET", "/health/live").send();
    assert_eq!(answer.status, 200, "{answer}");
    assert!(begin.elapsed() < IN_TIME, "{:?}", begin.elapsed());
}

fn lost(samples: &[String]) -> u64 {
    sample(samples, &["cuepoint_log_lines_lost_total"])
}

/// The number of answered calls, each of which logged a line or lost it.
fn answered(samples: &[String]) -> u64 {
    let calls = samples.iter().filter(|line| line.starts_with("http_requests_total{"));
    calls.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
}

#[test]
fn a_stalled_log_reader_blocks_no_request() {
    let mut server = Server::with_unread_log();
    let guest = server.guest();
    let calls = CALLS * soak_times();
    thread::scope(|scope| {
        let clients: Vec<_> =
            (0..CLIENTS).map(|_| scope.spawn(|| call(&guest, calls.div_ceil(CLIENTS)))).collect();
        while clients.iter().any(|client| !client.is_finished()) {
            is_live(&server);
        }
    });
    let before = metrics(&server);
    assert!(answered(&before) > calls as u64);
    assert!(lost(&before) > 0);
    server.read_log();
    eventually("a line is written again", || {
        guest.call("GET", "/wallet").header("x-request-id", "mark").send().data(200);
        server.log().contains("request_id=\"mark\"").then_some(())
    });
    let after = metrics(&server);
    eventually("each answered call has its line or was counted", || {
        let log = server.log();
        let lines = log.lines().filter(|line| line.contains(" answered ")).count() as u64;
        // The line of the metrics call is written after its samples are taken.
        (lines + lost(&after) == answered(&after) + 1).then_some(())
    });
    let log = server.log();
    let reports = log.lines().filter_map(|line| line.split_once("WARN").map(|(_, line)| line));
    let reported: Vec<u64> = reports
        .filter_map(|line| line.split_once("log lines were lost lost="))
        .map(|(_, lines)| lines.parse().unwrap())
        .collect();
    assert_eq!(reported.iter().sum::<u64>(), lost(&after), "{reported:?}");
}

#[test]
fn a_shutdown_does_not_wait_for_a_stalled_log_reader() {
    let mut server = Server::with_unread_log();
    call(&server.guest(), FULL_PIPE);
    let begin = Instant::now();
    server.signal("TERM");
    let status = server.ended();
    assert!(status.success(), "{status}");
    assert!(begin.elapsed() < IN_TIME, "{:?}", begin.elapsed());
}

#[test]
fn a_shutdown_flushes_every_log_line() {
    let mut server = Server::start(Store::Memory);
    call(&server.guest(), 100);
    server.signal("TERM");
    assert!(server.ended().success());
    eventually("the last line is there", || server.log().trim_end().ends_with("stopped").then_some(()));
    let lines = server.log().lines().filter(|line| line.contains("/user/personal-info")).count();
    assert_eq!(lines, 100);
}

#[test]
fn a_server_whose_log_reader_closes_loses_only_log_lines() {
    let mut server = Server::with_unread_log();
    let guest = server.guest();
    server.close_log();
    call(&guest, 100);
    let counted = eventually("their lines are counted", || {
        let lost = lost(&metrics(&server));
        (lost >= 100).then_some(lost)
    });
    assert!(counted < 1_000, "{counted}");
    is_live(&server);
    server.signal("TERM");
    let status = server.ended();
    assert!(status.success(), "{status}");
}
