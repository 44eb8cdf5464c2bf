//! Pages: the time of the server for a page beside that of the API calls with the same data, in the same run.
//!
//! A gig has 300 open requests of different guests, 20 of them accepted. Thirty of these guests and the DJ log in by the
//! form, and read their pages with the cookie of the session. The calls have tokens of the same users. A page with
//! several calls is compared with their sum. A part is read without the digest of an earlier one, so that it is always
//! sent. Browsers take pages in gzip, and the API sends JSON as it is: a row of its own contains the compression. No call
//! has the song titles that a guest page suggests.

mod comparisons;
mod log_in;

use anyhow::Context;

use crate::context::Bench;
use crate::datasets::{MAX_CALLS, WRITTEN};
use crate::figures::{Figures, number};
use crate::gig_scene::{fill, open_gigs};
use crate::load::requests::at_random;
use crate::markdown::{Column, Row, medians};
use crate::operations::Store;
use crate::options::Options;
use crate::service::Service;
use crate::table::Conditions;

use comparisons::{Comparison, Readers};

/// Limits that the benchmark never reaches.
const SETTINGS: [(&str, &str); 3] = [
    ("CUEPOINT__RATE_LIMITS__BOARDS_PER_MINUTE", MAX_CALLS),
    ("CUEPOINT__RATE_LIMITS__PAGES_PER_MINUTE", MAX_CALLS),
    ("CUEPOINT__GIGS__MAX_OPEN", "1000"),
];

/// The columns of the table.
const COLUMNS: [Column; 10] = [
    ("API calls", 0),
    ("their p50 ms", 2),
    ("p50 ms", 2),
    ("× p50", 2),
    ("they per second", 0),
    ("per second", 0),
    ("× time", 2),
    ("their CPU", 3),
    ("CPU", 3),
    ("× CPU", 2),
];

/// Measures the rows of the stores that the options select, and returns the table in Markdown.
///
/// # Errors
/// If a measurement fails, a response is not a success, or the ledger is inconsistent afterwards.
pub(crate) fn run(options: Options) -> anyhow::Result<String> {
    let (bench, stores) = Bench::with_stores(options.settled(), "pages")?;
    let mut rows = Vec::new();
    for run in 1..=bench.options.runs {
        for store in &stores {
            rows.extend(measure(&bench, *store).with_context(|| store.name())?);
            eprintln!("run {run}: pages on {} are measured", store.name());
        }
    }
    let conditions = Conditions::of(&bench.options, &bench.cluster)?;
    let (fewest, most) = (bench.options.fewest_connections(), bench.options.most_connections());
    let title = format!(
        "{} p50 at {fewest} connection(s), requests per second and CPU at {most}. Wanted: × at most 2.",
        conditions.text()
    );
    Ok(medians(COLUMNS, &title, &rows))
}

/// Measures the rows on a store.
fn measure(bench: &Bench, store: Store) -> anyhow::Result<Vec<Row<10>>> {
    let data = bench.dataset(store, WRITTEN)?;
    let servers = [bench.server_with(0, &bench.programs, &data, &SETTINGS)?];
    let [server] = &servers;
    let dj = bench.population.djs().next().context("there is no DJ")?;
    let gig = open_gigs(bench, server, &[dj])?.pop().context("no gig is open")?;
    fill(bench, server, &gig)?;
    let readers = Readers::log_in(bench, server, &gig)?;
    let mut rows = Vec::new();
    for comparison in readers.comparisons() {
        rows.extend(
            compare(bench, store, &servers, &comparison).with_context(|| comparison.name.to_owned())?,
        );
    }
    drop(servers);
    bench.verify_and_remove(&bench.programs, &data)?;
    Ok(rows)
}

/// The cost of one reading of the data.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// The median latency with the fewest connections, in milliseconds.
    p50: f64,
    /// The time of one reading at the highest throughput, in seconds.
    time: f64,
    /// CPU seconds of the server and the database per 1000 readings.
    cpu: f64,
}

impl Cost {
    /// The cost of both readings, one after the other.
    fn and(self, other: Self) -> Self {
        Self { p50: self.p50 + other.p50, time: self.time + other.time, cpu: self.cpu + other.cpu }
    }
}

/// Measures a page, as it is and compressed, beside the calls.
fn compare(
    bench: &Bench,
    store: Store,
    servers: &[Service],
    comparison: &Comparison,
) -> anyhow::Result<Vec<Row<10>>> {
    let cost = |requests: &[Vec<u8>]| cost(bench, store, servers, requests);
    let mut calls = Cost::default();
    for call in &comparison.calls {
        calls = calls.and(cost(call)?);
    }
    let count = number(u64::try_from(comparison.calls.len())?);
    let row = |name: String, page: Cost| Row {
        name: format!("{}: {name}", store.name()),
        figures: [
            count,
            calls.p50,
            page.p50,
            page.p50 / calls.p50,
            calls.time.recip(),
            page.time.recip(),
            page.time / calls.time,
            calls.cpu,
            page.cpu,
            page.cpu / calls.cpu,
        ]
        .map(Some),
    };
    let plain = row(comparison.name.to_owned(), cost(&comparison.plain)?);
    let compressed = row(format!("{}, gzip", comparison.name), cost(&comparison.compressed)?);
    Ok(vec![plain, compressed])
}

/// Measures random ones of these requests.
fn cost(bench: &Bench, store: Store, servers: &[Service], requests: &[Vec<u8>]) -> anyhow::Result<Cost> {
    let is_on_database = store == Store::Postgres;
    let cell = |connections| -> anyhow::Result<Figures> {
        Ok(bench.cell(servers, connections, &mut at_random(requests), is_on_database)?.0)
    };
    let few = cell(bench.options.fewest_connections())?;
    let many = cell(bench.options.most_connections())?;
    let cpu = many.server_cpu.unwrap_or_default() + many.database_cpu.unwrap_or_default();
    Ok(Cost { p50: few.p50, time: many.per_second.recip(), cpu })
}
