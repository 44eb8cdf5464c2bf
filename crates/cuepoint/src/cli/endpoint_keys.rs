//! The keys that encrypt the secrets of webhook endpoints, for commands that could leave them missing.

use std::sync::Arc;

use anyhow::ensure;
use clap::Args;
use cuepoint_domain::application::WithoutKeys;
use cuepoint_domain::ids::WebhookEndpointId;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::webhook::{MissingKeys, SealedSecret, SecretKeys};

use crate::composition;
use crate::config::{KeyPurpose, Settings};
use cuepoint_adapters::clock::SystemClock;
use cuepoint_adapters::security::keys::{KeyRing, KeysInForce};
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_adapters::security::sealing::Sealing;

/// The option to continue without keys.
#[derive(Args, Clone, Copy, Default)]
pub(super) struct WithoutWebhookKeys {
    /// Continue without missing webhook keys. A server that is started with this option disables the webhook endpoints
    /// that need them, until their owners rotate the secrets.
    #[arg(long)]
    without_webhook_keys: bool,
}

impl From<WithoutWebhookKeys> for WithoutKeys {
    fn from(option: WithoutWebhookKeys) -> Self {
        if option.without_webhook_keys { Self::Disable } else { Self::Wait }
    }
}

/// The signing keys after a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SigningKeysAfterwards {
    /// The configured ones.
    Kept,
    /// New ones.
    Replaced,
}

/// Refuses a start without webhook keys that are in use. Signing keys are not required: a secret that needs a missing
/// one is lost.
///
/// # Errors
/// When webhook keys are missing.
pub(super) fn ensure_complete(missing: &MissingKeys) -> anyhow::Result<()> {
    let in_use = missing.iter().filter(|(problem, _)| problem.keys == SecretKeys::Webhooks);
    let in_use: MissingKeys = in_use.map(|(problem, endpoints)| (problem.clone(), *endpoints)).collect();
    ensure!(
        in_use.is_empty(),
        "{}: {}: add the missing keys, or run one server with `cuepoint serve --without-webhook-keys`, which disables \
         these endpoints until their owners rotate the secrets",
        KeyPurpose::Webhooks.file_key(),
        described(&in_use)
    );
    Ok(())
}

/// Stops the command if keys for the secrets of endpoints will be missing, unless the option permits it. Returns the
/// lines to print.
///
/// # Errors
/// When keys will be missing, or are invalid.
pub(super) fn accept(
    settings: &Settings,
    signing: SigningKeysAfterwards,
    secrets: &[(WebhookEndpointId, SealedSecret)],
    option: WithoutWebhookKeys,
) -> anyhow::Result<String> {
    let clock = &SystemClock;
    let signing = match signing {
        SigningKeysAfterwards::Kept => composition::existing_signing_keys(settings, clock)?,
        SigningKeysAfterwards::Replaced => KeysInForce::fixed(KeyRing::empty()),
    };
    let webhooks = composition::existing_webhook_keys(settings, clock)?;
    let level = || FeatureLevel::NEWEST;
    let sealing = Sealing::new(RandomSecrets::new()?, signing, webhooks, Arc::new(level));
    let mut missing = MissingKeys::new();
    for problem in secrets.iter().filter_map(|(endpoint, secret)| sealing.open(*endpoint, secret).err()) {
        let endpoints = missing.entry(problem).or_default();
        *endpoints = endpoints.saturating_add(1);
    }
    if missing.is_empty() {
        return Ok(String::new());
    }
    let described = described(&missing);
    ensure!(
        option.without_webhook_keys,
        "{described}: configure the missing webhook keys, or continue with --without-webhook-keys: the owners of these \
         endpoints then have to rotate the secrets"
    );
    Ok(format!(
        "{described}: start one server with `cuepoint serve --without-webhook-keys`, which disables these endpoints \
         until their owners rotate the secrets\n"
    ))
}

/// The number of endpoints for each missing key, as a text.
fn described(missing: &MissingKeys) -> String {
    let each = missing.iter().map(|(problem, endpoints)| {
        let (purpose, remark) = match problem.keys {
            SecretKeys::Webhooks => (KeyPurpose::Webhooks, "it is missing or different"),
            SecretKeys::Signing => {
                (KeyPurpose::Signing, "it encrypted secrets before there were webhook keys")
            }
        };
        let (key, file) = (&problem.key, purpose.file_key());
        let who = if *endpoints == 1 { "webhook endpoint needs" } else { "webhook endpoints need" };
        format!("{endpoints} {who} the key {key} of {file} ({remark})")
    });
    each.collect::<Vec<_>>().join("; ")
}

/// The places of the keys that full use of the data requires, as lines.
pub(super) fn to_keep(settings: &Settings) -> String {
    match &settings.webhooks.keys {
        None => String::new(),
        Some(source) => match source.file() {
            Some(path) => format!(
                "keep {} elsewhere ({}): it decrypts the secrets of webhook endpoints in this backup\n",
                path.display(),
                source.name()
            ),
            None => format!(
                "keep {} elsewhere: they decrypt the secrets of webhook endpoints in this backup\n",
                source.name()
            ),
        },
    }
}
