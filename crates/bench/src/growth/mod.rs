//! How cost grows with what there is: everything ten times over, and single wallets with a long history.

mod table;
mod wallets;

use clap::Args;

use crate::figures::Figures;
use crate::operations::{Operation, Store};
use crate::options::{Options, scale};
use crate::postgres::Cluster;
use crate::run::{Bench, Ours};
use crate::seeding::{Population, Scale};
use crate::table::Conditions;
use table::Growth;

/// At how many connections the scales are compared.
const CONNECTIONS: usize = 16;
/// Each is ten times the one before.
const SCALES: [&str; 3] = ["0.1", "1", "10"];
/// Beside which the long wallets are: whatever is slow there is so because of them.
const BESIDE: &str = "0.1";

/// What growth is measured of. `--scale` and `--connections` do not count here.
#[derive(Args, Clone, Debug)]
pub struct GrowthOptions {
    /// The largest of the scales 0.1, 1 and 10.
    #[arg(long, default_value = "10", value_parser = scale)]
    pub scale_max: Scale,
    /// Also a wallet of a million entries.
    #[arg(long)]
    pub million: bool,
    /// What every run is told.
    #[command(flatten)]
    pub options: Options,
}

/// One row at one size.
#[derive(Clone, Debug)]
struct Point {
    row: String,
    size: String,
    figures: Figures,
}

/// Measures it all, and gives the tables in Markdown.
///
/// # Errors
/// When anything fails, or an answer is no success, or the ledger is broken afterwards.
pub fn run(asked: &GrowthOptions) -> anyhow::Result<String> {
    let options = asked.options.clone().settled();
    let most = if options.smoke { Scale::parse(BESIDE)? } else { asked.scale_max };
    let mut scales = Vec::new();
    for text in SCALES {
        let scale = Scale::parse(text)?;
        if scale <= most {
            scales.extend(at_scale(&options, scale)?);
        }
    }
    let mut population = Population::at_scale(Scale::parse(BESIDE)?);
    if asked.million {
        population = population.with_a_million_entries();
    }
    let wallets = in_long_wallets(&options, population)?;
    let machine = Conditions::machine(&Cluster::connect(&options.postgres)?)?;
    Ok(Growth { machine, runs: options.runs, seconds: options.seconds, scales, wallets }.markdown())
}

/// Every operation on PostgreSQL at one scale.
fn at_scale(options: &Options, scale: Scale) -> anyhow::Result<Vec<Point>> {
    let connections = vec![CONNECTIONS];
    let bench = Bench::new(Options { scale, ..options.clone() }, Population::at_scale(scale))?;
    bench.prepare()?;
    let mut points = Vec::new();
    for operation in Operation::ALL.into_iter().filter(|operation| options.wants(operation.name())) {
        let name = operation.name().to_owned();
        let ours =
            Ours { name, operation, store: Store::Postgres, servers: 1, connections: connections.clone() };
        let mut several = Vec::new();
        for _ in 0..options.runs {
            several.extend(bench.measure(&ours, bench.programs())?.into_iter().map(|row| row.figures));
        }
        points.push(Point { row: ours.name, size: scale.to_string(), figures: Figures::median(&several) });
    }
    bench.clear()?;
    Ok(points)
}

/// What shows a wallet, for wallets of each length.
fn in_long_wallets(options: &Options, population: Population) -> anyhow::Result<Vec<Point>> {
    let bench = Bench::new(Options { scale: population.scale(), ..options.clone() }, population)?;
    bench.prepare()?;
    let points = wallets::measure(&bench, options.runs)?;
    bench.clear()?;
    Ok(points)
}
