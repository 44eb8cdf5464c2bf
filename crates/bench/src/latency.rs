//! Latency under open load: requests at half of the throughput of a closed loop, sent on a schedule whether or not
//! earlier ones are answered. Each latency counts from the time at which the request was due.

use std::time::{Duration, Instant};

use anyhow::Context;

use crate::context::Bench;
use crate::datasets::{READ, SEEDED, WRITTEN};
use crate::figures::{Quantiles, milliseconds};
use crate::limits::LIMITS;
use crate::load::open;
use crate::load::schedule::{Rate, Schedule};
use crate::medians::{self, Column};
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

/// The latencies of a row at a rate.
struct Row {
    name: String,
    per_second: u32,
    latencies: Quantiles,
    /// The 99.9th percentile of the delay of the load generator.
    late: Option<f64>,
    wanted: Option<f64>,
}

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
            let latencies = bench.latency(*store, *operation).with_context(|| row.clone())?;
            measured.extend(latencies.into_iter().map(Row::figures));
            eprintln!("run {run}: {row} is measured");
        }
    }
    let conditions = Conditions::of(&bench.options, &bench.cluster)?;
    Ok(medians::markdown(COLUMNS, conditions.text(), &measured))
}

impl Row {
    fn figures(self) -> medians::Row<7> {
        let Quantiles { p50, p99, p999, max } = self.latencies;
        let [p50, p99, p999, max] = [p50, p99, p999, max].map(Some);
        let figures = [Some(self.per_second.into()), p50, p99, p999, max, self.wanted, self.late];
        medians::Row { name: self.name, figures }
    }
}

impl Bench {
    /// Measures a row, and its limit at the same rate if it has one.
    fn latency(&self, store: Store, operation: Operation) -> anyhow::Result<Vec<Row>> {
        let row = self.under_open_load(store, operation)?;
        if !is_beside_pgbench(store, operation) {
            let wanted = operation.counted_by().is_none().then_some(READS_WITHIN);
            return Ok(vec![Row { wanted, ..row }]);
        }
        let limit = self.limit_at(operation, row.per_second)?;
        let wanted = Some(limit.latencies.p999 * TIMES_PGBENCH);
        Ok(vec![Row { wanted, ..row }, limit])
    }

    fn under_open_load(&self, store: Store, operation: Operation) -> anyhow::Result<Row> {
        let counted_by = operation.counted_by();
        let data = self.dataset(store, if counted_by.is_some() { WRITTEN } else { READ })?;
        let servers = [self.server(0, &self.programs, &data)?];
        let [server] = &servers;
        let mut requests = operation.requests(&self.population, &self.tokens)?;
        let (rate, open) = self.with_effects(&data, counted_by, || {
            let connections = self.options.most_connections();
            let (closed, answers) = self.cell(&servers, connections, &mut requests, false)?;
            let rate = self.rate(half(closed.per_second));
            let open = open::run(server.address(), Schedule::random(rate, Instant::now()), &mut requests)?;
            let answers = answers.saturating_add(open.all);
            Ok(((rate, open), answers))
        })?;
        drop(servers);
        if counted_by.is_some() {
            self.verify(&self.programs, &data)?;
            self.remove(&data)?;
        }
        Ok(Row {
            name: operation.row(store),
            per_second: rate.per_second,
            latencies: Quantiles::of(&open.latencies),
            late: Some(milliseconds(&open.delays, 0.999)),
            wanted: None,
        })
    }

    /// Measures the limit of an operation on PostgreSQL at a rate.
    fn limit_at(&self, operation: Operation, per_second: u32) -> anyhow::Result<Row> {
        let limit = operation.limits(Store::Postgres).into_iter().next().context("there is no limit")?;
        let limit = LIMITS.iter().find(|one| one.name == limit.row).context("the limit is not pgbench's")?;
        let (sessions, rate) = (self.options.most_connections(), self.rate(per_second));
        let latencies = self.with_data(limit, |database| {
            limit.measure_at(&self.pgbench, &self.cluster, database, &self.population, sessions, rate)
        })?;
        Ok(Row { name: limit.name.to_owned(), per_second, latencies, late: None, wanted: None })
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
        let row = Row {
            name: "sqlite: list".to_owned(),
            per_second: half(15_001.0),
            latencies: Quantiles { p50: 0.5, p99: 2.0, p999: 4.25, max: 9.0 },
            late: Some(0.25),
            wanted: Some(READS_WITHIN),
        };
        let expected = "\
Requests:

| row          | requests per second | p50 ms | p99 ms | p99.9 ms | max ms | p99.9 wanted | sent late p99.9 ms |
|--------------|--------------------:|-------:|-------:|---------:|-------:|-------------:|-------------------:|
| sqlite: list |                7500 |   0.50 |   2.00 |     4.25 |   9.00 |        10.00 |               0.25 |

";
        assert_eq!(medians::markdown(COLUMNS, "Requests:", &[row.figures()]), expected);
    }
}
