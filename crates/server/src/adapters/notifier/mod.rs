//! Messages to people: which channel takes them, and in which words.

mod channels;
mod log;
mod message;
mod smtp;
mod webhook;

pub use channels::{Channel, Channels};
pub use log::LogChannel;
pub use message::Message;
pub use smtp::SmtpChannel;
pub use webhook::WebhookChannel;

use std::time::Duration;

/// How long sending one message may take: who waits for it is answered within five seconds.
const TIMEOUT: Duration = Duration::from_secs(4);
