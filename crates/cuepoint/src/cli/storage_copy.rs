//! `cuepoint storage copy`: copies all data to another store, and resolves an interrupted copy.

use std::fmt::Write;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use cuepoint_store_sql::copy::{self, AcceptSecrets, Completion, Copied, CopyEndpoint, Mark, Report, Stage};
use indicatif::{ProgressBar, ProgressStyle};
use secrecy::{ExposeSecret, SecretString};
use uuid::{Builder, Uuid};

use crate::cli::endpoint_keys::{self, SigningKeysAfterwards, WithoutWebhookKeys};
use crate::cli::print_outcome;
use crate::composition;
use crate::config::Settings;
use cuepoint_adapters::security::random::{RandomSecrets, random};

const BAR: &str = "{prefix:22} {bar:40} {percent:>3} % of {len} {msg}, {eta} left";

/// The environment variable of the other store.
const TO: &str = "CUEPOINT_COPY_TO";

/// The arguments of the command.
#[derive(Args)]
pub(super) struct CopyArguments {
    /// The other store: `postgres://...`, or `sqlite:DIR` for a data directory. Give a URL with a password in the
    /// environment, because other users of the machine can read command lines.
    #[arg(long, value_name = "URL", env = TO, hide_env_values = true)]
    to: SecretString,
    /// Copy and verify everything, then roll back. It takes as long as the copy.
    #[arg(long, conflicts_with_all = ["finish", "abort"])]
    dry_run: bool,
    /// After an interruption: mark the configured store as moved, provided that the target has the copy.
    #[arg(long, conflicts_with = "abort")]
    finish: bool,
    /// After an interruption: let the configured store serve again, provided that the target does not have
    /// the copy.
    #[arg(long)]
    abort: bool,
    #[command(flatten)]
    without_keys: WithoutWebhookKeys,
}

/// Copies the configured store to another one, or resolves an interrupted copy.
///
/// # Errors
/// When a store cannot be used, the ledger is inconsistent, the target is not empty, or the copy differs.
pub(super) async fn run(settings: Settings, arguments: CopyArguments) -> anyhow::Result<()> {
    let CopyArguments { to, dry_run, finish, abort, without_keys } = arguments;
    let (from, to) = composition::copy_endpoints(&settings, to.expose_secret())?;
    if finish {
        let Mark { copy, target, .. } = copy::finish(&*from, &*to).await?;
        print_outcome(&format!("the copy {copy} is finished: {target} is in use instead of this store\n"));
        return Ok(());
    }
    if abort {
        let Mark { copy, .. } = copy::abort(&*from, &*to).await?;
        print_outcome(&format!("the copy {copy} is aborted: this store serves again\n"));
        return Ok(());
    }
    let completion = if dry_run { Completion::RollBack } else { Completion::Commit };
    let accept = |secrets: &[_]| {
        let signing = SigningKeysAfterwards::Kept;
        print_outcome(&endpoint_keys::accept(&settings, signing, secrets, without_keys)?);
        Ok(())
    };
    let copied = run_copy(&settings, &*from, &*to, completion, &accept).await?;
    print_outcome(&report(&copied, completion));
    Ok(())
}

async fn run_copy(
    settings: &Settings,
    from: &dyn CopyEndpoint,
    to: &dyn CopyEndpoint,
    completion: Completion,
    accept: AcceptSecrets<'_>,
) -> anyhow::Result<Copied> {
    let bar = ProgressBar::new(0).with_style(ProgressStyle::with_template(BAR).context("the progress bar")?);
    let shown = bar.clone();
    let progress: Report = Arc::new(move |stage, done, expected| draw(&shown, stage, done, expected));
    let copied = copy::copy(from, to, &settings.currency, new_id()?, completion, accept, &progress).await;
    bar.finish_and_clear();
    copied
}

/// A random id of a copy.
fn new_id() -> anyhow::Result<Uuid> {
    Ok(Builder::from_random_bytes(random(RandomSecrets::new()?)).into_uuid())
}

fn draw(bar: &ProgressBar, stage: Stage, done: u64, expected: u64) {
    let (prefix, unit) = match stage {
        Stage::AuditSource => ("auditing the source", "steps"),
        Stage::Copy => ("copying", "rows"),
        Stage::Compare => ("comparing the copy", "rows"),
        Stage::AuditTarget => ("auditing the copy", "steps"),
    };
    if bar.prefix() != prefix {
        bar.set_prefix(prefix);
        bar.set_message(unit);
        bar.reset();
    }
    bar.set_length(expected);
    bar.set_position(done);
}

/// The number of rows and the digest of each table, the audit, and the result.
fn report(copied: &Copied, completion: Completion) -> String {
    let mut text = String::new();
    for (table, digest) in &copied.tables {
        let hex = digest.sha256.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let _ = writeln!(text, "{table}: {} rows, SHA-256 {hex}", digest.rows);
    }
    let audited = copied.audited;
    let _ = writeln!(
        text,
        "{} wallets, {} entries, {} postings; {} requests, withdrawals, top-ups, tips and adjustments: the ledger \
         is consistent",
        audited.wallets, audited.entries, audited.postings, audited.entities
    );
    if copied.is_from_backup {
        text.push_str(
            "the source is a backup: before a server uses the copy, run `cuepoint restore --database-name NAME` on it, \
             otherwise ids and access tokens issued after the backup are issued again\n",
        );
    }
    text.push_str(match completion {
        Completion::Commit => "the copy is complete: this store is marked as moved\n",
        Completion::RollBack => "the copy was verified and rolled back: nothing has changed\n",
    });
    text
}
