//! The program behind `cargo xtask bench`: benchmarks of Cuepoint, compared with the limits of the platform it runs on.
//!
//! Reading order: `seeding` (the data), `limits`, `file_limits` and `operations` (the rows that are measured), `load`
//! (requests and responses), `processes` (resource usage), `run` (the whole sequence), `table`, `growth`, `latency`,
//! `streams`, `gigs`, `pages`, `instructions`.

mod bare;
mod comparison;
mod context;
mod data_directory;
mod datasets;
mod document;
mod figures;
mod file_limits;
mod gig_scene;
mod gigs;
mod growth;
mod guest_accounts;
mod instructions;
mod latency;
mod limits;
mod load;
mod machine;
mod markdown;
mod memory;
mod operations;
mod options;
mod pages;
mod pgbench;
mod postgres;
mod processes;
mod run;
mod seeding;
mod service;
mod single_calls;
mod storage_copy;
mod streams;
mod table;
mod tokens;
mod usage;

use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};
use tokio::runtime::Runtime;

use document::{Part, Report};
use growth::GrowthOptions;
use options::Options;
use seeding::{Population, Scale, seed_postgres};
use streams::StreamsOptions;

/// Measures Cuepoint against the limits of the platform it runs on.
#[derive(Parser)]
#[command(name = "cargo xtask bench")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure every row, and print the table.
    #[command(
        override_usage = "cargo xtask bench [OPTIONS]",
        after_help = "`--latency` measures latency under open load, `--growth` how cost grows with the amount of data, \
                      `--streams` streams of events, `--gigs` gigs and boards, `--pages` pages beside the API, `--instructions` counts \
                      instructions per request; each lists its options with `--help`."
    )]
    Run(Options),
    /// Measure latency under open load, and print the table: requests at half of the throughput of a closed loop, which
    /// the highest number of `--connections` makes, and writes beside pgbench at the same rate.
    ///
    /// Open load is counted for twice as long as the closed loop. `--against` has no effect.
    #[command(override_usage = "cargo xtask bench --latency [OPTIONS]")]
    Latency(Options),
    /// Measure how cost grows with the amount of data, and print the tables.
    Growth(GrowthOptions),
    /// Measure streams of events, and print the tables: `streams (delivery)`, the time from a commit to its
    /// events on 1 000 streams at 500 commits per second, and `streams (idle)`, the memory of idle streams and the
    /// time of a write with and without them.
    ///
    /// Each row exists for every store. `--rows "sqlite: streams"` selects both rows of one store. `--connections`
    /// and `--write` have no effect, `--scale` is at least 0.2.
    #[command(override_usage = "cargo xtask bench --streams [OPTIONS]")]
    Streams(StreamsOptions),
    /// Measure gigs, and print the table: requests in a gig, a board with 300 open requests that 300 clients read, and
    /// 1 000 streams of one board.
    ///
    /// `--rows "sqlite: gigs"` selects one store. `--write` and `--against` have no effect.
    #[command(override_usage = "cargo xtask bench --gigs [OPTIONS]")]
    Gigs(Options),
    /// Measure pages beside the calls of the API with the same data, and print the table: the pages of a gig with 300
    /// open requests, and wallets. The median latency is measured at the lowest number of `--connections`, the
    /// throughput at the highest one.
    ///
    /// `--rows "sqlite: pages"` selects one store. `--against` has no effect.
    #[command(override_usage = "cargo xtask bench --pages [OPTIONS]")]
    Pages(Options),
    /// Count instructions per request with callgrind, and print the table.
    ///
    /// `--against` also counts those of another build. `--runs`, `--seconds` and `--connections` have no effect.
    #[command(override_usage = "cargo xtask bench --instructions [OPTIONS]")]
    Instructions(Options),
    /// Seed an empty database, to inspect query plans by hand.
    Seed {
        /// URL of the database.
        #[arg(long)]
        url: String,
        /// Amount of data: 1 is 10 000 users with 200 000 requests.
        #[arg(long, default_value = "1")]
        scale: Scale,
        /// Also seed a wallet of a million entries.
        #[arg(long)]
        million: bool,
    },
    /// Serve 500 bytes of fixed JSON until killed.
    #[command(hide = true)]
    ServeBare,
    /// Serve the application on a seeded in-memory store until killed.
    #[command(hide = true)]
    ServeMemory {
        /// Amount of data.
        #[arg(long)]
        scale: Scale,
    },
}

fn main() -> ExitCode {
    match execute(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(options) if options.against.is_some() => println!("{}", comparison::run(options)?),
        Command::Run(options) => {
            return print_or_write(&options, Part::Table, &run::run(options.clone())?.report());
        }
        Command::Latency(options) => {
            let report = Report { kept: latency::run(options.clone())?, further: String::new() };
            return print_or_write(&options, Part::Latency, &report);
        }
        Command::Growth(asked) => return print_or_write(&asked.options, Part::Growth, &growth::run(&asked)?),
        Command::Streams(asked) => println!("{}", streams::run(&asked)?),
        Command::Gigs(options) => println!("{}", gigs::run(options)?),
        Command::Pages(options) => {
            let report = Report { kept: pages::run(options.clone())?, further: String::new() };
            return print_or_write(&options, Part::Pages, &report);
        }
        Command::Instructions(options) => println!("{}", instructions::run(options)?),
        Command::Seed { url, scale, million } => {
            let population = Population::at_scale(scale);
            let population = if million { population.with_a_million_entries() } else { population };
            return Runtime::new()?.block_on(seed_postgres(&url, &population));
        }
        Command::ServeBare => return bare::serve(),
        Command::ServeMemory { scale } => return memory::serve_population(&Population::at_scale(scale)),
    }
    Ok(())
}

/// Prints the results of a run, and writes their part of the document if requested.
fn print_or_write(options: &Options, part: Part, report: &Report) -> anyhow::Result<()> {
    println!("{}{}", report.kept, report.further);
    if !options.write {
        return Ok(());
    }
    document::write(&options.document, part, &report.kept).context("--write")
}
