//! Webhooks: calls to URLs that users enter, and the keys that encrypt the secrets of their endpoints.

use std::path::Path;

use secrecy::SecretString;
use serde::Deserialize;

use super::ConfigError;
use super::key_source::{KeyPurpose, KeySource};
use super::values::{Secret, TextList, TextValue};
use cuepoint_adapters::networks::Networks;
use cuepoint_adapters::outgoing::NameServers;

/// The settings of webhooks to URLs that users enter.
#[derive(Clone, Debug)]
pub struct WebhookSettings {
    /// The networks that webhooks may reach although they are not public.
    pub allowed_networks: Networks,
    /// The name servers for their hosts.
    pub name_servers: NameServers,
    /// The keys that encrypt the secrets of endpoints. Without any, a key is generated that exists only in this
    /// process, which production refuses.
    pub keys: Option<KeySource>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WebhooksSection {
    allowed_networks: TextList<Networks>,
    name_servers: TextList<NameServers>,
    key_file: Option<TextValue>,
    keys: Option<Secret<TextValue<SecretString>>>,
}

impl WebhooksSection {
    /// Returns the settings. Keys that are not configured are in a file of this folder, if there is one.
    pub(super) fn check(self, folder: Option<&Path>) -> Result<WebhookSettings, ConfigError> {
        Ok(WebhookSettings {
            allowed_networks: self.allowed_networks.0,
            name_servers: self.name_servers.0,
            keys: KeySource::of(KeyPurpose::Webhooks, self.key_file, self.keys, folder)?,
        })
    }
}
