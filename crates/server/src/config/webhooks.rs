//! Webhooks: calls to URLs that users enter.

use serde::Deserialize;

use super::values::TextList;
use crate::networks::Networks;

/// The settings of webhooks to URLs that users enter.
#[derive(Clone, Debug)]
pub struct WebhookSettings {
    /// The networks that webhooks may reach although they are not public.
    pub allowed_networks: Networks,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WebhooksSection {
    allowed_networks: TextList<Networks>,
}

impl From<WebhooksSection> for WebhookSettings {
    fn from(section: WebhooksSection) -> Self {
        Self { allowed_networks: section.allowed_networks.0 }
    }
}
