//! Messages to users: their texts and channels.

mod channels;
mod log;
mod message;
mod message_settings;
mod smtp;
mod webhook;

pub use channels::{Channel, Channels};
pub use log::LogChannel;
pub use message::Message;
pub use message_settings::MessageSettings;
pub use smtp::SmtpChannel;
pub use webhook::WebhookChannel;

use std::time::Duration;

/// The time limit of sending one message: the request that waits for it is answered within five seconds.
const TIMEOUT: Duration = Duration::from_secs(4);
