//! Webhooks: calls to URLs that users enter.

use serde::Deserialize;

use super::values::TextList;
use crate::adapters::outgoing::NameServers;
use crate::networks::Networks;

/// The settings of webhooks to URLs that users enter.
#[derive(Clone, Debug)]
pub struct WebhookSettings {
    /// The networks that webhooks may reach although they are not public.
    pub allowed_networks: Networks,
    /// The name servers for their hosts.
    pub name_servers: NameServers,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WebhooksSection {
    allowed_networks: TextList<Networks>,
    name_servers: TextList<NameServers>,
}

impl From<WebhooksSection> for WebhookSettings {
    fn from(section: WebhooksSection) -> Self {
        Self { allowed_networks: section.allowed_networks.0, name_servers: section.name_servers.0 }
    }
}
