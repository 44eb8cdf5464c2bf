//! Messages to users: their texts and channels.

mod channels;
mod links;
mod log;
mod message;
mod smtp;
mod webhook;

pub use channels::{Channel, Channels};
pub use links::MessageLinks;
pub use log::LogChannel;
pub use message::Message;
pub use smtp::SmtpChannel;
pub use webhook::WebhookChannel;

use std::time::Duration;

/// The time limit of sending one message: the request that waits for it is answered within five seconds.
const TIMEOUT: Duration = Duration::from_secs(4);
