//! Payment providers of top-ups.

mod none;
mod order_log;
mod sandbox;
mod webhook;

use std::time::Duration;

pub use none::NoProvider;
pub use order_log::OrderLog;
pub use sandbox::{Sandbox, SandboxWithPage};
pub use webhook::TopupWebhook;

/// The lease on a top-up of the server that orders it, during which no other server does. It is not
/// configurable, so that no two calls about a top-up overlap.
pub const LEASE: Duration = Duration::from_secs(30);
