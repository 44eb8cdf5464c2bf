//! `cuepoint ledger verify`: audits the ledger.

use std::io::{self, Write};

use anyhow::{Context, ensure};
use cuepoint_domain::audit::{Auditor, Finding, Progress, Summary};
use cuepoint_domain::ports::{Audit, Opening};
use indicatif::{ProgressBar, ProgressStyle};

use crate::composition;
use crate::config::Settings;

/// Exit status: the ledger is consistent.
pub(crate) const CONSISTENT: u8 = 0;
/// Exit status: the ledger is inconsistent.
pub(crate) const INCONSISTENT: u8 = 1;
/// Exit status: the audit was not completed.
pub(crate) const NOT_CHECKED: u8 = 2;

const BAR: &str = "{bar:40} {percent:>3} % of {len} steps, {eta} left";

/// Audits the ledger in the configured store, prints a summary and returns the exit status.
///
/// # Errors
/// When the audit cannot be completed.
pub(crate) async fn run(settings: Settings) -> anyhow::Result<u8> {
    let backend = composition::backend(&settings);
    let name = backend.name();
    ensure!(
        backend.is_durable(),
        "there is nothing to verify: the {name} store's data ends with its process"
    );
    let (seen, finding) = verify(&settings).await?;
    Ok(print_result(seen, finding.as_ref()))
}

/// Audits the ledger in the configured store, and returns what was read with the first finding.
///
/// # Errors
/// When the audit cannot be completed.
pub(crate) async fn verify(settings: &Settings) -> anyhow::Result<(Summary, Option<Finding>)> {
    // Verification must not change anything.
    let store = composition::open(settings, Opening::WithoutMigrations).await?;
    let audited = read(&*store).await;
    store.close().await;
    audited
}

/// Audits a ledger, prints a summary and returns the exit status.
///
/// # Errors
/// When the audit cannot be completed.
pub(crate) async fn audit<Ledger: Audit + ?Sized>(ledger: &Ledger) -> anyhow::Result<u8> {
    let (seen, finding) = read(ledger).await?;
    Ok(print_result(seen, finding.as_ref()))
}

/// Audits a ledger with a progress bar.
async fn read<Ledger: Audit + ?Sized>(ledger: &Ledger) -> anyhow::Result<(Summary, Option<Finding>)> {
    let bar = bar()?;
    let shown = bar.clone();
    let mut auditor = Auditor::new().reporting(move |progress| draw(&shown, progress));
    let read = ledger.show(&mut auditor).await;
    bar.finish_and_clear();
    read.context("the ledger could not be read completely")?;
    let seen = auditor.seen();
    Ok((seen, auditor.finish().err()))
}

/// Returns a progress bar on standard error, which is hidden unless that is a terminal.
fn bar() -> anyhow::Result<ProgressBar> {
    let style = ProgressStyle::with_template(BAR).context("the progress bar")?;
    Ok(ProgressBar::new(0).with_style(style))
}

fn draw(bar: &ProgressBar, progress: Progress) {
    bar.set_length(progress.expected);
    bar.set_position(progress.done);
}

/// Prints the result and returns the exit status. A failed write is ignored, because the status carries the
/// result.
fn print_result(seen: Summary, finding: Option<&Finding>) -> u8 {
    let Summary { wallets, entries, postings, entities } = seen;
    let mut out = io::stdout().lock();
    let _ = writeln!(
        out,
        "{wallets} wallets, {entries} entries, {postings} postings; {entities} requests, withdrawals, top-ups, tips \
         and adjustments"
    );
    match finding {
        None => {
            let _ = writeln!(out, "the ledger is consistent");
            CONSISTENT
        }
        Some(finding) => {
            let _ = writeln!(io::stderr(), "the ledger is broken: {finding}");
            INCONSISTENT
        }
    }
}
