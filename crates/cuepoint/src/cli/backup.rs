//! `cuepoint backup`: copies the data to a file while a server may use them, and audits the copy.

use std::fs;
use std::path::Path;

use anyhow::{Error, bail};

use crate::cli::signals::Signals;
use crate::cli::{endpoint_keys, ledger_verify, print_outcome, restore};
use crate::composition;
use crate::config::Settings;

/// Names the keys to keep, makes a backup, prints its size and newest operation, and returns the exit status. A
/// copy with an inconsistent ledger gets another name than the file.
///
/// # Errors
/// When no backup was made. A signal is such an error; nothing is left of the copy then.
pub(crate) async fn run(settings: Settings, file: &Path) -> anyhow::Result<u8> {
    let mut signals = Signals::listen()?;
    tokio::select! {
        done = make(settings, file) => done,
        () = signals.next() => bail!("interrupted: no backup was made"),
    }
}

async fn make(settings: Settings, file: &Path) -> anyhow::Result<u8> {
    // First, because the tools of PostgreSQL make its backups, and the failure says how.
    print_outcome(&endpoint_keys::to_keep(&settings));
    let copy = composition::backup(&settings, file).await?;
    let status = ledger_verify::audit(&*copy).await?;
    if status != ledger_verify::CONSISTENT {
        restore::finish(copy, status).await?;
        return Ok(status);
    }
    let open = copy.open_transfers().await.map_err(Error::from_boxed)?;
    let newest = restore::newest_operation(&open)?;
    restore::finish(copy, status).await?;
    let size = fs::metadata(file).map_or_else(|_| "?".to_owned(), |found| found.len().to_string());
    print_outcome(&format!("{}: {size} bytes, {newest}\n", file.display()));
    Ok(status)
}
