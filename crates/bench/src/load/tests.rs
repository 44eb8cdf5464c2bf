//! Tests of the load against servers with scripted responses.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use super::record::Stage::{Answered, Due, Sent};
use super::schedule::{Rate, Schedule};
use super::*;

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// Starts a server that answers each read with the next of these responses, and repeats the last one.
fn server(answers: &'static [&'static [u8]]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut buffer = [0; 4_096];
                for answer in answers.iter().chain(std::iter::repeat(answers.last().unwrap())) {
                    if !matches!(stream.read(&mut buffer), Ok(1..)) || stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn load(server: SocketAddr, connections: usize) -> Load {
    let counted = Duration::from_millis(50);
    Load { servers: vec![server], connections, warm_up: Duration::from_millis(10), counted }
}

/// Yields this many requests, then none.
fn only(mut left: u32) -> impl FnMut(&mut Vec<u8>) -> bool {
    move |into| {
        let Some(rest) = left.checked_sub(1) else { return false };
        left = rest;
        into.extend_from_slice(b"GET / HTTP/1.1\r\n\r\n");
        true
    }
}

#[test]
fn only_answers_within_the_measurement_window_are_counted() {
    let mut moments = Vec::new();
    let counted = run(&load(server(&[HELLO]), 3), &mut only(u32::MAX), |moment| {
        moments.push(moment);
        Ok(())
    })
    .unwrap();
    assert_eq!(moments, [Moment::Begins, Moment::Ends]);
    assert!(counted.answers > 0 && counted.answers < counted.all_answers, "{counted:?}");
    assert_eq!(counted.latencies.len(), counted.answers);
    assert!(counted.lasted >= Duration::from_millis(50));
}

#[test]
fn a_run_ends_when_requests_run_out_and_fails_if_none_was_counted() {
    let address = server(&[HELLO]);
    let endless = Load { warm_up: Duration::ZERO, counted: Duration::from_secs(3_600), ..load(address, 2) };
    let counted = run(&endless, &mut only(100), |_| Ok(())).unwrap();
    assert_eq!(counted.all_answers, 100);
    assert!(counted.lasted < Duration::from_secs(3_600));
    let unbegun = Load { warm_up: Duration::from_secs(3_600), ..endless };
    let refused = run(&unbegun, &mut only(10), |_| Ok(())).unwrap_err();
    assert_eq!(refused.to_string(), "the requests ran out before anything was counted");
}

#[test]
fn an_unsuccessful_answer_ends_the_run_and_is_reported() {
    let check = |answers, reason: &str| {
        let refused = run(&load(server(answers), 1), &mut only(u32::MAX), |_| Ok(())).unwrap_err();
        assert_eq!(refused.to_string(), reason);
    };
    check(&[HELLO, b"HTTP/1.1 429 No\r\nContent-Length: 4\r\n\r\nslow"], "an answer was 429: slow");
    check(&[HELLO, b"hello\r\n\r\n"], "the answer is not HTTP");
    check(&[HELLO, b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n22"], "data follows the answer");
}

/// Three calls.
const THREE: Rate = Rate { per_second: 300, warm_up: Duration::ZERO, counted: Duration::from_millis(10) };

#[test]
fn an_open_loop_sends_before_earlier_requests_are_answered() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let receive = |stream: std::io::Result<std::net::TcpStream>| {
            let mut stream = stream.unwrap();
            assert!(stream.read(&mut [0; 4_096]).unwrap() > 0);
            stream
        };
        let mut streams: Vec<_> = listener.incoming().take(3).map(receive).collect();
        streams.iter_mut().for_each(|stream| stream.write_all(HELLO).unwrap());
        streams
    });
    let answers = open::run(address, Schedule::even(THREE, Instant::now()), &mut only(u32::MAX)).unwrap();
    let counts = [Answered, Sent].map(|stage| answers.between(Due, stage).unwrap().len());
    assert_eq!((answers.answered_calls(), counts), (3, [3, 3]));
    server.join().unwrap();
}

#[test]
fn open_loop_latencies_are_measured_from_the_time_a_request_was_due() {
    let begins = Instant::now().checked_sub(Duration::from_secs(1)).unwrap();
    let answers = open::run(server(&[HELLO]), Schedule::even(THREE, begins), &mut only(u32::MAX)).unwrap();
    let least = [Answered, Sent].map(|stage| answers.between(Due, stage).unwrap().min());
    assert!(least.iter().all(|microseconds| *microseconds > 900_000), "{least:?}");
}

#[test]
fn an_open_loop_ends_when_the_requests_run_out() {
    let run = |rate| open::run(server(&[HELLO]), Schedule::even(rate, Instant::now()), &mut only(2));
    assert_eq!(run(THREE).unwrap().answered_calls(), 2);
    let refused = run(Rate { warm_up: Duration::from_secs(3_600), ..THREE }).unwrap_err();
    assert_eq!(refused.to_string(), "the requests ran out before anything was counted");
}
