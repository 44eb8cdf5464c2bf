//! `cuepoint keys rotate`: rotates the signing keys of access tokens, or the keys of webhook secrets.

use anyhow::{Context, bail};
use cuepoint_domain::ports::Clock;

use crate::cli::print;
use crate::config::{KeyPurpose, Settings};
use cuepoint_adapters::security::keys::{self, Rotation};
use cuepoint_adapters::security::random::RandomSecrets;

/// Adds a new key to the configured file or the created one, and prints the outcome for each key without key
/// material.
///
/// # Errors
/// When no file is configured or it cannot be replaced.
pub(crate) fn run(
    settings: &Settings,
    purpose: KeyPurpose,
    asked: Rotation,
    clock: &dyn Clock,
) -> anyhow::Result<()> {
    let source = match purpose {
        KeyPurpose::Signing => settings.auth.signing_keys.as_ref(),
        KeyPurpose::Webhooks => settings.webhooks.keys.as_ref(),
    };
    let Some((source, path)) = source.and_then(|source| Some((source, source.file()?))) else {
        let (file, text) = (purpose.file_key(), purpose.text_key());
        bail!(
            "{file}: is required, since only keys in a file can be rotated; move those of {text} to a file"
        );
    };
    let report = keys::rotate_file(path, asked, clock, RandomSecrets::new()?);
    print(&report.context(source.name())?)
}
