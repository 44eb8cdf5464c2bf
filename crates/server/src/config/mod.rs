//! Configuration: four layers, every key known, every value checked at start.
//!
//! In order, the later winning: `config/default.toml` and the environment's own file, both compiled in; the file
//! that `CUEPOINT_CONFIG` names; variables named `CUEPOINT__SECTION__KEY`, where an empty one counts as not given.

mod access;
mod auth;
mod environment;
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
mod withdrawals;

pub use access::Reachable;
pub use auth::{Auth, Bootstrap, SigningKeySource};
pub use environment::DeploymentEnvironment;
pub use layers::Layers;
pub use notifier::{EmailChannel, NotifierSettings, PhoneChannel};
pub use providers::{PayoutProviderKind, PayoutSettings, TopupProviderKind, TopupSettings};
pub use requests::Requests;
pub use server::Server;
pub use settings::Settings;
pub use storage::{Postgres, Storage};

use thiserror::Error;

/// What is wrong with the configuration, as one sentence that begins with the key.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{key}: {reason}")]
pub struct ConfigError {
    /// The key, such as `server.port`, or the variable where no key is to blame.
    pub key: String,
    /// What is wrong with it; never the value of a secret.
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
