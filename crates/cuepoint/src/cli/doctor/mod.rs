//! `cuepoint doctor`: checks a deployment, also while its server runs. It writes and removes one file in the data
//! directory, to measure the disk. It changes nothing else, except that SQLite copies the log of a killed server into the
//! database, as at the next start.

mod configuration;
mod echo;
mod machine;
mod network;
mod providers;
mod report;

use cuepoint_domain::ports::{Clock, Diagnosis, Thoroughness};

use crate::cli::{ledger_verify, sentences};
use crate::composition;
use crate::config::{Layers, Options, Settings};
use cuepoint_adapters::clock::SystemClock;
use cuepoint_adapters::observability::telemetry;
use echo::EchoClient;
use report::DoctorReport;

/// Help on the exit status.
pub(crate) const AFTER_HELP: &str = "Run it as the user of the service.\n\nExit status:\n  0  no check failed\n  1  a check failed\n  2  wrong usage";

/// How to check, and how to show it.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct DoctorArguments {
    /// Also read all pages of a large SQLite database, and verify the ledger.
    #[arg(long)]
    full: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Checks the deployment of this configuration, prints a line for each check, and returns the exit status.
///
/// # Errors
/// When the result cannot be printed.
pub(crate) async fn run(options: Options, arguments: DoctorArguments) -> anyhow::Result<u8> {
    let mut report = DoctorReport::new(arguments.json);
    match settings(options) {
        Ok(settings) => check(&settings, arguments.full, &mut report).await?,
        Err(error) => report.extend(configuration::problems(&sentences(&error)))?,
    }
    report.finish()
}

fn settings(options: Options) -> anyhow::Result<Settings> {
    telemetry::configured_filter()?;
    Ok(Layers::of_process(options)?.settings()?)
}

async fn check(settings: &Settings, is_full: bool, report: &mut DoctorReport) -> anyhow::Result<()> {
    let now = || SystemClock.now();
    report.extend(configuration::check(settings))?;
    let keys = configuration::keys(settings, now());
    report.extend(keys.found)?;
    let backend = composition::backend(settings);
    let thoroughness = if is_full { Thoroughness::Full } else { Thoroughness::Usual };
    report.extend(backend.diagnose(thoroughness, now()).await)?;
    if let Some(directory) = backend.data_directory() {
        report.extend(machine::disk(&directory))?;
    }
    let echoes = keys.signing.and_then(|keys| EchoClient::new(keys, now()));
    let server = network::server(settings, echoes.as_ref()).await;
    report.extend(machine::limits(settings, server.open_files))?;
    report.extend(server.found)?;
    report.extend(network::public_url(settings, echoes.as_ref(), server.runs, now()).await)?;
    report.extend(providers::check(settings, now()).await)?;
    if is_full && backend.is_durable() {
        report.extend([ledger(settings).await])?;
    }
    Ok(())
}

/// Verifies the ledger.
async fn ledger(settings: &Settings) -> Diagnosis {
    const CHECK: &str = "ledger";
    match ledger_verify::verify(settings).await {
        Ok((seen, None)) => Diagnosis::ok(CHECK, format!("consistent: {} entries", seen.entries)),
        Ok((_, Some(finding))) => Diagnosis::fail(
            CHECK,
            finding.to_string(),
            "stop the server, and restore a backup with a consistent ledger",
        ),
        Err(error) => Diagnosis::fail(
            CHECK,
            format!("{error:#}"),
            "repair the storage first, and run the command again",
        ),
    }
}
