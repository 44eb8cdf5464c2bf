//! Streams of events: the time to deliver events, and the cost of idle streams.

mod calls;
mod delivery;
mod idle;

use anyhow::Context;
use clap::Args;

use crate::context::Bench;
use crate::markdown::{self, medians};
use crate::operations::Store;
use crate::options::Options;
use crate::table::Conditions;

/// The options of a run, in which `--connections` and `--write` have no effect.
#[derive(Args, Clone, Debug)]
pub(crate) struct StreamsOptions {
    /// Number of idle streams; the server holds up to two open files for each.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) idle: usize,
    /// The options of every run.
    #[command(flatten)]
    pub(crate) options: Options,
}

/// Measures the rows that the options select, and returns the tables in Markdown.
///
/// # Errors
/// If a measurement fails, a response is not a success, or the ledger is inconsistent afterwards.
pub(crate) fn run(asked: &StreamsOptions) -> anyhow::Result<String> {
    let options = asked.options.clone().settled();
    let idle_streams = if options.smoke { asked.idle.min(idle::FEW_STREAMS) } else { asked.idle };
    let bench = Bench::seeded(options)?;
    let (delivery, idle) = (bench.stores(delivery::NAME), bench.stores(idle::NAME));
    if delivery.iter().chain(&idle).any(|store| *store == Store::Sqlite) {
        bench.fill_file(&bench.programs)?;
    }
    let (mut deliveries, mut idles, mut losses) = (Vec::new(), Vec::new(), Vec::new());
    for run in 1..=bench.options.runs {
        for store in &delivery {
            let (row, loss) =
                delivery::measure(&bench, *store).with_context(|| failed(&bench, delivery::NAME))?;
            printed(run, &row, loss.as_deref());
            deliveries.push(row);
            losses.extend(loss);
        }
        for store in &idle {
            let (row, loss) =
                idle::measure(&bench, *store, idle_streams).with_context(|| failed(&bench, idle::NAME))?;
            printed(run, &row, loss.as_deref());
            idles.push(row);
            losses.extend(loss);
        }
    }
    let losses: String = losses.iter().map(|loss| format!("**{loss}**\n\n")).collect();
    let conditions = Conditions::of(&bench.options, &bench.cluster)?;
    let delivery = medians(delivery::COLUMNS, delivery::TITLE, &deliveries);
    let idle = medians(idle::COLUMNS, idle::TITLE, &idles);
    Ok(format!("{}\n\n{losses}{delivery}{idle}", conditions.text()))
}

/// The row that failed, and where the server says more about it.
fn failed(bench: &Bench, row: &str) -> String {
    format!("{row} (the servers log into {})", bench.options.folder.display())
}

/// Prints a measured row as progress, and what was lost.
fn printed<const COLUMNS: usize>(run: u32, row: &markdown::Row<COLUMNS>, loss: Option<&str>) {
    eprintln!("run {run}: {} is measured", row.name);
    if let Some(loss) = loss {
        eprintln!("{loss}");
    }
}
