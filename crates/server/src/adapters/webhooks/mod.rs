//! Messages between this service and the providers, signed as Standard Webhooks says, in both directions.

mod caller;
mod signature;

pub(crate) use caller::CALL_WITHIN;
pub use caller::{CallError, Caller, Reply};
pub use signature::{SecretError, SignedMessage, SigningSecrets};

use cuepoint_domain::provider_message::Excerpt;
use cuepoint_domain::text::Line;

/// The reason that a provider gives, as far as it is kept: its first 255 bytes.
pub(crate) fn kept_reason(text: &str) -> Option<Line> {
    Line::new(Excerpt::<255>::of(text.trim()).as_str()).ok()
}
