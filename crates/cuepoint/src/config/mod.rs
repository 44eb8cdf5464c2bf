//! The configuration: four layers in which every key must be known and every value is validated at start.
//!
//! In increasing precedence: `config/default.toml` and the file of the environment, both compiled in; the
//! file named by `--config` or `CUEPOINT_CONFIG`; variables named `CUEPOINT__SECTION__KEY`, where an empty one counts
//! as not set; and the options of the command line. A variable with the suffix `_FILE` names a file with the value of a
//! secret.

mod access;
mod auth;
mod environment;
mod events;
mod key_source;
mod keys;
mod layers;
mod notifier;
mod options;
mod pages;
mod problems;
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
pub use options::Options;
pub use pages::PagesSettings;
pub use problems::{ConfigError, Problems};
pub use providers::{PayoutProviderKind, PayoutSettings, TopupProviderKind, TopupSettings};
pub use requests::Requests;
pub use server::Server;
pub use settings::Settings;
pub use storage::{Postgres, Storage, StorageKeys};
pub use warnings::NO_OPERATOR;
pub use webhooks::WebhookSettings;
