//! Messages through a web service: one signed POST request each.

use async_trait::async_trait;
use cuepoint_domain::ports::Unavailable;
use serde::Serialize;

use super::{Channel, Message};
use crate::security::random::RandomSecrets;
use crate::signed_messages::WebhookClient;

/// A channel that passes each message to one service.
pub struct WebhookChannel {
    client: WebhookClient,
    secrets: RandomSecrets,
}

/// The body of a request to the service.
#[derive(Serialize)]
struct Order<'a> {
    to: &'a str,
    text: &'a str,
}

impl WebhookChannel {
    /// Creates a channel that uses this caller.
    #[must_use]
    pub const fn new(client: WebhookClient, secrets: RandomSecrets) -> Self {
        Self { client, secrets }
    }
}

#[async_trait]
impl Channel for WebhookChannel {
    async fn send(&self, address: &str, message: Message) -> Result<(), Unavailable> {
        let order = Order { to: address, text: &message.text };
        let body = serde_json::to_vec(&order).map_err(Unavailable::new)?;
        let reply = self.client.post(&self.secrets.token().0, body).await.map_err(Unavailable::new)?;
        if reply.status.is_success() {
            return Ok(());
        }
        Err(Unavailable::new(format!("the service answers with status {}", reply.status.as_u16())))
    }
}
