//! Growth of cost with the amount of data: ten times as much of everything, and wallets with a long history.

mod feeds;
mod table;
mod wallets;

use clap::Args;

use crate::context::Bench;
use crate::document::Report;
use crate::figures::Figures;
use crate::operations::{Operation, Store};
use crate::options::Options;
use crate::postgres::Cluster;
use crate::run::Ours;
use crate::seeding::{Population, Scale};
use crate::table::Conditions;
use table::Growth;

/// The number of connections at which the scales are compared.
const CONNECTIONS: usize = 16;
/// The scales, each ten times the one before.
const SCALES: [Scale; 3] = [Scale::TENTH, Scale::ONE, Scale::TEN];
/// The numbers of operations at which a feed is measured, for the same scales.
const OPERATIONS: [i64; 3] = [100_000, 1_000_000, 10_000_000];
/// The scale at which long wallets are measured: small, so that only their length can make them slow.
const BESIDE: Scale = Scale::TENTH;

/// The options of a growth run, in which `--scale` and `--connections` have no effect.
#[derive(Args, Clone, Debug)]
pub(crate) struct GrowthOptions {
    /// The largest of the scales 0.1, 1 and 10.
    #[arg(long, default_value = "10")]
    pub(crate) scale_max: Scale,
    /// Also measure a wallet of a million entries.
    #[arg(long)]
    pub(crate) million: bool,
    /// The options of every run.
    #[command(flatten)]
    pub(crate) options: Options,
}

/// One row at one size.
#[derive(Clone, Debug)]
struct Point {
    row: String,
    size: String,
    figures: Figures,
}

/// Measures every point, and returns the tables.
///
/// # Errors
/// If a measurement fails, a response is not a success, or the ledger is inconsistent afterwards.
pub(crate) fn run(asked: &GrowthOptions) -> anyhow::Result<Report> {
    let options = asked.options.clone().settled();
    let most = if options.smoke { BESIDE } else { asked.scale_max };
    let mut scales = Vec::new();
    for scale in SCALES {
        if scale <= most {
            scales.extend(at_scale(&options, scale)?);
        }
    }
    let mut population = Population::at_scale(BESIDE);
    if asked.million {
        population = population.with_a_million_entries();
    }
    let wallets = in_long_wallets(&options, population)?;
    let feeds = if options.wants(feeds::ROW) { in_long_logs(&options, most)? } else { Vec::new() };
    let machine = Conditions::machine(&Cluster::connect(&options.postgres)?)?;
    Ok(Growth { machine, runs: options.runs, seconds: options.seconds, scales, wallets, feeds }.report())
}

/// Measures every operation on PostgreSQL at one scale.
fn at_scale(options: &Options, scale: Scale) -> anyhow::Result<Vec<Point>> {
    let connections = vec![CONNECTIONS];
    let bench = Bench::seeded(Options { scale, ..options.clone() })?;
    let mut points = Vec::new();
    for operation in Operation::ALL.into_iter().filter(|operation| options.wants(operation.name())) {
        let name = operation.name().to_owned();
        let ours =
            Ours { name, operation, store: Store::Postgres, servers: 1, connections: connections.clone() };
        let mut several = Vec::new();
        for _ in 0..options.runs {
            several.extend(bench.measure(&ours, &bench.programs)?.into_iter().map(|row| row.figures));
        }
        points.push(Point { row: ours.name, size: scale.to_string(), figures: Figures::median(&several) });
    }
    bench.clear()?;
    Ok(points)
}

/// Measures the wallet operations on wallets of each length.
fn in_long_wallets(options: &Options, population: Population) -> anyhow::Result<Vec<Point>> {
    let bench = Bench::new(Options { scale: population.scale(), ..options.clone() }, population)?;
    bench.prepare()?;
    let points = wallets::measure(&bench, options.runs)?;
    bench.clear()?;
    Ok(points)
}

/// Measures a feed in logs of operations of each length.
fn in_long_logs(options: &Options, most: Scale) -> anyhow::Result<Vec<Point>> {
    let bench = Bench::seeded(Options { scale: BESIDE, ..options.clone() })?;
    let mut numbers = Vec::new();
    for (scale, number) in SCALES.into_iter().zip(OPERATIONS) {
        if scale <= most {
            numbers.push(number);
        }
    }
    let points = feeds::measure(&bench, &numbers, options.runs)?;
    bench.clear()?;
    Ok(points)
}
