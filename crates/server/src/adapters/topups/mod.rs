//! Payment providers of top-ups.

mod none;
mod order_log;
mod sandbox;
mod webhook;

use std::time::Duration;

pub use none::NoProvider;
pub use order_log::OrderLog;
pub use sandbox::Sandbox;
pub use webhook::TopupWebhook;

/// The lease of the server that orders a top-up, during which no other orders it. It is no setting, so that no two
/// calls about one top-up are under way at once.
pub const LEASE: Duration = Duration::from_secs(30);
