//! The configuration, and the key files that it names.

use cuepoint_adapters::security::keys::KeysInForce;
use cuepoint_domain::ports::Diagnosis;
use cuepoint_domain::timestamp::Timestamp;
use time::Duration;

use crate::composition;
use crate::config::{DeploymentEnvironment, KeyPlace, KeyPurpose, KeySource, Settings};

const CONFIGURATION: &str = "configuration";
const SIGNING_KEYS: &str = "keys.signing";
const WEBHOOK_KEYS: &str = "keys.webhooks";

/// The remedy of all problems: their sentences name the key.
const CORRECT: &str = "correct the setting; `cuepoint config check` prints all settings";
/// The age at which a signing key should be replaced.
const OLD: Duration = Duration::days(90);

/// A failure for each problem of the configuration.
pub(super) fn problems(sentences: &[String]) -> Vec<Diagnosis> {
    sentences.iter().map(|sentence| Diagnosis::fail(CONFIGURATION, sentence.clone(), CORRECT)).collect()
}

/// Checks what a server needs, and warns about what these settings cannot do.
pub(super) fn check(settings: &Settings) -> Vec<Diagnosis> {
    let mut found = match composition::check_without_keys(settings) {
        Ok(_) => Vec::new(),
        Err(errors) => problems(&errors.iter().map(|error| format!("{error:#}")).collect::<Vec<_>>()),
    };
    found.extend(
        settings
            .warnings()
            .into_iter()
            .map(|warning| Diagnosis::warn(CONFIGURATION, warning, "change the setting, or accept this")),
    );
    if found.is_empty() {
        let (environment, store) = (settings.environment.name(), settings.storage.name());
        found.push(Diagnosis::ok(CONFIGURATION, format!("{environment}, {store}")));
    }
    found
}

/// The results of both key files, and the signing keys if they can be read.
pub(super) struct CheckedKeys {
    pub(super) found: [Diagnosis; 2],
    pub(super) signing: Option<KeysInForce>,
}

/// Checks both key files.
pub(super) fn keys(settings: &Settings, now: Timestamp) -> CheckedKeys {
    let is_production = settings.environment == DeploymentEnvironment::Production;
    let of = |check, purpose: KeyPurpose, source: Option<&KeySource>| match source {
        Some(source) => of_source(check, source, now),
        None if is_production => (Diagnosis::fail(check, purpose.required(), creation(purpose)), None),
        None => (Diagnosis::ok(check, "in memory, and new at each start"), None),
    };
    let (signing, keys) = of(SIGNING_KEYS, KeyPurpose::Signing, settings.auth.signing_keys.as_ref());
    let (webhooks, _) = of(WEBHOOK_KEYS, KeyPurpose::Webhooks, settings.webhooks.keys.as_ref());
    CheckedKeys { found: [signing, webhooks], signing: keys }
}

/// How keys that are not configured are created.
const fn creation(purpose: KeyPurpose) -> &'static str {
    match purpose {
        KeyPurpose::Signing => "set the key, and create the file with `cuepoint keys rotate`",
        KeyPurpose::Webhooks => "set the key, and create the file with `cuepoint keys rotate --webhooks`",
    }
}

/// What to do about keys that cannot be read.
const fn recovery(purpose: KeyPurpose) -> &'static str {
    match purpose {
        KeyPurpose::Signing => {
            "put the file back, readable by the user of the service alone; new keys from `cuepoint keys rotate` end all \
             sessions"
        }
        KeyPurpose::Webhooks => {
            "put the file back from its copy, readable by the user of the service alone; without it, the owners of \
             endpoints have to rotate their secrets"
        }
    }
}

fn of_source(check: &'static str, source: &KeySource, now: Timestamp) -> (Diagnosis, Option<KeysInForce>) {
    let unusable = |found: String| (Diagnosis::fail(check, found, recovery(source.purpose)), None);
    // The opening of a pipe would wait for a writer.
    if let Some(path) = source.file().filter(|path| path.exists() && !path.is_file()) {
        return unusable(format!("{}: it is not a file", path.display()));
    }
    let (read, shown) = match &source.place {
        KeyPlace::Created(path) if matches!(path.try_exists(), Ok(false)) => {
            let found = format!("{}, which the first start creates", path.display());
            return (Diagnosis::ok(check, found), None);
        }
        KeyPlace::File(path) | KeyPlace::Created(path) => {
            (KeysInForce::read(path, now), path.display().to_string())
        }
        KeyPlace::Text(text) => (KeysInForce::parse(text, now), source.name().to_owned()),
    };
    let keys = match read {
        Ok(keys) => keys,
        Err(error) => return unusable(format!("{error:#}")),
    };
    let age = keys.ring().signing(now).and_then(|key| key.signs_since()).map(|since| now.since(since));
    let days = age.map(|age| format!(", {} days old", age.whole_days())).unwrap_or_default();
    let found = format!("{shown}{days}");
    let is_old = source.purpose == KeyPurpose::Signing && age.is_some_and(|age| age > OLD);
    let diagnosis = if is_old {
        Diagnosis::warn(check, found, "run `cuepoint keys rotate`: no user is logged out")
    } else {
        Diagnosis::ok(check, found)
    };
    (diagnosis, Some(keys))
}
