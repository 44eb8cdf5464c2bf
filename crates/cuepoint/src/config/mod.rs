//! The configuration: four layers in which every key must be known and every value is validated at start.
//!
//! In increasing precedence: `config/default.toml` and the file of the environment, both compiled in; the
//! file named by `CUEPOINT_CONFIG`; variables named `CUEPOINT__SECTION__KEY`, where an empty one counts as
//! not set; and the options of the command line.

mod access;
mod auth;
mod environment;
mod events;
mod key_source;
mod keys;
mod layers;
mod notifier;
mod providers;
mod requests;
mod server;
mod settings;
mod storage;
#[cfg(test)]
mod tests;
mod urls;
mod values;
mod variables;
mod warnings;
mod webhooks;
mod withdrawals;

pub use auth::{Auth, Bootstrap};
pub use environment::DeploymentEnvironment;
pub use events::EventSettings;
pub use key_source::{KeyPlace, KeyPurpose, KeySource};
pub use layers::Layers;
pub use notifier::{EmailChannel, NotifierSettings, PhoneChannel};
pub use providers::{PayoutProviderKind, PayoutSettings, TopupProviderKind, TopupSettings};
pub use requests::Requests;
pub use server::Server;
pub use settings::Settings;
pub use storage::{Postgres, Storage, StorageKeys, StorageOption};
pub use warnings::NO_OPERATOR;
pub use webhooks::WebhookSettings;

use thiserror::Error;

/// A configuration error, displayed as one sentence that begins with the key.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{key}: {reason}")]
pub struct ConfigError {
    /// The key, such as `server.port`, or a variable if no key is at fault.
    pub key: String,
    /// The reason, which never contains the value of a secret.
    pub reason: String,
}

impl ConfigError {
    fn new(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { key: key.into(), reason: reason.into() }
    }

    fn missing(key: &str) -> Self {
        Self::new(key, "is required")
    }
}
