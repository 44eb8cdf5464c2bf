//! Guests who scan a code: each creation of a guest account with its first request in a gig, as one step.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use cuepoint_domain::ids::UserId;
use hdrhistogram::Histogram;
use ureq::http::Response;

use crate::figures::{Figures, latencies, number};
use crate::single_calls::{call, client, field, song};

/// Measures the steps on these connections for this time, in the gigs of these DJs.
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
    Ok(Figures::of(number(all.len()) / took.as_secs_f64(), &all))
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
    let client = client();
    let post = |path: &str, header: (&str, &str), body: &str| {
        let headers = [header, ("Content-Type", "application/json")];
        call(&client, server, "POST", path, &headers, body).map(Response::into_body)
    };
    let mut rng = fastrand::Rng::with_seed(u64::try_from(connection)?);
    while began.elapsed() < lasting {
        let sent = Instant::now();
        let key = format!("{:032x}", rng.u128(..));
        let session = post("/api/v1/auth/guest", ("Idempotency-Key", &key), "{}")?;
        let token = format!("Bearer {}", field(&session, "access_token")?);
        let dj = rng.choice(djs).context("there is no DJ")?;
        post("/api/v1/music/requests", ("Authorization", &token), &song(*dj, "Blue Monday", "upcoming", ""))?;
        latencies.saturating_record(u64::try_from(sent.elapsed().as_micros())?);
    }
    Ok(latencies)
}
