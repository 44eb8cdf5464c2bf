//! The service on a seeded in-memory store.

use std::sync::Arc;

use anyhow::Context;
use cuepoint::cli::serve;
use cuepoint::config::{Layers, Options};
use cuepoint_adapters::observability::telemetry;

use crate::seeding::{Population, seed_memory};

/// Serves as `cuepoint` does with the settings of the environment, but on a store with this population.
pub(crate) fn serve_population(population: &Population) -> anyhow::Result<()> {
    let layers = Layers::of_process(Options::default())?;
    let settings = layers.settings()?;
    let queue = telemetry::queue().context("cannot start the log writer")?;
    telemetry::start(layers.environment.log_format(), Some(&queue))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot create the runtime")?.block_on(async {
        let store = seed_memory(population).await?;
        serve::serve_on(settings, Arc::new(store)).await
    })
}
