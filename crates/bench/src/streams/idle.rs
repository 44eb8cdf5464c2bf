//! The cost of idle streams: the memory of the server, and the time of a write with and without them.

use std::time::{Duration, Instant};

use anyhow::ensure;
use cuepoint_adapters::event_hub::PER_USER;
use cuepoint_domain::ids::UserId;

use super::calls::{Calls, EVENTS};
use crate::context::Bench;
use crate::datasets::WRITTEN;
use crate::figures::{mebibytes, milliseconds, number};
use crate::load::clients::Clients;
use crate::load::record::{Record, Stage};
use crate::load::schedule::{Rate, Schedule};
use crate::markdown::{Column, Row};
use crate::operations::Store;
use crate::service::Service;
use crate::usage::Usage;

/// The maximum number of idle streams in a smoke test.
pub(super) const FEW_STREAMS: usize = 500;
/// Writes per second.
const PER_SECOND: u32 = 200;
/// The minimum time of counting: in it, the server sends a comment on each stream.
const AT_LEAST: Duration = Duration::from_secs(16);
/// The number of users that write and have no stream: one in twenty a DJ.
const WRITERS: usize = 200;

/// The name of the row without its store.
pub(super) const NAME: &str = "streams (idle)";
/// The text above the table.
pub(super) const TITLE: &str = "Idle: 200 writes per second, without streams and then with idle ones (wanted: memory with 10 000 less than 200 MiB):";
/// The columns of the table.
pub(super) const COLUMNS: [Column; 9] = [
    ("streams", 0),
    ("memory MiB without", 1),
    ("memory MiB with", 1),
    ("write p50 ms without", 2),
    ("write p50 ms with", 2),
    ("write p99 ms without", 2),
    ("write p99 ms with", 2),
    ("server CPU without", 3),
    ("server CPU with", 3),
];

/// The figures of writes.
struct Writes {
    p50: f64,
    p99: f64,
    /// CPU seconds of the server per second.
    server_cpu: f64,
}

/// Measures the row on a store with this number of streams. The second value says how many of them the server
/// ended.
pub(super) fn measure(bench: &Bench, store: Store, count: usize) -> anyhow::Result<(Row<9>, Option<String>)> {
    let users: Vec<UserId> = bench.population.users().collect();
    let (writers, idle) = users.split_at_checked(WRITERS).unwrap_or((&users, &[]));
    let most = idle.len().saturating_mul(PER_USER);
    ensure!(count <= most, "{} users can have {most} streams: use a larger scale", idle.len());
    let data = bench.dataset(store, WRITTEN)?;
    let service = bench.server(0, &bench.programs, &data)?;
    let mut calls = Calls::new(bench, writers.to_vec())?;
    let mut clients = Clients::new(service.address())?;
    let without = writes(bench, &service, &mut clients, &mut calls)?;
    let memory_without = service.process().memory()?;
    let tokens = bench.tokens.of(idle)?;
    let tokens: Vec<Option<&str>> =
        tokens.iter().map(|token| Some(token.as_str())).cycle().take(count).collect();
    service.process().forget_peak()?;
    clients.open(EVENTS, &tokens, |_| true)?;
    let with = writes(bench, &service, &mut clients, &mut calls)?;
    let memory_with = service.process().peak_memory()?;
    let ended = clients.ended();
    drop((clients, service));
    bench.verify_and_remove(&bench.programs, &data)?;
    let figures = [
        Some(number(u64::try_from(count)?)),
        Some(mebibytes(memory_without)),
        Some(mebibytes(memory_with)),
        Some(without.p50),
        Some(with.p50),
        Some(without.p99),
        Some(with.p99),
        Some(without.server_cpu),
        Some(with.server_cpu),
    ];
    let name = format!("{}: {NAME}", store.name());
    let loss =
        (ended > 0).then(|| format!("ENDED STREAMS: {name}: the server ended {ended} of {count} streams."));
    Ok((Row { name, figures }, loss))
}

/// Measures writes with the streams that are open.
fn writes(
    bench: &Bench,
    service: &Service,
    clients: &mut Clients,
    calls: &mut Calls,
) -> anyhow::Result<Writes> {
    let counted = bench.options.counted();
    let counted = if bench.options.smoke { counted } else { counted.max(AT_LEAST) };
    let rate = Rate { per_second: PER_SECOND, warm_up: bench.options.warm_up(), counted };
    let mut record = Record::new(rate.warm_up_calls(), None);
    let mut usage = Usage::of(bench, vec![service.process()], false);
    let schedule = Schedule::even(rate, Instant::now());
    let mut call = |number, into: &mut Vec<u8>| calls.write(number, into);
    clients.call(schedule, &mut call, &mut record, |moment| usage.record(moment))?;
    let (answers, (lasted, used)) = (record.between(Stage::Sent, Stage::Answered)?, usage.between()?);
    Ok(Writes {
        p50: milliseconds(&answers, 0.5),
        p99: milliseconds(&answers, 0.99),
        server_cpu: used.servers.as_secs_f64() / lasted.as_secs_f64(),
    })
}
