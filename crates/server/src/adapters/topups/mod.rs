//! Who takes the guests' money.

mod none;
mod sandbox;
mod webhook;

use std::time::Duration;

pub use none::{NoProvider, NoTopups};
pub use sandbox::Sandbox;
pub use webhook::TopupWebhook;

use crate::adapters::webhooks::CALL_WITHIN;
use crate::http::transport::deadline::ANSWER_WITHIN;

/// The lease of the server that orders a top-up, during which no other orders it. It is no setting, so that no two
/// calls about one top-up are under way at once.
pub const LEASE: Duration = Duration::from_secs(30);

// A lease begins when a top-up is opened: the commit may take all the time of the request before the call begins.
const _: () = assert!(LEASE.as_millis() > ANSWER_WITHIN.as_millis() + CALL_WITHIN.as_millis());
