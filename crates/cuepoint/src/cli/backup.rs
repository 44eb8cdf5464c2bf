//! `cuepoint backup`: copies the data to a file while a server may use them, and audits the copy.

use std::fs;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, bail};
use cuepoint_domain::ports::Clock;
use time::format_description::StaticFormatDescription;
use time::macros::format_description;
use time::{Duration, PrimitiveDateTime};

use crate::cli::signals::Signals;
use crate::cli::{endpoint_keys, ledger_verify, print_outcome, restore};
use crate::composition;
use crate::config::Settings;
use cuepoint_adapters::clock::SystemClock;

/// The name of a backup that is one of several: the time of its start, in UTC.
const NAME: StaticFormatDescription = format_description!("[year]-[month]-[day]T[hour][minute][second].db");

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

/// Makes a backup in a directory, named after the time, and removes all but the newest ones afterwards.
///
/// # Errors
/// As [`run`], and when older backups cannot be removed.
pub(crate) async fn run_in(settings: Settings, directory: &Path, keep: NonZeroU16) -> anyhow::Result<u8> {
    let made = unused_name(directory)?;
    let status = run(settings, &made).await?;
    if status == ledger_verify::CONSISTENT {
        remove_older(directory, keep, &made)
            .with_context(|| format!("{}: older backups are not removed", directory.display()))?;
    }
    Ok(status)
}

/// The name of a backup that starts now, or of the next second for which there is none.
fn unused_name(directory: &Path) -> anyhow::Result<PathBuf> {
    let mut at = SystemClock.now();
    loop {
        let path = directory.join(at.to_utc().format(NAME).context("the time has no name")?);
        if !path.exists() {
            return Ok(path);
        }
        at = at.plus(Duration::SECOND);
    }
}

/// The time in the name of a backup; `None` for other names.
fn named_at(path: &Path) -> Option<PrimitiveDateTime> {
    let name = path.file_name()?.to_str()?;
    let at = PrimitiveDateTime::parse(name, NAME).ok()?;
    (at.format(NAME).ok()? == name).then_some(at)
}

/// Removes all but the newest backups, and never the one that was just made. Other files in the directory stay. Backups
/// named after a time later than the new backup come from a wrong clock. They stay and do not count, because their age is
/// unknown.
fn remove_older(directory: &Path, keep: NonZeroU16, made: &Path) -> anyhow::Result<()> {
    let newest = named_at(made).context("the new backup has another name")?;
    let mut others: Vec<(PrimitiveDateTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        let at = named_at(&path).filter(|at| *at <= newest);
        if let Some(at) = at.filter(|_| path != made)
            && entry.file_type()?.is_file()
        {
            others.push((at, path));
        }
    }
    others.sort();
    let kept = usize::from(keep.get()).saturating_sub(1);
    let older = others.len().saturating_sub(kept);
    for (_, path) in others.into_iter().take(older) {
        fs::remove_file(&path)?;
        print_outcome(&format!("{}: removed\n", path.display()));
    }
    Ok(())
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
