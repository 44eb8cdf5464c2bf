//! The keys of a server: configured, or created in a file by the first start.

use anyhow::{Context, ensure};
use cuepoint_adapters::security::keys::{self, KeyRing, KeysInForce};
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_domain::ports::Clock;
use cuepoint_store_sql::crash_points::{self, StartStep};

use crate::config::{DeploymentEnvironment, KeyPlace, KeyPurpose, KeySource, Settings};

/// The keys of a server.
#[derive(Clone, Debug)]
pub struct ServiceKeys {
    /// They sign access tokens.
    pub signing: KeysInForce,
    /// They encrypt the secrets of webhook endpoints.
    pub webhooks: KeysInForce,
}

fn key_sources(settings: &Settings) -> [(KeyPurpose, Option<&KeySource>); 2] {
    [
        (KeyPurpose::Signing, settings.auth.signing_keys.as_ref()),
        (KeyPurpose::Webhooks, settings.webhooks.keys.as_ref()),
    ]
}

/// Checks all keys without creating any, and returns what is wrong with each.
pub(super) fn problems_of_keys(
    settings: &Settings,
    secrets: RandomSecrets,
    clock: &dyn Clock,
) -> Vec<anyhow::Error> {
    let checked = key_sources(settings).map(|(purpose, source)| match source {
        Some(KeySource { place: KeyPlace::Created(path), .. }) if !path.exists() => None,
        _ => keys_for(settings, purpose, source, secrets, clock).err(),
    });
    checked.into_iter().flatten().collect()
}

/// Returns all keys: the configured ones, or those in a file in which the first start creates one, or a random key
/// that exists only in this process. The store must be open, because it creates and locks the data directory.
///
/// # Errors
/// When the keys are invalid, one cannot be created, or none are configured in production.
pub fn keys(settings: &Settings, secrets: RandomSecrets, clock: &dyn Clock) -> anyhow::Result<ServiceKeys> {
    let [signing, webhooks] =
        key_sources(settings).map(|(purpose, source)| keys_for(settings, purpose, source, secrets, clock));
    Ok(ServiceKeys { signing: signing?, webhooks: webhooks? })
}

fn keys_for(
    settings: &Settings,
    purpose: KeyPurpose,
    source: Option<&KeySource>,
    secrets: RandomSecrets,
    clock: &dyn Clock,
) -> anyhow::Result<KeysInForce> {
    let Some(source) = source else {
        // Checked here, not with the settings, because migrations and verification need no keys.
        ensure!(settings.environment != DeploymentEnvironment::Production, purpose.required());
        return KeyRing::random(secrets).map(KeysInForce::fixed);
    };
    match &source.place {
        KeyPlace::Text(text) => KeysInForce::parse(text, clock.now()),
        KeyPlace::File(path) => KeysInForce::read(path, clock.now()),
        KeyPlace::Created(path) => keys::create_file(path, clock, secrets).and_then(|is_new| {
            if is_new {
                tracing::info!(file = %path.display(), "created a key");
                crash_points::at_start(StartStep::KeysCreated);
            }
            KeysInForce::read(path, clock.now())
        }),
    }
    .context(source.name())
}

/// Returns the configured webhook keys for a command that only decrypts: none if there are none.
///
/// # Errors
/// When they are invalid.
pub fn existing_webhook_keys(settings: &Settings, clock: &dyn Clock) -> anyhow::Result<KeysInForce> {
    existing_keys(settings.webhooks.keys.as_ref(), clock)
}

/// Returns the configured signing keys for a command that only decrypts: none if there are none.
///
/// # Errors
/// When they are invalid.
pub fn existing_signing_keys(settings: &Settings, clock: &dyn Clock) -> anyhow::Result<KeysInForce> {
    existing_keys(settings.auth.signing_keys.as_ref(), clock)
}

fn existing_keys(source: Option<&KeySource>, clock: &dyn Clock) -> anyhow::Result<KeysInForce> {
    let none = || KeysInForce::fixed(KeyRing::empty());
    let Some(source) = source else { return Ok(none()) };
    match &source.place {
        KeyPlace::Created(path) if !path.exists() => Ok(none()),
        KeyPlace::File(path) | KeyPlace::Created(path) => KeysInForce::read(path, clock.now()),
        KeyPlace::Text(text) => KeysInForce::parse(text, clock.now()),
    }
    .context(source.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;
    use cuepoint_adapters::clock::SystemClock;

    #[test]
    fn production_requires_persistent_keys() {
        let required = |more: &[(&str, &str)]| {
            let url = ("storage.postgres.url", "postgres://localhost/cuepoint");
            let layers = Layers {
                environment: DeploymentEnvironment::Production,
                ..Layers::test(&[&[url], more].concat())
            };
            let (settings, secrets) = (layers.settings().unwrap(), RandomSecrets::new().unwrap());
            let keys = keys(&settings, secrets, &SystemClock).map(drop);
            keys.map_err(|error| error.to_string())
        };
        let text = "a:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        let (signing, webhooks) = (("auth.signing_keys", text), ("webhooks.keys", text));
        assert_eq!(required(&[webhooks]), Err(KeyPurpose::Signing.required().to_owned()));
        assert_eq!(required(&[signing]), Err(KeyPurpose::Webhooks.required().to_owned()));
        assert_eq!(required(&[signing, webhooks]), Ok(()));
    }
}
