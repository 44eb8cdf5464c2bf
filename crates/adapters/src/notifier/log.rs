//! Messages written to the log instead of sent, for development: the log then contains their secrets.

use async_trait::async_trait;
use cuepoint_domain::ports::Unavailable;

use super::{Channel, Message};

/// A channel that writes each message as one log line.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogChannel;

#[async_trait]
impl Channel for LogChannel {
    async fn send(&self, address: &str, message: Message) -> Result<(), Unavailable> {
        let Message { subject, text } = message;
        let text = text.replace('\n', " ");
        tracing::info!("message to {address}: {subject}: {text}");
        Ok(())
    }
}
