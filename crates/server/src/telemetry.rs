//! Logs: lines for people in development, JSON for machines in production, always on standard error.

use anyhow::Context;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt};

use crate::config::Environment;

/// The variable that says what is logged, such as `info,cuepoint_server=debug`.
const FILTER_VARIABLE: &str = "CUEPOINT_LOG";
/// The web server tells of each of its threads otherwise.
const DEFAULT_FILTER: &str = "info,actix_server=warn";

/// Begins to log, once in a process.
///
/// # Errors
/// When the filter cannot be read, or something else in the process logs already.
pub fn start(environment: Environment) -> anyhow::Result<()> {
    let filter = std::env::var_os(FILTER_VARIABLE).filter(|filter| !filter.is_empty());
    let filter = filter.map_or_else(|| DEFAULT_FILTER.into(), |filter| filter.to_string_lossy().into_owned());
    let filter = EnvFilter::try_new(&filter)
        .with_context(|| format!("{FILTER_VARIABLE}: {filter:?} is no filter such as \"info\""))?;
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match environment {
        Environment::Production => {
            fmt::layer().json().flatten_event(true).with_span_list(false).with_writer(std::io::stderr).boxed()
        }
        Environment::Development | Environment::Test => {
            fmt::layer().with_ansi(false).with_writer(std::io::stderr).boxed()
        }
    };
    let logs = tracing_subscriber::registry().with(lines).with(filter);
    logs.try_init().context("something else logs already")
}
