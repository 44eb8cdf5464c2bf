//! Messages to and from providers and to endpoints of users, signed according to Standard Webhooks.

mod client;
mod signature;

pub use client::{CALL_WITHIN, Reply, WebhookClient};
pub(crate) use signature::PREFIX;
pub use signature::{SecretError, SignedMessage, SigningSecrets};

use cuepoint_domain::provider_message::Excerpt;
use cuepoint_domain::text::Line;

/// Returns the stored part of a provider's reason: its first 255 bytes.
#[must_use]
pub fn kept_reason(text: &str) -> Option<Line> {
    Line::new(Excerpt::<255>::of(text.trim()).as_str()).ok()
}
