//! The errors of a configuration, all of them at once.

use thiserror::Error;

/// The beginning of the reason of a missing key.
const REQUIRED: &str = "is required";

/// A configuration error, displayed as one sentence that begins with the key.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{key}: {reason}")]
pub struct ConfigError {
    /// The key, such as `server.port`, or a variable or a file if no key is at fault.
    pub key: String,
    /// The reason, which never contains the value of a secret.
    pub reason: String,
}

impl ConfigError {
    pub(super) fn new(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { key: key.into(), reason: reason.into() }
    }

    pub(super) fn missing(key: &str) -> Self {
        Self::new(key, REQUIRED)
    }

    /// Whether the key is not set and has to be.
    fn is_missing(&self) -> bool {
        self.reason.starts_with(REQUIRED)
    }

    fn section(&self) -> &str {
        self.key.split_once('.').map_or(&self.key, |(section, _)| section)
    }
}

/// The problems of a configuration, at least one, each a sentence on a line of its own.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{}", sentences.join("\n"))]
pub struct Problems {
    /// The sentences, which begin with their keys.
    pub sentences: Vec<String>,
}

impl From<ConfigError> for Problems {
    fn from(error: ConfigError) -> Self {
        Self { sentences: vec![error.to_string()] }
    }
}

impl From<Vec<ConfigError>> for Problems {
    fn from(errors: Vec<ConfigError>) -> Self {
        Self { sentences: errors.iter().map(ConfigError::to_string).collect() }
    }
}

/// Collects errors instead of ending at the first one.
#[derive(Default)]
pub(super) struct Collector {
    pub(super) errors: Vec<ConfigError>,
}

impl Collector {
    /// The value, or `None` after its error was added.
    pub(super) fn keep<T>(&mut self, checked: Result<T, ConfigError>) -> Option<T> {
        checked.map_err(|error| self.errors.push(error)).ok()
    }

    /// Adds an error.
    pub(super) fn push(&mut self, error: ConfigError) {
        self.errors.push(error);
    }

    /// Drops the errors after the first ones that may be their consequences: a default in place of an invalid value can
    /// require another key of its section.
    pub(super) fn drop_consequences(&mut self, first: usize) {
        let others = self.errors.split_off(first.min(self.errors.len()));
        let is_consequence = |error: &ConfigError| {
            let caused = |earlier: &ConfigError| {
                earlier.key == error.key || (error.is_missing() && earlier.section() == error.section())
            };
            self.errors.iter().any(caused)
        };
        let kept: Vec<ConfigError> = others.into_iter().filter(|error| !is_consequence(error)).collect();
        self.errors.extend(kept);
    }
}
