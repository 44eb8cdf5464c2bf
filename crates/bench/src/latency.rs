//! Latency under open load: requests at half of the throughput of a closed loop, sent on a schedule whether or not
//! earlier ones are answered. Each latency counts from the time at which the request was due.

use std::time::{Duration, Instant};

use anyhow::Context;

use crate::context::Bench;
use crate::datasets::{READ, SEEDED, WRITTEN};
use crate::figures::{Quantiles, milliseconds};
use crate::limits::LIMITS;
use crate::load::open;
use crate::load::record::Stage::{Answered, Due, Sent};
use crate::load::schedule::{Rate, Schedule};
use crate::markdown::{Column, Row, medians};
use crate::operations::{Operation, Store};
use crate::options::Options;
use crate::table::Conditions;

/// The measured operations.
const OPERATIONS: [Operation; 4] =
    [Operation::PersonalInfo, Operation::List, Operation::Update, Operation::Withdrawal];
/// The stores of a server in production.
const STORES: [Store; 2] = [Store::Postgres, Store::Sqlite];
/// The duration of counting under open load, as a multiple of that of the closed loop.
const LONGER: u32 = 2;
/// The maximum of the 99.9th percentile of a read, in milliseconds.
const READS_WITHIN: f64 = 10.0;
/// The maximum of the 99.9th percentile of a write on PostgreSQL, as a multiple of that of pgbench.
const TIMES_PGBENCH: f64 = 1.5;
/// The columns of the table.
const COLUMNS: [Column; 7] = [
    ("requests per second", 0),
    ("p50 ms", 2),
    ("p99 ms", 2),
    ("p99.9 ms", 2),
    ("max ms", 2),
    ("p99.9 wanted", 2),
    ("sent late p99.9 ms", 2),
];

/// Measures the rows that the options select, and returns the table in Markdown.
///
/// # Errors
/// If a measurement fails, a response is not a success, or the ledger is inconsistent afterwards.
pub(crate) fn run(options: Options) -> anyhow::Result<String> {
    let options = options.settled();
    let bench = Bench::seeded(options)?;
    let rows: Vec<(Store, Operation)> = STORES
        .into_iter()
        .flat_map(|store| OPERATIONS.map(|operation| (store, operation)))
        .filter(|(store, operation)| bench.options.wants(&operation.row(*store)))
        .collect();
    if rows.iter().any(|(store, operation)| is_beside_pgbench(*store, *operation)) {
        bench.prepare_limits()?;
    }
    if rows.iter().any(|(store, _)| *store == Store::Sqlite) {
        bench.fill_file(&bench.programs)?;
        bench.directory(SEEDED).copy_to(bench.directory(READ).path().to_owned())?;
    }
    let mut measured = Vec::new();
    for run in 1..=bench.options.runs {
        for (store, operation) in &rows {
            let row = operation.row(*store);
            measured.extend(bench.latency(*store, *operation).with_context(|| row.clone())?);
            eprintln!("run {run}: {row} is measured");
        }
    }
    let conditions = Conditions::of(&bench.options, &bench.cluster)?;
    Ok(medians(COLUMNS, conditions.text(), &measured))
}

/// The row of latencies at a rate, with what is wanted, and the 99.9th percentile of the delay of the load generator.
fn row(name: &str, per_second: u32, of: Quantiles, wanted: Option<f64>, late: Option<f64>) -> Row<7> {
    let [p50, p99, p999, max] = [of.p50, of.p99, of.p999, of.max].map(Some);
    let figures = [Some(per_second.into()), p50, p99, p999, max, wanted, late];
    Row { name: name.to_owned(), figures }
}

impl Bench {
    /// Measures a row, and its limit at the same rate if it has one.
    fn latency(&self, store: Store, operation: Operation) -> anyhow::Result<Vec<Row<7>>> {
        let name = &operation.row(store);
        let (per_second, latencies, late) = self.under_open_load(store, operation)?;
        if !is_beside_pgbench(store, operation) {
            let wanted = operation.counted_by().is_none().then_some(READS_WITHIN);
            return Ok(vec![row(name, per_second, latencies, wanted, Some(late))]);
        }
        let limit = operation.limits(store).into_iter().next().context("there is no limit")?;
        let limit = LIMITS.iter().find(|one| one.name == limit.row).context("the limit is not pgbench's")?;
        let rate = self.rate(per_second);
        let of_limit = self.with_data(limit, |database| limit.measure_at(self, database, rate))?;
        let ours = row(name, per_second, latencies, Some(of_limit.p999 * TIMES_PGBENCH), Some(late));
        Ok(vec![ours, row(limit.name, per_second, of_limit, None, None)])
    }

    /// Measures a row; returns its rate, its latencies, and the 99.9th percentile of the delay of the load generator.
    fn under_open_load(&self, store: Store, operation: Operation) -> anyhow::Result<(u32, Quantiles, f64)> {
        let counted_by = operation.counted_by();
        let data = self.dataset(store, if counted_by.is_some() { WRITTEN } else { READ })?;
        let servers = [self.server(0, &self.programs, &data)?];
        let [server] = &servers;
        let mut requests = operation.requests(&self.population, &self.tokens)?;
        let (per_second, open) = self.with_effects(&data, counted_by, || {
            let connections = self.options.most_connections();
            let (closed, answers) = self.cell(&servers, connections, &mut requests, false)?;
            let per_second = half(closed.per_second);
            let schedule = Schedule::random(self.rate(per_second), Instant::now());
            let open = open::run(server.address(), schedule, &mut requests)?;
            let answers = answers.saturating_add(open.answered_calls());
            Ok(((per_second, open), answers))
        })?;
        drop(servers);
        if counted_by.is_some() {
            self.verify_and_remove(&self.programs, &data)?;
        }
        let delays = open.between(Due, Sent)?;
        Ok((per_second, Quantiles::of(&open.between(Due, Answered)?), milliseconds(&delays, 0.999)))
    }

    fn rate(&self, per_second: u32) -> Rate {
        // Connections are opened and statements prepared meanwhile.
        let warm_up = self.options.warm_up().max(Duration::from_millis(500));
        Rate { per_second, warm_up, counted: self.options.counted().saturating_mul(LONGER) }
    }
}

/// Whether pgbench runs at the rate of a row: those of SQLite may be beyond it.
fn is_beside_pgbench(store: Store, operation: Operation) -> bool {
    store == Store::Postgres && operation.counted_by().is_some()
}

/// Half of a throughput.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates, and throughput is positive"
)]
fn half(per_second: f64) -> u32 {
    (per_second / 2.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_its_rate_and_its_latencies() {
        let latencies = Quantiles { p50: 0.5, p99: 2.0, p999: 4.25, max: 9.0 };
        let row = row("sqlite: list", half(15_001.0), latencies, Some(READS_WITHIN), Some(0.25));
        let expected = "\
Requests:

| row          | requests per second | p50 ms | p99 ms | p99.9 ms | max ms | p99.9 wanted | sent late p99.9 ms |
|--------------|--------------------:|-------:|-------:|---------:|-------:|-------------:|-------------------:|
| sqlite: list |                7500 |   0.50 |   2.00 |     4.25 |   9.00 |        10.00 |               0.25 |

";
        assert_eq!(medians(COLUMNS, "Requests:", &[row]), expected);
    }
}
