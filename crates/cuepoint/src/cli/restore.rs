//! `cuepoint restore`: restores a backup and prepares it for servers, so that ids issued after the backup are
//! not assigned to other rows.

use anyhow::{Context, Error};
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{OpenTransfers, PreparedData, RestoreSource, Restored};
use time::Duration;
use time::format_description::well_known::Rfc3339;

use crate::cli::endpoint_keys::{self, SigningKeysAfterwards, WithoutWebhookKeys};
use crate::cli::ledger_verify;
use crate::cli::print;
use crate::composition;
use crate::config::Settings;
use cuepoint_adapters::clock::SystemClock;
use cuepoint_adapters::security::keys::{self, OlderKeys, Rotation};
use cuepoint_adapters::security::random::{RandomSecrets, random};

/// Restores from the source, replaces all signing keys with a new one but no webhook keys, prints the transfers to
/// look up, audits the ledger, and returns the exit status. It can be repeated.
///
/// # Errors
/// When the data cannot be restored, webhook keys are missing, or the signing keys cannot be replaced. Completed
/// steps stay in effect, and a repetition continues from there.
pub(crate) async fn run(
    settings: Settings,
    source: RestoreSource<'_>,
    without_keys: WithoutWebhookKeys,
) -> anyhow::Result<u8> {
    let secrets = RandomSecrets::new()?;
    // Random, because a counter in the database would be restored too and would repeat an epoch.
    let epoch = i64::from_be_bytes(random(secrets)).checked_abs().unwrap_or(i64::MAX).max(1);
    let Restored { epoch, sessions_ended, cookies_kept, data } =
        composition::restore(&settings, source, epoch).await?;
    let name = match source {
        RestoreSource::File(file) => file.display().to_string(),
        RestoreSource::Database(name) => name.to_owned(),
    };
    print(&format!(
        "{name}: epoch {epoch}, {sessions_ended} sessions ended, {cookies_kept} cookies of guest accounts kept, ids moved \
         ahead\n"
    ))?;
    let endpoint_secrets = data.endpoint_secrets().await;
    let accepted = endpoint_secrets.as_ref().map_or_else(
        |_| Ok(String::new()),
        |found| endpoint_keys::accept(&settings, SigningKeysAfterwards::Replaced, found, without_keys),
    );
    // A refused file is dropped. A server could use a database although it was refused: its keys are replaced first.
    let accepted = match source {
        RestoreSource::File(_) => Ok(accepted?),
        RestoreSource::Database(_) => accepted,
    };
    // Before another row is read, because an unreadable row must not keep the old keys in force, and before a
    // server can use the data.
    print(&new_key(&settings, secrets)?)?;
    print(&accepted?)?;
    endpoint_secrets.map_err(Error::from_boxed).context("the secrets of webhook endpoints")?;
    let open = data.open_transfers().await.map_err(Error::from_boxed)?;
    print(&report(&open, &settings.currency)?)?;
    let status = ledger_verify::audit(&*data).await?;
    finish(data, status).await?;
    Ok(status)
}

/// Accepts audited data if their ledger is consistent; otherwise rejects them, and prints where they are
/// kept.
///
/// # Errors
/// When they cannot get their name.
pub(super) async fn finish(data: Box<dyn PreparedData>, status: u8) -> anyhow::Result<()> {
    if status == ledger_verify::CONSISTENT {
        return data.accept().await.map_err(Error::from_boxed);
    }
    match data.reject().await.map_err(Error::from_boxed)? {
        Some(path) => print(&format!("the inconsistent data is kept in {}\n", path.display())),
        None => Ok(()),
    }
}

fn report(open: &OpenTransfers, currency: &Currency) -> anyhow::Result<String> {
    let newest = newest_operation(open)?;
    let mut text = format!(
        "{newest}\nin flight: {} withdrawals, {} top-ups; look each up at its provider\n",
        open.withdrawals.len(),
        open.topups.len(),
    );
    for withdrawal in &open.withdrawals {
        let (id, status) = (withdrawal.id, withdrawal.state.status().name());
        let amount = currency.print(withdrawal.amount.money());
        let (code, reference) = (currency.code(), withdrawal.reference());
        text.push_str(&format!("  withdrawal {id}: {status}, {amount} {code}, reference {reference}\n"));
    }
    for topup in &open.topups {
        let (id, status) = (topup.id, topup.status.name());
        let (amount, code) = (currency.print(topup.amount.money()), currency.code());
        let reference = topup.reference();
        text.push_str(&format!("  top-up {id}: {status}, {amount} {code}, reference {reference}\n"));
    }
    Ok(text)
}

/// The time of the newest operation, as a text.
///
/// # Errors
/// When it has no representation.
pub(super) fn newest_operation(open: &OpenTransfers) -> anyhow::Result<String> {
    let newest = match open.newest_operation {
        Some(at) => at.to_utc().format(&Rfc3339).context("the time of the newest operation")?,
        None => "none".to_owned(),
    };
    Ok(format!("newest operation: {newest}"))
}

/// Replaces the signing keys of access tokens if they are kept in a file.
fn new_key(settings: &Settings, secrets: RandomSecrets) -> anyhow::Result<String> {
    let asked = Rotation {
        algorithm: None,
        signs_in: Duration::ZERO,
        access_token_ttl: settings.auth.access_token_ttl,
        older: OlderKeys::Remove,
    };
    let Some(source) = &settings.auth.signing_keys else {
        return Ok("no signing keys are configured here: replace those of the servers yourself\n".to_owned());
    };
    match source.file() {
        Some(path) => keys::rotate_file(path, asked, &SystemClock, secrets).context(source.name()),
        None => Ok(format!("{}: replace all keys of the servers with a new one\n", source.name())),
    }
}
