//! The self-check of the ledger from the command line.

use anyhow::Context;
use cuepoint_domain::ledger::Auditor;

use crate::cli::print;
use crate::composition::OpenStore;
use crate::config::{Settings, Storage};

/// Nothing is wrong.
pub(crate) const CONSISTENT: u8 = 0;
/// Something is wrong.
pub(crate) const INCONSISTENT: u8 = 1;
/// Nobody knows.
pub(crate) const NOT_CHECKED: u8 = 2;

/// Checks the ledger in the configured store, prints what was seen, and says how the process ends.
///
/// # Errors
/// When it cannot be checked to the end.
pub(crate) async fn run(mut settings: Settings) -> anyhow::Result<u8> {
    match &mut settings.storage {
        Storage::Memory => {
            eprintln!("there is nothing to verify: the memory store's data ends with its process");
            return Ok(NOT_CHECKED);
        }
        // Who only looks changes nothing.
        Storage::Postgres(postgres) => postgres.migrate_on_start = false,
    }
    let store = OpenStore::open(&settings).await?;
    let mut auditor = Auditor::new();
    let shown = store.store.show(&mut auditor).await;
    store.close().await;
    shown.context("the ledger could not be read to its end")?;
    match auditor.finish() {
        Ok(seen) => {
            print(&format!(
                "{} wallets, {} entries, {} postings\nthe ledger is consistent\n",
                seen.wallets, seen.entries, seen.postings
            ))?;
            Ok(CONSISTENT)
        }
        Err(finding) => {
            eprintln!("{finding}");
            Ok(INCONSISTENT)
        }
    }
}
