//! Guests who scan a code: each creation of a guest account with its first request in a gig, as one step.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use cuepoint_domain::ids::UserId;
use hdrhistogram::Histogram;

use crate::figures::{Figures, Quantiles, latencies, number};
use crate::single_calls::{PATIENCE, field, song};

/// Measures the steps on these connections for this time, in the gigs of these DJs.
///
/// # Errors
/// If an answer is not a success.
pub(crate) fn measure(
    server: SocketAddr,
    connections: usize,
    lasting: Duration,
    djs: &[UserId],
) -> anyhow::Result<Figures> {
    let began = Instant::now();
    let each = thread::scope(|scope| -> anyhow::Result<Vec<Histogram<u64>>> {
        let guests = |number: usize| scope.spawn(move || arrivals(server, number, began, lasting, djs));
        let started: Vec<_> = (0..connections).map(guests).collect();
        started.into_iter().map(|thread| thread.join().ok().context("a thread panicked")?).collect()
    })?;
    let took = began.elapsed();
    let mut all = latencies()?;
    each.iter().try_for_each(|one| all.add(one))?;
    let Quantiles { p50, p99, .. } = Quantiles::of(&all);
    Ok(Figures { per_second: number(all.len()) / took.as_secs_f64(), p50, p99, ..Figures::default() })
}

/// The latencies of the steps on one connection, in microseconds.
fn arrivals(
    server: SocketAddr,
    connection: usize,
    began: Instant,
    lasting: Duration,
    djs: &[UserId],
) -> anyhow::Result<Histogram<u64>> {
    let mut latencies = latencies()?;
    let socket = TcpStream::connect(server)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut socket = BufReader::new(socket);
    let mut rng = fastrand::Rng::with_seed(u64::try_from(connection)?);
    while began.elapsed() < lasting {
        let sent = Instant::now();
        let key = format!("Idempotency-Key: {:032x}\r\n", rng.u128(..));
        let session = call(&mut socket, "/api/v1/auth/guest", &key, "{}")?;
        let token = format!("Authorization: Bearer {}\r\n", field(&session, "access_token")?);
        let dj = rng.choice(djs).context("there is no DJ")?;
        call(&mut socket, "/api/v1/music/requests", &token, &song(*dj, "upcoming"))?;
        latencies.saturating_record(u64::try_from(sent.elapsed().as_micros())?);
    }
    Ok(latencies)
}

/// Makes a call on a persistent connection, and returns the body of its answer.
fn call(socket: &mut BufReader<TcpStream>, path: &str, header: &str, body: &str) -> anyhow::Result<String> {
    let length = body.len();
    let call = format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}Content-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    socket.get_mut().write_all(call.as_bytes())?;
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        ensure!(socket.read_line(&mut head)? > 0, "the server closed a connection");
    }
    let length = head.lines().filter_map(|line| line.split_once(": "));
    let length = length.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let (_, length) = length.context("an answer has no length")?;
    let mut body = vec![0; length.parse()?];
    socket.read_exact(&mut body)?;
    let body = String::from_utf8(body)?;
    ensure!(head.starts_with("HTTP/1.1 201"), "POST {path}: {head}{body}");
    Ok(body)
}
