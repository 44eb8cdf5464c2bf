//! `cuepoint keys rotate`: rotates the signing keys of access tokens.

use anyhow::{Context, bail};
use cuepoint_domain::ports::Clock;

use crate::adapters::security::keys::{self, Rotation};
use crate::adapters::security::random::RandomSecrets;
use crate::cli::print;
use crate::config::{Settings, SigningKeySource};

/// Adds a new key to the configured file, and prints the outcome for each key without key material.
///
/// # Errors
/// When no file is configured or it cannot be replaced.
pub(crate) fn run(settings: &Settings, asked: Rotation, clock: &dyn Clock) -> anyhow::Result<()> {
    let Some(SigningKeySource::File(path)) = &settings.auth.signing_keys else {
        bail!("auth.signing_key_file: is required, since only keys in a file can be rotated");
    };
    let report = keys::rotate_file(path, asked, clock, RandomSecrets::new()?);
    print(&report.context("auth.signing_key_file")?)
}
