//! Channels of messages to users.

use std::sync::Arc;

use async_trait::async_trait;
use cuepoint_domain::ports::{Notice, Notifier, Recipient, Unavailable};
use tokio::time::timeout;

use super::{Message, MessageSettings, TIMEOUT};

/// A channel for addresses of one kind.
#[async_trait]
pub trait Channel: Send + Sync {
    /// Sends a message to an address, and returns once it is accepted for delivery.
    async fn send(&self, address: &str, message: Message) -> Result<(), Unavailable>;
}

/// The channels of a deployment. Addresses of a kind without a channel get no messages.
pub struct Channels {
    /// The channel for e-mail addresses.
    pub email: Option<Arc<dyn Channel>>,
    /// The channel for phone numbers.
    pub phone: Option<Arc<dyn Channel>>,
    pub settings: MessageSettings,
}

impl Channels {
    fn to<'a>(&self, to: &'a Recipient) -> Option<(&Arc<dyn Channel>, &'a str)> {
        match to {
            Recipient::Email(email) => self.email.as_ref().map(|channel| (channel, email.as_str())),
            Recipient::Phone(phone) => self.phone.as_ref().map(|channel| (channel, phone.as_str())),
        }
    }
}

#[async_trait]
impl Notifier for Channels {
    fn can_reach(&self, to: &Recipient) -> bool {
        self.to(to).is_some()
    }

    async fn send(&self, to: &Recipient, notice: &Notice) -> Result<(), Unavailable> {
        let (channel, address) = self.to(to).ok_or_else(|| Unavailable::new("nothing is sent there"))?;
        let message = Message::of(notice, &self.settings);
        let sent = timeout(TIMEOUT, channel.send(address, message)).await;
        sent.map_err(|_| Unavailable::new(format!("not sent within {} seconds", TIMEOUT.as_secs())))?
    }
}
