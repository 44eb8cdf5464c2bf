//! The configuration, and the key files that it names.

use cuepoint_adapters::security::keys::KeysInForce;
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_domain::ports::Diagnosis;
use cuepoint_domain::timestamp::Timestamp;
use time::Duration;

use crate::composition;
use crate::config::{DeploymentEnvironment, KeyPlace, KeyPurpose, KeySource, Settings};

const CONFIGURATION: &str = "configuration";
const SIGNING_KEYS: &str = "keys.signing";
const WEBHOOK_KEYS: &str = "keys.webhooks";

/// The remedy of all problems: their sentences name the key.
const CORRECT: &str = "correct the key; `cuepoint config check` prints all settings";
/// The age at which a signing key should be replaced.
const OLD: Duration = Duration::days(90);

/// A failure for each problem of the configuration.
pub(super) fn problems(sentences: &[String]) -> Vec<Diagnosis> {
    sentences.iter().map(|sentence| Diagnosis::fail(CONFIGURATION, sentence.clone(), CORRECT)).collect()
}

/// Checks what a server needs, and warns about what these settings cannot do.
pub(super) fn check(settings: &Settings) -> Vec<Diagnosis> {
    let is_production = settings.environment == DeploymentEnvironment::Production;
    let checked = RandomSecrets::new().map(|secrets| composition::check(settings, secrets));
    let mut found = match checked {
        Ok(Ok(_)) => Vec::new(),
        Ok(Err(errors)) => problems(&errors.sentences),
        Err(error) => vec![Diagnosis::fail(CONFIGURATION, format!("{error:#}"), "restart the machine")],
    };
    let public_url = settings.server.public_url.as_deref();
    if let Some(url) = public_url.filter(|url| is_production && !url.starts_with("https://")) {
        let remedy = "set it to an address that begins with https://";
        found.push(Diagnosis::fail(
            CONFIGURATION,
            format!("server.public_url: {url} is not encrypted"),
            remedy,
        ));
    }
    found.extend(settings.warnings().into_iter().map(|warning| {
        Diagnosis::warn(CONFIGURATION, warning, "set the key, or accept what the sentence says")
    }));
    if found.is_empty() {
        let (environment, store) = (settings.environment.name(), settings.storage.name());
        found.push(Diagnosis::ok(CONFIGURATION, format!("{environment}, {store}")));
    }
    found
}

/// Checks both key files.
pub(super) fn keys(settings: &Settings, now: Timestamp) -> [Diagnosis; 2] {
    let (signing, webhooks) = (settings.auth.signing_keys.as_ref(), settings.webhooks.keys.as_ref());
    [
        of_keys(SIGNING_KEYS, KeyPurpose::Signing, signing, now),
        of_keys(WEBHOOK_KEYS, KeyPurpose::Webhooks, webhooks, now),
    ]
}

fn of_keys(
    check: &'static str,
    purpose: KeyPurpose,
    source: Option<&KeySource>,
    now: Timestamp,
) -> Diagnosis {
    let Some(source) = source else { return Diagnosis::ok(check, "each process has its own") };
    let (read, shown) = match &source.place {
        KeyPlace::Created(path) if !path.exists() => {
            return Diagnosis::ok(check, format!("{}, which the first start creates", path.display()));
        }
        KeyPlace::File(path) | KeyPlace::Created(path) => {
            (KeysInForce::read(path, now), path.display().to_string())
        }
        KeyPlace::Text(text) => (KeysInForce::parse(text, now), source.name().to_owned()),
    };
    let ring = match read {
        Ok(keys) => keys.ring(),
        Err(error) => {
            let remedy =
                "put the file back, readable by the user of the service alone: a new one ends all sessions";
            return Diagnosis::fail(check, format!("{error:#}"), remedy);
        }
    };
    let age = ring.signing(now).and_then(|key| key.signs_since()).map(|since| now.since(since));
    let days = age.map(|age| format!(", {} days old", age.whole_days())).unwrap_or_default();
    match age {
        Some(age) if purpose == KeyPurpose::Signing && age > OLD => Diagnosis::warn(
            check,
            format!("{shown}{days}"),
            "run `cuepoint keys rotate`: no user is logged out",
        ),
        _ => Diagnosis::ok(check, format!("{shown}{days}")),
    }
}
