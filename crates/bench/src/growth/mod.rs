//! Growth of cost with the amount of data: ten times as much of everything, and wallets with a long history.

mod feeds;
mod table;
mod wallets;

use anyhow::Context;
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

/// The number of connections at which the scales are compared.
const CONNECTIONS: usize = 16;
/// The scales, each ten times the one before, and the numbers of operations at which a feed is measured for each.
const SCALES: [(Scale, i64); 3] =
    [(Scale::TENTH, 100_000), (Scale::ONE, 1_000_000), (Scale::TEN, 10_000_000)];
/// The scale at which long wallets and feeds are measured: small, so that only their length can make them slow.
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
    let sizes = SCALES.into_iter().filter(|(scale, _)| *scale <= most);
    let (mut scales, mut feeds) = (Vec::new(), Vec::new());
    for (scale, _) in sizes.clone() {
        scales.extend(at_scale(&options, scale)?);
    }
    let beside = Options { scale: BESIDE, ..options.clone() };
    let population = Population::at_scale(BESIDE);
    let population = if asked.million { population.with_a_million_entries() } else { population };
    let bench = Bench::seeded_with(beside.clone(), population)?;
    let wallets = wallets::measure(&bench)?;
    bench.clear()?;
    if options.wants(feeds::ROW) {
        let bench = Bench::seeded(beside)?;
        feeds = feeds::measure(&bench, sizes.map(|(_, operations)| operations))?;
        bench.clear()?;
    }
    let machine = Conditions::machine(&Cluster::connect(&options.postgres)?)?;
    Ok(table::report(&machine, &options, &scales, &wallets, &feeds))
}

/// Measures every operation on PostgreSQL at one scale.
fn at_scale(options: &Options, scale: Scale) -> anyhow::Result<Vec<Point>> {
    let bench = Bench::seeded(Options { scale, ..options.clone() })?;
    let mut points = Vec::new();
    for operation in Operation::ALL.into_iter().filter(|operation| options.wants(operation.name())) {
        let (name, connections) = (operation.name().to_owned(), vec![CONNECTIONS]);
        let ours = Ours { name, operation, store: Store::Postgres, servers: 1, connections };
        let figures = bench.median(|| {
            let row = bench.measure(&ours, &bench.programs)?.pop().context("nothing was measured")?;
            Ok(row.figures)
        })?;
        points.push(Point { row: ours.name, size: scale.to_string(), figures });
    }
    bench.clear()?;
    Ok(points)
}
