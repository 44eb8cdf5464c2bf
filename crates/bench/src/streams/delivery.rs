//! The time from a commit to the events on the streams of both involved users.

use std::time::{Duration, Instant};

use anyhow::ensure;

use super::calls::{Calls, EVENTS, number_in};
use crate::context::Bench;
use crate::datasets::WRITTEN;
use crate::figures::{mebibytes, milliseconds, number};
use crate::load::clients::Clients;
use crate::load::record::Record;
use crate::load::record::Stage::{Answered, Delivered, Due, Sent};
use crate::load::schedule::{Rate, Schedule};
use crate::markdown::{Column, Row};
use crate::operations::Store;
use crate::usage::Usage;

/// The number of open streams, each of another user.
const STREAMS: usize = 1_000;
/// The number of open streams in a smoke test.
const FEW_STREAMS: usize = 100;
/// Calls per second.
const PER_SECOND: u32 = 500;

/// The name of the row without its store.
pub(super) const NAME: &str = "streams (delivery)";
/// The text above the table.
pub(super) const TITLE: &str =
    "Delivery: 500 requests per second, each about two of 1 000 open streams (wanted: p99 less than 50 ms):";
/// The columns of the table.
pub(super) const COLUMNS: [Column; 15] = [
    ("streams", 0),
    ("expected", 0),
    ("received", 0),
    ("p50 ms after sending", 2),
    ("p99 ms after sending", 2),
    ("max ms after sending", 2),
    ("p50 ms after answer", 2),
    ("p99 ms after answer", 2),
    ("max ms after answer", 2),
    ("answer p99 ms", 2),
    ("sent late max ms", 2),
    ("server CPU", 3),
    ("database CPU", 3),
    ("load CPU", 3),
    ("memory MiB", 1),
];

/// Measures the row on a store. The second value says which events were lost or duplicated.
pub(super) fn measure(bench: &Bench, store: Store) -> anyhow::Result<(Row<15>, Option<String>)> {
    let count = if bench.options.smoke { FEW_STREAMS } else { STREAMS };
    let users: Vec<_> = bench.population.users().take(count).collect();
    ensure!(users.len() == count, "{count} users need a larger scale");
    let rate =
        Rate { per_second: PER_SECOND, warm_up: bench.options.warm_up(), counted: bench.options.counted() };
    let data = bench.dataset(store, WRITTEN)?;
    let service = bench.server(0, &bench.programs, &data)?;
    let mut calls = Calls::new(bench, users)?;
    let mut clients = Clients::new(service.address())?;
    let tokens: Vec<Option<&str>> = calls.tokens().iter().map(|token| Some(token.as_str())).collect();
    clients.open(EVENTS, &tokens, |_| true)?;
    let mut record = Record::new(rate.warm_up_calls(), Some(number_in));
    let mut usage = Usage::of(bench, vec![service.process()], store == Store::Postgres);
    service.process().forget_peak()?;
    let schedule = Schedule::even(rate, Instant::now());
    let mut call = |number, into: &mut Vec<u8>| calls.write(number, into);
    clients.call(schedule, &mut call, &mut record, |moment| usage.record(moment))?;
    let (lasted, used) = usage.between()?;
    let cpu = |cpu: Duration| cpu.as_secs_f64() / lasted.as_secs_f64();
    let memory = mebibytes(service.process().peak_memory()?);
    let ended = clients.ended();
    drop((clients, service));
    bench.verify_and_remove(&bench.programs, &data)?;
    let (since_sent, since_answer) = (record.between(Sent, Delivered)?, record.between(Answered, Delivered)?);
    let figures = [
        Some(number(u64::try_from(count)?)),
        Some(number(record.expected)),
        Some(number(record.received)),
        Some(milliseconds(&since_sent, 0.5)),
        Some(milliseconds(&since_sent, 0.99)),
        Some(milliseconds(&since_sent, 1.0)),
        Some(milliseconds(&since_answer, 0.5)),
        Some(milliseconds(&since_answer, 0.99)),
        Some(milliseconds(&since_answer, 1.0)),
        Some(milliseconds(&record.between(Sent, Answered)?, 0.99)),
        Some(milliseconds(&record.between(Due, Sent)?, 1.0)),
        Some(cpu(used.servers)),
        used.database.map(cpu),
        Some(cpu(used.load)),
        Some(memory),
    ];
    let name = format!("{}: {NAME}", store.name());
    let loss = loss(&name, &record, ended);
    Ok((Row { name, figures }, loss))
}

/// Says which events were lost or duplicated, if any were.
fn loss(name: &str, record: &Record, ended: usize) -> Option<String> {
    let Record { expected, received, unexpected, .. } = record;
    let is_exact = received == expected && *unexpected == 0 && ended == 0;
    (!is_exact).then(|| {
        format!(
            "WRONG EVENTS: {name}: {received} of {expected} expected events were received, {unexpected} \
             unexpected ones, and the server ended {ended} streams."
        )
    })
}
